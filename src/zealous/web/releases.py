"""Releases as the workbench shows them: read strictly, served only while their hashes hold.

Guarantee:
    A file leaves the workbench only if it belongs to a release, lies in its directory and has the
    SHA-256 that release.json states. So a log that stands in a release's place is not served.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zealous.errors import Refused, ReleaseError, ZealousError
from zealous.ledger import Ledger, existing_ledger
from zealous.libraries import np, pq
from zealous.privacy.guarantee import UNIT_PLURALS
from zealous.record.record import PartRecord, Record
from zealous.release.bundle import sha256
from zealous.release.schema import read_record
from zealous.release.table import counted_schema, written_schema
from zealous.release.text.method_wording import count_interval, meaning_of_absence
from zealous.verification.verify import Verdict, verify
from zealous.web.bench import Bench
from zealous.web.table_pages import FoundRows, find_rows

PAGE = 50  # rows
_LARGEST_RECORD = 20_000_000  # bytes of a release.json


@dataclass(frozen=True, kw_only=True)
class Row:
    """A published row with the 95 % interval of its count."""

    item: tuple[str, ...]
    count: int
    low: int
    high: int


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A page of a table.

    Attributes:
        rows: What it shows.
        found: How many rows the search finds.
        highest: The largest upper end in the table, for the scale of bars.
    """

    rows: tuple[Row, ...]
    found: int
    highest: int


class ShownRelease:
    """A release in one of the folders."""

    def __init__(self, bench: Bench, name: str) -> None:
        """Read what it says of itself.

        Raises:
            ReleaseError: It is no release.
        """
        self._bench, self.name = bench, name
        self.path = bench.folders.path(name)
        self.record = self._read()

    def _read(self) -> Record:
        try:
            file = self._file("release.json")
            if file.stat().st_size > _LARGEST_RECORD:
                raise ReleaseError("its release.json is too large")
            return read_record(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError, ReleaseError) as error:
            why = f": {error}" if isinstance(error, ReleaseError) else ""
            raise ReleaseError(f"{self.name} is no release that can be read{why}") from None

    def _file(self, name: str) -> Path:
        """A file of the release, which is no link and leads nowhere else."""
        path = self.path / name
        if "/" in name or path.is_symlink() or not path.is_file():
            raise ReleaseError("a file of the release is missing, or is a link")
        return path

    def checked_file(self, name: str) -> Path:
        """A file of the release as it was written.

        Raises:
            ReleaseError: There is no such file in it.
            Refused: It was changed.
        """
        path = self._file(name)
        if name == "release.json":
            return path
        stated = self.record.sha256.get(name)
        if stated is None:
            raise ReleaseError("the release has no such file")
        if self.cached(f"sha256 {name}", [path], lambda: sha256(path)) != stated:
            raise Refused(
                f"{name} was changed after the release was written, so it is not shown: do not "
                "rely on this release"
            )
        return path

    def verdict(self) -> Verdict:
        """What `zealous verify` answers, also of its ledger and parent where they are in sight."""
        ledger, parent = self._ledger(), self._parent()
        looked = [each for each in sorted(self.path.iterdir()) if each.is_file()]
        looked += [ledger] if ledger else []
        looked += [parent / "release.json"] if parent else []
        found: Verdict = self.cached("verdict", looked, lambda: verify(self.path, ledger, parent))
        return found

    def verify_command(self) -> str:
        """The command that answers the same."""
        said, ledger, parent = ["zealous", "verify", str(self.path)], self._ledger(), self._parent()
        said += ["--ledger", str(ledger)] if ledger else []
        return shlex.join([*said, "--parent", str(parent)] if parent else said)

    def _ledger(self) -> Path | None:
        """The ledger that it says was charged, if it is that of its folder."""
        path, stamp = existing_ledger([self.path]), self.record.ledger
        if path is None or stamp is None:
            return None
        try:
            self._bench.folders.name_of(path)  # one of a folder above is not ours to look at
            return path if Ledger.open(path).id == stamp.ledger else None
        except ZealousError:
            return None

    def _parent(self) -> Path | None:
        """The release that a review made it from, if it is in the folders."""
        if self.record.review is None:
            return None
        for name in self._bench.folders.look().releases:
            file = self._bench.folders.path(name) / "release.json"
            if file.is_file() and sha256(file) == self.record.review.parent:
                return file.parent
        return None

    def cached(self, what: str, of: Sequence[Path], make: Any) -> Any:
        """An answer about files, made anew when one of them was changed."""
        stats = [(str(each), (s := each.stat()).st_size, s.st_mtime_ns, s.st_ino) for each in of]
        key, seen = f"{what} {self.path}", self._bench.seen
        if key not in seen or seen[key][0] != stats:
            seen[key] = (stats, make())
        return seen[key][1]

    def part(self, kind: str | None) -> PartRecord:
        """The table of a kind; the first one where none is named."""
        for part in self.record.plan:
            if kind in (None, part.kind) and part.kind in self.record.files:
                return part
        raise ReleaseError("the release has no such table")

    def find_rows(self, part: PartRecord, **asked: Any) -> FoundRows:
        """A page of a table as it was written: see `tables.find_rows`."""
        files = self.record.files[part.kind]
        path = self.checked_file(files.parquet)
        known = (written_schema(files.columns), counted_schema(files.columns))
        if pq.read_schema(path).remove_metadata() not in known:
            raise ReleaseError("the table has other columns than release.json says")
        return find_rows(path, files.columns, **asked)

    def rows(self, part: PartRecord, *, search: str, sort: str, page: int) -> Rows:
        """A page of a table, with the interval of each count."""
        found = self.find_rows(part, search=search, sort=sort, page=page, size=PAGE)
        interval = count_interval(part, found.least)
        counts = np.array([count for _, count in found.rows] + [found.most or 0], np.int64)
        lows, highs = interval.endpoints(counts)
        shown = tuple(
            Row(item=item, count=count, low=int(low), high=int(high))
            for (item, count), low, high in zip(found.rows, lows, highs, strict=False)
        )
        return Rows(rows=shown, found=found.found, highest=int(highs[-1]))

    def units(self) -> str:
        """What is counted: users, days of users, sessions."""
        return UNIT_PLURALS[self.record.guarantee.unit]

    def absence(self, part: PartRecord) -> str:
        """What it means that an item is not in a table."""
        said = meaning_of_absence([part])
        if count_interval(part).threshold is not None:
            most = part.forecast.users_to_appear.high
            said += f" Most probably it counts for fewer than {most:,} {self.units()}."
        if self.record.is_filtered():
            said += (
                " A review took rows out of this release: some items are absent for that reason."
            )
        return said
