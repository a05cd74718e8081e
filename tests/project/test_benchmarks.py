"""Every command of benchmarks/ runs, at a tiny size, in a copy that it may write into."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from paths import ROOT
from reported import SMALL, made
from sampling import sampled
from spark import SPARK, need_java

SOURCE = ROOT / "benchmarks"
STUDY = "epsilons = [5]\nitems_per_user = [1]\nk = [5]\ndraws = 1\nmethods = ['k-query']\n"
STUDY += "kinds = ['queries']\n"
# A stand-in for the miner, which has an environment of its own: all sets of a size, one by one.
MINER = """#!{python}
import itertools, sys
from collections import Counter, defaultdict
import pyarrow as pa, pyarrow.parquet as pq

source, output, size, least = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
baskets = defaultdict(set)
for row in pq.read_table(source).to_pylist():
    baskets[row["basket"]].add(row["item"])
counts = Counter(
    each for held in baskets.values() for each in itertools.combinations(sorted(held), size)
)
rows = [[*each, number] for each, number in counts.items() if number >= least]
names = [*(f"item_{{n + 1}}" for n in range(size)), "baskets"]
pq.write_table(pa.table({{n: [row[i] for row in rows] for i, n in enumerate(names)}}), output)
"""
COMMANDS: dict[str, tuple[list[str], str]] = {  # arguments, and what the output must hold
    "publish.py": (["--users", "300", "--rounds", "1"], "| query-pairs |"),
    "whole.py": (["--users", "300", "--rounds", "1", "--only", "four kinds", "CSV"], "| CSV |"),
    "auto.py": (
        [
            *("--users", "300", "--means", "1.2", "--exponents", "2", "--draws", "1"),
            *("--output", "auto-here.json"),
        ],
        "| add-remove | 300 users | 0 of 1 | 1 |",
    ),
    "bounds.py": (
        ["--real", "--users", "300", "--epsilons", "5", "--draws", "1"],
        "| generated, 300 users | 5 |",
    ),
    "anonymize.py": (["--users", "300", "--rounds", "1", "-k", "3"], "| k-keyword |"),
    "composition.py": (
        ["--users", "60", "--only", "generated", "--draws", "2", "-o", "composed-here.json"],
        "12 months of queries | 2 |",
    ),
    "counts.py": (["--real", "--tables", "given.csv:user:item", "--draws", "1"], "| m of n |"),
    "documents.py": (["count", "pages", "--pages", "10", "-o", "documents.csv"], "3 documents"),
    "groups.py": (["--users", "3000", "--sets", "400", "-k", "3"], "| users | 400 |"),
    "itemsets.py": (
        [
            "--users",
            "300",
            "--draws",
            "1",
            "--epsilons",
            "5",
            "--bounds",
            "3",
            "--items-per-user",
            "3",
            "--only",
            "generated shop, baskets",
            "--output",
            "sets.json",
        ],
        "**generated shop, baskets**",
    ),
    "keys.py": (
        ["--users", "300", "--real", "--draws", "1", "--bounds", "3", "--output", "keys-here.json"],
        "| policy Gaussian |",
    ),
    "mechanisms.py": (
        ["--users", "300", "--real", "--draws", "1", "--bounds", "1", "--output", "here.json"],
        "| policy Gaussian |",
    ),
    "noise.py": (["--draws", "1000"], "| Laplace up to 24 |"),
    "scale.py": (["--users", "300"], "| 1.00 |"),
    "spark_scale.py": (["--report"], "| entries |"),
    "spark_fit.py": ([], "Node-hours"),
    "study.py": (["--users", "300", "--study", "study.toml"], "| 300 |"),
    "synthetic.py": (["--users", "300", "--epsilons", "5"], "B misfit"),
    "msweb.py": (["areas.csv.gz", "-o", "areas.csv"], "wrote areas.csv"),
    "study_page.py": (["finished"], "of the 22 findings are as in the paper"),
    "substitution.py": (["--users", "300", "--queries", "50"], "| frequent phrase-pairs |"),
    "tail.py": (
        ["--users", "300", "--tails", "1", "--output", "tail-here.json"],
        "Completion without privacy",
    ),
    "top.py": (["--real", "--tables", "given.csv:user:item", "--draws", "1"], "limited domain"),
    "prior.py": (["--users", "300", "--real", "--draws", "1"], "| generated, 300 users |"),
    "peers/data.py": (["--rows", "2000"], "distinct rows"),
    "peers/run.py": (
        ["--rows", "2000", "--rounds", "1", "--only", "zealous"],
        "zealous, 2,000 rows: done",
    ),
    "peers/duckdb_count.py": (["INPUT", "counted"], ""),
    "peers/zealous_publish.py": (["INPUT", "published"], ""),
    "peers/check.py": (["--only", "zealous"], "bounding"),
}
# What needs a peer's environment, or makes one.
ELSEWHERE = {
    "peers/setup.py",
    "peers/dp_mm_domain_check.py",
    "peers/dp_mm_domain_policy.py",
    "peers/dp_mm_domain_weighted.py",
    "peers/mlxtend_itemsets.py",
    "peers/opendp_best.py",
    "peers/opendp_first.py",
    "peers/opendp_polars.py",
    "peers/pipelinedp_gaussian.py",
    "peers/pipelinedp_local.py",
    "peers/pipelinedp_spark.py",
    "peers/smartnoise_sql.py",
    "peers/tumult_analytics.py",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands write stands beside them: here, and not in the project."""
    folder = tmp_path_factory.mktemp("project") / "benchmarks"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("data", "__pycache__"))
    (folder / "study.toml").write_text(STUDY)
    (folder / "given.csv").write_text("user,item\n1,a\n1,b\n2,a\n")
    for name, text in {"a.txt": "Tea, tea", "b.html": "<b>tea</b>", "c.1": "\\fBcup\\fR"}.items():
        (folder / "pages").mkdir(exist_ok=True)
        (folder / "pages" / name).write_text(text)
    with gzip.open(folder / "areas.csv.gz", "wt") as file:
        file.write('A,7,1,"Tea","/tea"\nC,"x",3\nV,7,1\n')
    _finished_study(folder)
    miner = folder / "data" / "peers" / "mlxtend" / "bin" / "python"
    miner.parent.mkdir(parents=True)
    miner.write_text(MINER.format(python=sys.executable))
    miner.chmod(0o755)
    return folder


def _finished_study(folder: Path) -> None:
    """What `study_page.py` reads, and the page that it writes into."""
    docs, finished = folder.parent / "docs", folder / "finished"
    (docs / "figures" / "study").mkdir(parents=True)
    (docs / "study").mkdir()
    finished.mkdir()
    shutil.copy(SOURCE.parent / "docs" / "study" / "README.md", docs / "study")
    pq.write_table(made(SMALL).table, finished / "internal-results.parquet")
    about = {"study": SMALL.as_object()}
    (finished / "zealous-internal.json").write_text(json.dumps(about))


def test_the_ways_to_learn_substitutions_are_compared(copy: Path) -> None:
    output = run(copy, "substitution.py", "--users", "300", "--queries", "50", "--held-out")
    assert all(f"| `{name}` |" in output for name in ("ratio", "jones", "model"))


def run(copy: Path, script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, copy / script, *arguments],
        cwd=copy,
        env=os.environ | {"TMPDIR": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_command(path: Path) -> bool:
    text = path.read_text()
    return '__name__ == "__main__"' in text or "sys.argv" in text


def test_every_command_is_run_here() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for folder in (SOURCE, SOURCE / "peers")
        for path in folder.glob("*.py")
        if is_command(path) and path.name != "setting.py"
    }
    assert found == {*COMMANDS, *ELSEWHERE}


@pytest.mark.parametrize(
    "script", sampled(list(COMMANDS), str, share=15, group=lambda script: Path(script).parent)
)
def test_a_command_runs(script: str, copy: Path) -> None:
    arguments, told = COMMANDS[script]
    if "INPUT" in arguments:
        run(copy, "peers/data.py", "--rows", "2000")
    source = str(copy / "data" / "peers" / "rows-2000.parquet")
    output = run(copy, script, *(source if each == "INPUT" else each for each in arguments))
    assert told in output, output
    if script.startswith("peers/check"):
        assert "Error" not in output


def test_what_was_kept_of_the_mechanisms_is_printed_with_each_target(copy: Path) -> None:
    """On the one table twice as many items, on the other too few."""
    rows = [
        {"neighbors": "add-remove", "mechanism": mechanism, "setting": "m = 1"}
        | {"items": {"mean": mean, "low": mean, "high": mean}}
        | dict.fromkeys(("covered", "error", "relative_error"))
        for mechanism, mean in (("gaussian", 100), ("OpenDP", 120), ("pooled", 240), ("auto", 300))
    ]
    head = {"users": 9, "distinct_items": 9, "pairs": 9, "used": "", "draws": 5, "rows": rows}
    kept = {"page visits": head, "online_retail": head}
    (copy / "kept.json").write_text(json.dumps(kept))
    found = run(copy, "mechanisms.py", "--report", "-o", "kept.json")
    line = "| {} | add-remove | 5 | 240.0 | OpenDP 120.0 | 2.00 | {} | {} |"
    assert line.format("page visits", "1.05", "met") in found
    assert line.format("online_retail", "3", "not met") in found
    assert "| online_retail | replace | | | | | 3 | not measured |" in found


def test_rows_that_are_not_measured_again_keep_their_number_of_draws(copy: Path) -> None:
    tiny = ("--users", "300", "--real", "--bounds", "1", "--only", "gaussian", "-o", "again.json")
    run(copy, "mechanisms.py", *tiny, "--neighbors", "add-remove", "--draws", "2")
    before = json.loads((copy / "again.json").read_text())
    for row in before["generated, 300 users"]["rows"]:
        del row["draws"]  # as earlier results have it
    (copy / "again.json").write_text(json.dumps(before))
    run(copy, "mechanisms.py", *tiny, "--neighbors", "replace", "--draws", "1")
    found = json.loads((copy / "again.json").read_text())["generated, 300 users"]["rows"]
    assert [(row["neighbors"], row["draws"]) for row in found] == [
        ("add-remove", 2),
        ("replace", 1),
    ]


def test_what_was_kept_of_auto_is_printed_with_the_worst_of_each_part(copy: Path) -> None:
    chosen = {"chosen": "selection", "best_name": "pooled", "items": {}, "draws": 3}
    rows = [
        {"neighbors": "add-remove", "part": part, "table": table, "auto": auto, "best": best}
        | {"share": auto / best}
        | chosen
        for part, table, auto, best in (
            ("1,000 users", "a", 24.0, 30.0),
            ("1,000 users", "b", 30.0, 30.0),
            ("1,000 users", "c", 1.0, 10.0),
            ("10,000 users", "d", 99.0, 100.0),
        )
    ]
    (copy / "kept-auto.json").write_text(json.dumps(rows))
    found = run(copy, "auto.py", "--report", "-o", "kept-auto.json")
    assert "| add-remove | 1,000 users | 2 of 3 | 3 | 0.90 | 0.80 of pooled, a | not met |" in found
    assert "| add-remove | 10,000 users | 1 of 1 | 3 | 0.99 | 0.99 of pooled, d | met |" in found


@SPARK
@pytest.mark.soak
def test_spark_is_measured_and_a_line_is_laid_through_it(copy: Path) -> None:
    need_java()
    (copy / "spark.json").unlink()
    assert "| 3" in run(copy, "spark_scale.py", "--users", "300", "--driver-memory", "1g")
    (measured,) = json.loads((copy / "spark.json").read_text())["runs"].values()
    assert measured["stages"]
    assert "Node-hours" in run(copy, "spark_fit.py")


@SPARK
@pytest.mark.extended
def test_a_whole_process_on_spark_is_measured(copy: Path) -> None:
    need_java()
    arguments = ("--users", "300", "--rounds", "1", "--only", "Spark")
    assert "| Spark |" in run(copy, "whole.py", *arguments)


def test_the_policy_of_a_rival_moves_no_further_than_its_noise_is_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One user less moves all weights by at most 1 together: every log of three users."""
    monkeypatch.syspath_prepend(str(SOURCE))
    rivals: Any = import_module("mechanisms_rivals")
    histories = [np.flatnonzero([n & 1, n & 2, n & 4]) for n in range(8)]
    random = np.random.default_rng(1)

    def weights(log: Sequence[Any], cap: float) -> Any:
        users = np.concatenate([np.full(len(each), n) for n, each in enumerate(log)])
        items = np.concatenate([*log, [2]])  # so that all logs have as many items
        pairs = rivals.Pairs(np.append(users, len(log)).astype(int), items.astype(int), random)
        return rivals.descend(pairs, 3, cap)

    furthest = 0.0
    for log in itertools.product(histories, repeat=3):
        for without in range(3):
            other = [each if n != without else histories[0] for n, each in enumerate(log)]
            for cap in (1.2, 2.5):
                moved = np.linalg.norm(weights(log, cap) - weights(other, cap))
                furthest = max(furthest, float(moved))
    assert 0.999 < furthest < 1 + 1e-9
