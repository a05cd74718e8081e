"""Does a release hold what it says, and does what it promises follow from its parameters?

Nothing here trusts release.json: it is read as a stranger's.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from zealous import schema
from zealous.account import OTHERS, UNTIMED
from zealous.calibrate import covers_absence, guarantees
from zealous.errors import ZealousError
from zealous.guarantee import Guarantee, Indistinguishability, ProbabilisticDP, exact, whole
from zealous.handout import FILTERED
from zealous.release import hashes, papers, sha256, sorted_table, write_rows
from zealous.version import VERSION

About = Mapping[str, Any]
FILTERED_THEOREM = "docs/proofs/composition.md"
_DEFINITIONS: dict[str, type[Guarantee]] = {
    each.definition: each for each in (ProbabilisticDP, Indistinguishability)
}


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What.
        ok: Whether it is as it should be.
        detail: What was found, without quoting any row.
    """

    name: str
    ok: bool
    detail: str


class _Failed(Exception):
    """A check that did not pass, with what was found."""


def verify(directory: str | Path, ledger: str | Path | None = None) -> list[Check]:
    """Check a release from its files alone, or also against its ledger.

    Args:
        directory: The release.
        ledger: The ledger that was charged for it. Without one, only what the release says of its
            entry is looked at.
    """
    path = Path(directory)
    try:
        about = _about(path)
    except _Failed as why:
        return [Check(name="release.json", ok=False, detail=str(why))]
    return [
        Check(name="release.json", ok=True, detail="well-formed, with nothing missing or unknown"),
        _checked("private", lambda: _private(about)),
        _checked("files", lambda: _files(path, about)),
        _checked("tables", lambda: _tables(path, about)),
        _checked("guarantee", lambda: _guarantee(about)),
        _checked("words", lambda: _words(path, about)),
        _checked("budget", lambda: _budget(path, about, ledger)),
    ]


def _checked(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name=name, ok=True, detail=look())
    except (_Failed, ZealousError) as why:
        return Check(name=name, ok=False, detail=str(why))
    except (OSError, ValueError, ArithmeticError, LookupError, TypeError) as error:
        # A stranger's file can fail in many ways; their messages may quote it.
        detail = f"cannot be checked: {type(error).__name__}"
        return Check(name=name, ok=False, detail=detail)


def _about(path: Path) -> About:
    try:
        about = schema.parse((path / "release.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise _Failed("there is no readable release.json") from None
    if isinstance(about, dict) and about.get("format") != schema.FORMAT:
        raise _Failed("not written by a version of zealous that this one can read")
    found = list(schema.problems(about, schema.ABOUT))
    if found:
        more = f", and {len(found) - 3} more" if len(found) > 3 else ""
        raise _Failed("; ".join(found[:3]) + more)
    assert isinstance(about, dict)  # noqa: S101
    return about


def _private(about: About) -> str:
    if not about["private"]:
        raise _Failed("NOT PRIVATE: made with a fixed noise seed, it protects nobody")
    key = about["selection_key"]
    if len(key) != 16 or set(key) - set("0123456789abcdef"):
        raise _Failed("the key that selected each user's items is not there")
    return "random noise; the key that selected each user's items is published"


def _files(path: Path, about: About) -> str:
    tables = {name for each in about["files"].values() for name in (each["parquet"], each["csv"])}
    expected = {*tables, "README.md", "statement.html", "registry.yaml"}
    if len(tables) < 2 * len(about["files"]) or about["sha256"].keys() != expected:
        raise _Failed("release.json does not list each file once with its SHA-256")
    there = {each.name for each in path.iterdir()}
    if there - expected - {"release.json"}:
        raise _Failed("there are files that are no part of the release")
    if expected - there:
        raise _Failed(f"missing: {', '.join(sorted(expected - there))}")
    if any(each.is_symlink() or not each.is_file() for each in path.iterdir()):
        raise _Failed("not everything there is a file of its own")
    found = hashes(path)
    changed = [name for name, value in about["sha256"].items() if found[name] != value]
    if changed:
        raise _Failed(f"changed since they were written: {', '.join(sorted(changed))}")
    return f"{len(expected)} files, each with its SHA-256, and no other"


def _tables(path: Path, about: About) -> str:
    import pyarrow as pa

    if [part["kind"] for part in about["plan"]] != list(about["files"]):
        raise _Failed("the plan and the tables do not name the same kinds")
    rows = 0
    for part in about["plan"]:
        try:
            rows += _table(path, part, about["files"][part["kind"]])
        except (pa.ArrowException, UnicodeError):
            raise _Failed(f"{part['kind']}: the table cannot be read") from None
        except _Failed as why:
            raise _Failed(f"{part['kind']}: {why}") from None
    return f"{rows:,} rows, sorted, all above their threshold, the same in Parquet and CSV"


def _table(path: Path, part: About, names: About) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(path / names["parquet"])
    columns = names["columns"]
    wanted = pa.schema([*((name, pa.string()) for name in columns), ("count", pa.int64())])
    if not columns or not table.schema.equals(wanted):
        raise _Failed("the columns are not those that release.json names")
    if table.num_rows != names["rows"]:
        raise _Failed("release.json states another number of rows")
    if any(column.null_count for column in table.columns):
        raise _Failed("there are empty cells")
    if table.num_rows:
        if pc.min(table["count"]).as_py() <= part["tau_prime"]:
            raise _Failed("there are counts at or below the threshold tau'")
        if table.group_by(columns).aggregate([]).num_rows < table.num_rows:
            raise _Failed("an item stands there twice")
    if not sorted_table(table, tuple(columns)).arrow.equals(table):
        raise _Failed("rows are not sorted by count, then by item")
    text = io.StringIO(newline="")
    write_rows(table, text)
    if text.getvalue().encode() != (path / names["csv"]).read_bytes():
        raise _Failed("CSV and Parquet do not hold the same rows")
    return int(table.num_rows)


def _guarantee(about: About) -> str:
    """Compute from each part's parameters what they give, and compare with what is claimed."""
    claim, review = about["guarantee"], about["review"]
    goal = claimed(claim, claim["definition"])
    if review is not None and not (
        isinstance(goal, Indistinguishability) and about["also_guaranteed"] is None
    ):
        raise _Failed("a filtered child keeps indistinguishability alone, and claims more")
    if not about["plan"]:
        raise _Failed("there is no plan")
    epsilon = delta = Fraction(0)
    for part in about["plan"]:
        try:
            share = _part(part, claim)
        except _Failed as why:
            raise _Failed(f"{part['kind']}: {why}") from None
        epsilon, delta = epsilon + share.epsilon, delta + share.delta
    if epsilon > goal.epsilon or delta > goal.delta:
        raise _Failed("the shares of the tables add up to more than the total")
    if about["also_guaranteed"] is not None:
        _also(about)
    return (
        f"epsilon = {claim['epsilon']:g} and delta = {claim['delta']:g} follow from the parameters "
        f"of {len(about['plan'])} table(s)"
    )


def claimed(claim: About, definition: str) -> Guarantee:
    """What is claimed as a value, from its exact numbers."""
    goal = _DEFINITIONS[definition](
        epsilon=exact(claim["exact"]["epsilon"], "epsilon"),
        delta=exact(claim["exact"]["delta"], "delta"),
        users=claim["users"],
        neighbors=claim["neighbors"],
        unit=claim["unit"],
    )
    if (float(goal.epsilon), float(goal.delta)) != (claim["epsilon"], claim["delta"]):
        raise _Failed("a rounded number is not the one that the exact number gives")
    return goal


def assumed(about: About) -> list[str]:
    """What a release rests on: under the guarantee that its tables were made with."""
    return claimed(about["guarantee"], about["plan"][0]["guarantee"]).assumptions()


def _part(part: About, claim: About) -> Guarantee:
    """The share of one table; fails where its parameters do not give it."""
    if any(part[name] != claim[name] for name in ("neighbors", "unit", "users")):
        raise _Failed("neighbours, unit or users are not those of the whole release")
    if part["guarantee"] != claim["definition"] and claim["definition"] != "indistinguishable":
        raise _Failed("its guarantee is weaker than that of the whole release")
    share, scale = claimed(part, part["guarantee"]), exact(part["exact"]["scale"], "scale")
    if float(scale) != part["scale"]:
        raise _Failed("a rounded number is not the one that the exact number gives")
    whole(part["tau"], "tau")
    if not covers_absence(scale, part["tau_prime"] - part["tau"]):
        raise _Failed("T(t) is above 1 - alpha: an item's absence would tell too much")
    given = _given(part, share.definition)
    if given is None or given.epsilon > share.epsilon or given.delta > share.delta:
        raise _Failed("its epsilon or delta is smaller than what its parameters give")
    if Fraction(part["delta_achieved"]) < given.delta:
        raise _Failed("the delta that it says to achieve is too small")
    return share


def _given(part: About, definition: str) -> Guarantee | None:
    found = guarantees(
        scale=exact(part["exact"]["scale"], "scale"),
        tau=part["tau"],
        tau_prime=part["tau_prime"],
        items_per_user=part["items_per_user"],
        users=part["users"],
    )
    same = [
        each
        for each in found
        if (each.definition, each.neighbors) == (definition, part["neighbors"])
    ]
    return same[0] if same else None


def _also(about: About) -> None:
    other = about["also_guaranteed"]
    given = [_given(part, other["definition"]) for part in about["plan"]]
    sums = [
        sum((getattr(each, name) for each in given if each is not None), Fraction(0))
        for name in ("epsilon", "delta")
    ]
    stated = [Fraction(other[name]) for name in ("epsilon", "delta")]
    same = all(other[name] == about["guarantee"][name] for name in ("neighbors", "unit", "users"))
    if None in given or not same or sums[0] > stated[0] or sums[1] > stated[1]:
        raise _Failed("what is also guaranteed does not follow from the parameters")


def _words(path: Path, about: About) -> str:
    """What people read is what the numbers say."""
    if about["software"]["version"] != VERSION:
        return "not compared: written by another version; the SHA-256 of each text was checked"
    claim, review = about["guarantee"], about["review"]
    goal = claimed(claim, claim["definition"])
    theorem = goal.theorem if review is None else FILTERED_THEOREM
    said = (claim["title"], claim["in_words"], claim["theorem"])
    if said != (goal.title, goal.in_words(), theorem):
        raise _Failed("the guarantee in words is not the one in numbers")
    needed = assumed(about) + ([FILTERED] if review is not None else [])
    declared = {OTHERS, UNTIMED.format(about["period"])}
    if [each for each in about["assumptions"] if each not in declared] != needed:
        raise _Failed("the assumptions are not those of the guarantee")
    for name, text in papers(about).items():
        if (path / name).read_bytes() != text.encode():
            raise _Failed(f"{name} does not say what release.json says")
    return "README, statement and registry entry say what release.json says"


def _budget(path: Path, about: About, ledger: str | Path | None) -> str:
    entry = about["ledger"]
    if not entry["tracked"]:
        if ledger is not None:
            raise _Failed("the release says: budget not tracked; no ledger was charged for it")
        return "budget not tracked: no ledger was charged"
    for name in ("all", "period"):
        spent = entry["accounts"][name]
        if spent["releases"] < 1 or any(
            exact(spent["exact"][each], each) > Fraction(spent[each])
            for each in ("epsilon", "delta")
        ):
            raise _Failed("an account is smaller in print than it is")
    if ledger is None:
        return f"charged as entry {entry['entry']}; not compared with the ledger (--ledger FILE)"
    found = _in_ledger(path, Path(ledger))
    if found:
        raise _Failed("; ".join(found[:3]))
    return f"entry {entry['entry']} of the ledger, which is sound"


def _in_ledger(path: Path, file: Path) -> list[str]:
    from zealous.ledger import Ledger

    return Ledger.open(file).verify(releases=[path])


def fingerprint(directory: Path) -> str:
    """What a release is known by: the SHA-256 of its release.json."""
    return sha256(directory / "release.json")
