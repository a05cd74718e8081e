"""Sets of things that people have together: what is published of them, beside mining in the clear.

    python benchmarks/peers/setup.py --only mlxtend       (once)
    python benchmarks/itemsets.py [--users 100000] [--draws 3] [--items-per-user 7]
        [--epsilons 1 2 5] [--bounds 3 5 7 10 15 20] [--real FOLDER] [--only "real shop, baskets"]

The truth is the sets of one, two and three things that most people hold, by mlxtend's FP-growth,
counted exactly (itemsets_truth.py). Against it stand releases at epsilon 1, 2 and 5 and delta 1e-6
under both neighbour relations, of a generated shop and, from a folder that holds them, of a real
shop and of diagnoses: in baskets, and in whole histories. At epsilon 2 other numbers of things a
person are tried, once each.

Writes itemsets.json after every table, and prints Markdown; --only measures some tables anew.
`python tools/pictures.py itemsets` draws it. Figures of --real compare with the truth: they are for
those who may see it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any

from itemsets_truth import HERE, MINER, Set, Table, Top, Truth, run

from zealous.release.bundle import read_release
from zealous.synthetic import generate_shop

SIZES = (1, 2, 3)
EPSILONS, DELTA = (1, 2, 5), "1e-6"
NEIGHBORS = ("add-remove", "replace")
BOUNDS = (3, 5, 7, 10, 15, 20)  # things a person, tried at epsilon 2, add-remove
WANTED = 100  # of the true sets of each size
Released = Mapping[Set, int]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a release is asked for."""

    neighbors: str
    epsilon: int
    items_per_user: int


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A release: the sets of each size, and wall and processor time of the whole command."""

    sets: Mapping[int, Released]
    seconds: float
    processor_seconds: float


def main() -> None:
    arguments = _arguments()
    if not MINER.exists():
        sys.exit("mlxtend is not set up: python benchmarks/peers/setup.py --only mlxtend")
    about = {
        "delta": float(DELTA),
        "items_per_user": arguments.items_per_user,
        "draws": arguments.draws,
        "wanted": WANTED,
    }
    results: dict[str, Any] = {"date": f"{date.today()}", **about, "tables": {}}
    if arguments.only and arguments.output.exists():
        earlier = json.loads(arguments.output.read_text(encoding="utf-8"))
        if any(earlier[name] != value for name, value in about.items()):
            sys.exit("the other tables were measured with other settings: measure all, or these so")
        results["tables"] = earlier["tables"]
    for table in _tables(arguments):
        if arguments.only and table.name not in arguments.only:
            continue
        with tempfile.TemporaryDirectory() as made:
            results["tables"][table.name] = _measured(table, arguments, Path(made))
        text = json.dumps(results, indent=1, ensure_ascii=False)
        arguments.output.write_text(f"{text}\n", encoding="utf-8")
    for name, found in results["tables"].items():
        print("\n".join(_markdown(name, found)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=100_000, help="of the generated shop")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--items-per-user", type=int, default=7)
    parser.add_argument("--epsilons", type=int, nargs="+", default=EPSILONS)
    parser.add_argument("--bounds", type=int, nargs="+", default=BOUNDS, help="things a person")
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="with the real tables")
    parser.add_argument("--only", nargs="+", metavar="TABLE")
    parser.add_argument("--output", type=Path, default=HERE / "itemsets.json", metavar="FILE")
    return parser.parse_args()


def _tables(arguments: argparse.Namespace) -> Iterator[Table]:
    """Each table twice: in baskets, and in whole histories."""
    path = HERE / "data" / f"shop-{arguments.users}.parquet"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        generate_shop(path, users=arguments.users, seed=7)
    whole = [
        Table(
            name="generated shop", path=path, user="customer", items=("product",), basket="invoice"
        )
    ]
    if arguments.real is not None:
        whole += [
            Table(
                name="real shop",
                path=arguments.real / "online_retail.csv.gz",
                user="CustomerID",
                items=("Description",),
                basket="InvoiceNo",
            ),
            Table(
                name="diagnoses",
                path=arguments.real / "patient_diagnoses.csv.gz",
                user="patient",
                items=("diag_1", "diag_2", "diag_3"),
                basket="encounter",
            ),
        ]
    for table in whole:
        yield replace(table, name=f"{table.name}, baskets")
        yield replace(table, name=f"{table.name}, histories", basket=None)


def _measured(table: Table, arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All figures of one table: first every release, so that it is known how deep to mine."""
    _say(table.name)
    q = arguments.items_per_user
    wanted = [
        Setting(neighbors=relation, epsilon=epsilon, items_per_user=q)
        for relation in NEIGHBORS
        for epsilon in arguments.epsilons
    ]
    tried = [
        Setting(neighbors="add-remove", epsilon=2, items_per_user=each) for each in arguments.bounds
    ]
    releases = {
        setting: [publish(table, setting, folder) for _ in range(draws)]
        for setting, draws in {
            **dict.fromkeys(tried, 1),
            **dict.fromkeys(wanted, arguments.draws),
        }.items()
    }
    _say("mining")
    truth = Truth(table, folder)
    top, first = {}, {}
    for size in SIZES:
        most = max(len(each.sets[size]) for several in releases.values() for each in several)
        first[size] = truth.top(size, WANTED)
        top[size] = truth.top(size, 2 * most) if 2 * most > WANTED else first[size]
    rows = {
        setting: {
            **asdict(setting),
            "seconds": fmean(each.seconds for each in several),
            "processor_seconds": fmean(each.processor_seconds for each in several),
            "sizes": {
                size: _mean([_scored(each.sets[size], top[size], truth) for each in several])
                for size in SIZES
            },
        }
        for setting, several in releases.items()
    }
    about = {
        "people": truth.people,
        "baskets": truth.baskets,
        "truth": {
            size: {"people_of_last": each.least(WANTED), "processor_seconds": each.seconds}
            for size, each in first.items()
        },
        "rows": [rows[setting] for setting in wanted],
        "bounds": [rows[setting] for setting in tried],
    }
    truth.close()
    return about


def publish(table: Table, setting: Setting, folder: Path) -> Drawn:
    """One release by the command line."""
    columns, output = "/".join(table.items), folder / "release"
    words = [
        Path(sys.executable).with_name("zealous"),
        "publish",
        table.path,
        "-o",
        output,
        "--user",
        table.user,
        "--items",
        f"itemsets:{columns}",
        "--max-size",
        max(SIZES),
        *(["--basket", table.basket] if table.basket else []),
        "--items-per-user",
        setting.items_per_user,
        "--guarantee",
        "indistinguishable",
        "--neighbors",
        setting.neighbors,
        "--epsilon",
        setting.epsilon,
        "--delta",
        DELTA,
        "--mechanism",
        "auto",
        "--no-ledger",
    ]
    started = time.perf_counter()
    processor_seconds = run(words)
    seconds = time.perf_counter() - started
    release = read_release(output)
    sets = {size: _sets(release[f"itemsets-{size}:{columns}"].arrow) for size in SIZES}
    shutil.rmtree(output)
    return Drawn(sets=sets, seconds=seconds, processor_seconds=processor_seconds)


def _sets(rows: Any) -> Released:
    """Each set of a published table, its things in order of their text, and its count."""
    *things, count = (rows[name].to_pylist() for name in rows.schema.names)
    return {tuple(sorted(each)): n for *each, n in zip(*things, count, strict=True)}


def _scored(released: Released, top: Top, truth: Truth) -> dict[str, float | None]:
    """How one published table compares with the truth."""
    true = truth.count(released)
    last = top.least(2 * len(released)) if released else 0
    errors = [abs(count - true[each]) for each, count in released.items()]
    people = sum(true.values())
    return {
        "released": len(released),
        "found": sum(each in released for each in top.first(WANTED)),
        "in_top_twice": sum(each >= last for each in true.values()),
        "error": fmean(errors) if errors else None,
        "error_share": sum(errors) / people if people else None,
    }


def _mean(several: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """The mean over draws of each figure; of those that have it."""
    given = {name: [each[name] for each in several] for name in several[0]}
    known = {name: [v for v in values if v is not None] for name, values in given.items()}
    return {name: fmean(values) if values else None for name, values in known.items()}


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _markdown(name: str, found: dict[str, Any]) -> Iterator[str]:
    """What each size and setting gave."""
    mining = sum(each["processor_seconds"] for each in found["truth"].values())
    yield (
        f"\n**{name}**: {found['people']:,} people, {found['baskets']:,} baskets; mlxtend takes "
        f"{mining:.0f} s of processor time\n\n| neighbours | epsilon | things a person | seconds |"
        + " of the true 100 | published | in the true top twice as long | counts off by |"
        * 3
    )
    yield "|---" * (4 + 4 * len(SIZES)) + "|"
    for row in (*found["rows"], *found["bounds"]):
        cells = [row["neighbors"], row["epsilon"], row["items_per_user"]]
        cells.append(f"{row['processor_seconds']:.0f}")
        for each in row["sizes"].values():
            cells += [f"**{each['found']:.0f}**", f"{each['released']:,.0f}"]
            cells += [f"{each['in_top_twice']:,.0f}", _off(each)]
        yield f"| {' | '.join(map(str, cells))} |"


def _off(each: dict[str, float | None]) -> str:
    if each["error"] is None or each["error_share"] is None:
        return "–"
    return f"{each['error']:,.0f} ({100 * each['error_share']:.0f} %)"


if __name__ == "__main__":
    main()
