"""Releases that somebody has: bundles of zealous, anonymised logs, or tables in their layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from zealous.errors import ReleaseError, UsageError
from zealous.items import Kind, kind_by_name
from zealous.logs.log import ANONYMIZED, Log
from zealous.mechanisms.choose import MECHANISMS
from zealous.privacy.guarantee import Unit
from zealous.record.record import CleaningRecord
from zealous.release.bundle import read_release
from zealous.release.provenance import cleaning_record
from zealous.study.anonymity import read_bundle
from zealous.study.grid.candidates import ORIGINAL, Setting
from zealous.study.grid.study import KINDS

_ANY = 1
# What is made of other tables is not counted from the log alone.
_OF_OTHERS = {name for name, each in MECHANISMS.items() if each.family is not None}


@dataclass(frozen=True, kw_only=True)
class CountingRules:
    """How releases were counted, so that the original is counted alike.

    Attributes:
        kinds: By name, what is counted.
        period: The days that they are about; None for all.
        unit: Whose data was protected as a whole: what a count is a number of.
    """

    kinds: Mapping[str, Kind]
    period: str | None = None
    unit: Unit = "user"


@dataclass(frozen=True, kw_only=True)
class GivenRelease:
    """A release, as far as it is compared.

    Attributes:
        name: What it is called in the tables.
        tables: Item's columns and count, by name of kind.
        settings: By name of kind, where on the grid it stands.
        counted: How.
        cleaning: What release.json says of who was left out; None where nothing is said.
    """

    name: str
    tables: Mapping[str, pa.Table]
    settings: Mapping[str, Setting]
    counted: CountingRules
    cleaning: CleaningRecord | None = None

    @property
    def published(self) -> bool:
        """Whether `zealous publish` made it, so that its items are items of its log."""
        return self.cleaning is not None


def read_releases(paths: Sequence[Path]) -> list[GivenRelease]:
    """Read releases, each named after its directory."""
    names = [path.resolve().name for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    if len(set(names)) < len(names):
        raise UsageError("a release is named twice")
    if ORIGINAL in names:
        raise UsageError(
            f"{ORIGINAL!r} is what the log is called in the tables: rename the release"
        )
    return [_read_release(path, name) for path, name in zip(paths, names, strict=True)]


def common_counting_rules(
    releases: Iterable[GivenRelease], log: Log, say: Callable[[str], None]
) -> CountingRules:
    """How all of these releases were counted.

    Args:
        releases: The releases.
        log: What they are compared with: its owner is told where it is read in another way.
        say: Receives notes.

    Raises:
        UsageError: They count different things under one name.
    """
    kinds: dict[str, Kind] = {}
    periods, units = set(), set()
    for release in releases:
        periods.add(release.counted.period)
        units.add(release.counted.unit)
        for name, kind in release.counted.kinds.items():
            if kinds.setdefault(name, kind) != kind:
                raise UsageError(
                    f"the releases count {name} differently (by, fold or session gap): evaluate "
                    "them one at a time"
                )
        if release.cleaning is not None and release.cleaning != cleaning_record(log):
            say(f"{release.name} left out other users than are left out now: see its release.json")
    if len(periods) > 1:
        raise UsageError("the releases are of different periods: evaluate them one at a time")
    if len(units) > 1:
        raise UsageError("the releases have different units: evaluate them one at a time")
    return CountingRules(kinds=kinds, period=periods.pop(), unit=units.pop())


def _read_release(path: Path, name: str) -> GivenRelease:
    if (path / "release.json").is_file():
        return _read_published(path, name)
    if (path / ANONYMIZED).is_file():
        return _read_anonymized(path, name)
    return _read_tables(path, name)


def _read_published(path: Path, name: str) -> GivenRelease:
    release = read_release(path)
    record = release.record
    parts = {part.kind: part for part in record.plan if part.mechanism not in _OF_OTHERS}
    return GivenRelease(
        name=name,
        tables={kind: release.tables[kind].arrow for kind in parts},
        settings={
            kind: Setting(method=name, epsilon=part.epsilon, m=part.items_per_user)
            for kind, part in parts.items()
        },
        counted=CountingRules(
            kinds={kind: kind_by_name(kind, _ANY, part.settings) for kind, part in parts.items()},
            period=record.period,
            unit=record.guarantee.unit,
        ),
        cleaning=record.cleaning,
    )


def _read_anonymized(path: Path, name: str) -> GivenRelease:
    bundle = read_bundle(path)
    gives = bundle.record.gives
    k = bundle.record.settings.get("k")
    k = k if isinstance(k, int) else None
    return GivenRelease(
        name=name,
        tables={kind: bundle[kind].arrow for kind in gives},
        settings={kind: Setting(method=name, k=k) for kind in gives},
        counted=CountingRules(kinds={kind: kind_by_name(kind, _ANY) for kind in gives}),
    )


def _read_tables(path: Path, name: str) -> GivenRelease:
    """A directory with KIND.parquet or KIND.csv."""
    tables = {}
    for kind in KINDS:
        for ending, read in ((".parquet", pq.read_table), (".csv", _read_csv)):
            if (path / f"{kind}{ending}").is_file() and kind not in tables:
                try:
                    tables[kind] = read(path / f"{kind}{ending}")
                except (OSError, pa.ArrowException):
                    raise ReleaseError(f"{path / kind}{ending} cannot be read") from None
    if not tables:
        raise ReleaseError(
            f"{path} is no release: it has neither release.json nor {ANONYMIZED}, and no table "
            f"that is called {', '.join(KINDS)} with the ending .parquet or .csv"
        )
    return GivenRelease(
        name=name,
        tables=tables,
        settings={kind: Setting(method=name) for kind in tables},
        counted=CountingRules(kinds={kind: kind_by_name(kind, _ANY) for kind in tables}),
    )


def _read_csv(path: Path) -> pa.Table:
    texts = {
        name: pa.string()
        for name in ("keyword", "query", "next_query", "url", "phrase", "next_phrase")
    }
    return pyarrow.csv.read_csv(
        path,
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={**texts, "count": pa.int64()}, strings_can_be_null=False
        ),
    )
