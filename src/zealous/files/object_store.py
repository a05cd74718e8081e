"""A file or folder in an object store, named by a URL: S3, Google Cloud Storage, Azure.

Its name is shown without credentials and options. What the store answers is never quoted: what goes
wrong becomes an `OSError` in plain words.
"""

from __future__ import annotations

import errno
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from zealous.errors import ReleaseError, UsageError, reason
from zealous.files.local import too_long
from zealous.files.parquet import open_parquet
from zealous.files.places import Place, Scheme, StoreError, error_text, register
from zealous.files.rows import Rows
from zealous.files.scratch import working_directory
from zealous.files.store_access import ObjectMissing, connect, store_error, translate_errors
from zealous.libraries import pafs

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/?]*)/?(.*)", re.DOTALL)
# A question mark begins options only where a name follows; elsewhere it is part of a pattern.
_OPTIONS = re.compile(r"\?(?=[A-Za-z_]+=)")
_MAGIC = re.compile(r"[*?[]")
# Names that other programs have for the same stores.
_SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs"}
_KNOWN = ("s3", "gs", "abfs")
_PATIENCE = "retry_limit_seconds=60"  # Google's client would try for a quarter of an hour
_BUFFER = 1 << 23
_LONGEST_KEY = 1024  # in bytes, at Amazon, Google and Microsoft alike
LAST = "release.json"  # a directory without it is no release
_CLAIM = ".zealous-writing-"


@dataclass(frozen=True, kw_only=True)
class Remote:
    """A place in an object store, used as a `Path` is.

    Attributes:
        scheme: Which store, as the URL says it.
        authority: The bucket (or the container and its account), perhaps with credentials.
        key: The name within it, without slashes at either end; taken as it is, never decoded.
        options: What stands after the question mark.
        seen: Size and time of the object when it was found; a later one is another log.
    """

    scheme: str
    authority: str = field(repr=False)
    key: str
    options: str = field(default="", repr=False)
    seen: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}/{self.key}".rstrip("/")

    def __truediv__(self, name: str) -> Remote:
        return replace(self, key=f"{self.key}/{name}".strip("/"), seen="")

    @property
    def host(self) -> str:
        """The authority without credentials; at Azure the part before the @ is the container."""
        user, at, host = self.authority.rpartition("@")
        return f"{user.partition(':')[0]}{at}{host}" if self.store == "abfs" else host

    @property
    def store(self) -> str:
        """Which store, by one name for each."""
        return _SAME.get(self.scheme, self.scheme)

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2] or self.host

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def parent(self) -> Remote:
        """The folder it is in; that of a bucket is the bucket."""
        return replace(self, key=self.key.rpartition("/")[0], seen="")

    @property
    def parents(self) -> tuple[Remote, ...]:
        """The folders above, the nearest first, the bucket last."""
        return () if not self.key else (self.parent, *self.parent.parents)

    def resolve(self) -> Remote:
        """Itself: a store has no links."""
        return self

    def identity(self) -> bytes:
        """One name by whatever URL: credentials and options do not make another log."""
        return f"{self.store}://{self.host}/{self.key}".encode()

    def local(self) -> None:
        """It is not on this machine."""

    def is_symlink(self) -> bool:
        """A store has no links."""
        return False

    def is_file(self) -> bool:
        return bool(_kind(self) == "File")

    def find_files(self) -> tuple[bool, list[Remote]]:
        with translate_errors():
            info = _store(self).get_file_info(_path(self))
        if info.type.name == "File":
            return False, [replace(self, seen=_version(info))]
        if info.type.name == "Directory":
            return True, self.files()
        parts = self.key.split("/")
        fixed = next((i for i, part in enumerate(parts) if _MAGIC.search(part)), None)
        if fixed is None:
            if _kind(replace(self, key="")) == "NotFound":
                raise ObjectMissing(errno.ENOENT, "there is no such bucket")
            return False, []
        folder = replace(self, key="/".join(parts[:fixed]))
        inside = folder.files(deep=fixed < len(parts) - 1)
        return False, [e for e in inside if _matches(e.parts_below(folder), parts[fixed:])]

    def files(self, *, deep: bool = True) -> list[Remote]:
        """The files in a folder, by name; none where there is no such folder."""
        with translate_errors():
            store, root = connect(_address(self))
            where = pafs.FileSelector(_path(self), recursive=deep, allow_not_found=True)
            infos = [each for each in store.get_file_info(where) if each.type.name == "File"]
        start = len(root) + 1 if root else 0
        found = [replace(self, key=e.path[start:], seen=_version(e)) for e in infos]
        return sorted(found, key=lambda each: each.key.split("/"))

    def parts_below(self, folder: Place) -> tuple[str, ...]:
        return tuple(str(self).removeprefix(str(folder)).strip("/").split("/"))

    def check_readable(self) -> None:
        """It was found, which is all that can be told without reading it."""

    @contextmanager
    def open_file(self) -> Iterator[Any]:
        """The object, to be read anywhere: an Arrow file."""
        with translate_errors():
            self._check()
            file = _store(self).open_input_file(_path(self))
        with file:
            yield file

    def open_rows(self, lists: Sequence[str]) -> AbstractContextManager[Rows]:
        """Those of a Parquet file."""
        return open_parquet(self)

    @contextmanager
    def stream(self, codec: str | None, buffer: int = _BUFFER) -> Iterator[Any]:
        """The object, to be read from its beginning, unpacked: an Arrow stream.

        Args:
            codec: How it is packed; None for not at all.
            buffer: How much is asked for at once.
        """
        with translate_errors():
            self._check()
            stream = _store(self).open_input_stream(
                _path(self), compression=codec, buffer_size=buffer
            )
        with stream:
            yield stream

    def check_same(self) -> None:
        with translate_errors():
            self._check()

    def version(self) -> list[Any]:
        return [str(self), self.seen]

    def reason_unreadable(self, error: Exception) -> str | None:
        found = store_error(error)
        return None if found.errno == errno.EIO else error_text(found)

    def folders(self) -> Sequence[Remote]:
        """The folder that it is, or is in, and those above; which it is, is told by its ending."""
        return (self, *self.parents) if not self.suffix else self.parents

    def ledger_place(self) -> Remote:
        """Its ledger is found by its name."""
        return self

    def read_bytes(self) -> bytes:
        with self.open_file() as file, translate_errors():
            return bytes(file.read())

    def write_bytes(self, content: bytes) -> None:
        """Put it there in one piece; what is there already is replaced."""
        with (
            translate_errors(),
            _store(self).open_output_stream(_path(self), compression=None) as stream,
        ):
            stream.write(content)

    def upload(self, file: Path) -> None:
        """Put a file of this machine there."""
        with (
            file.open("rb") as source,
            translate_errors(),
            _store(self).open_output_stream(_path(self), compression=None) as stream,
        ):
            while chunk := source.read(_BUFFER):
                stream.write(chunk)

    def unlink(self) -> None:
        """Remove the object. An empty folder may be left, which no store counts as anything."""
        with translate_errors():
            _store(self).delete_file(_path(self))

    def check_new(self) -> None:
        if not self.key:
            raise ReleaseError(f"{self} is a whole bucket: name a folder in it")
        try:
            taken = self.is_file() or bool(self.files())
        except StoreError as error:
            raise _write_error(self, error) from None
        if taken:
            raise ReleaseError(f"{self} exists already: name a folder that does not")

    def check_file_names(self, names: Iterable[str]) -> None:
        if any(len((self / name).key.encode()) > _LONGEST_KEY for name in names):
            raise too_long(_LONGEST_KEY)
        with self.claim():
            pass

    @contextmanager
    def new_folder(self, what: str, *, mode: int) -> Iterator[Path]:
        """A store renames nothing: all files go up, and the one that counts last."""
        if mode & 0o007 == 0:
            raise ReleaseError(f"the {what} is not written to an object store: name a directory")
        try:
            with working_directory() as partial:
                yield partial
                with self.claim() as claim:
                    _upload(partial, self, claim)
        except StoreError as error:
            raise ReleaseError(
                f"the {what} cannot be written to {self}: {error_text(error)}. "
                f"Remove what is left there; without {LAST} it is no release"
            ) from None
        except OSError as error:
            raise ReleaseError(
                f"the {what} cannot be made in the temporary directory: {reason(error)}"
            ) from None

    @contextmanager
    def claim(self) -> Iterator[str]:
        """Hold a folder against others who write there; gives the name of the claim.

        Whoever comes puts a claim of his own there first, and then looks: of two who come at once,
        at least one sees the other and goes. That is so in every store whose listings show what was
        just written, as those of Amazon, Google and Microsoft do.
        """
        self.check_new()
        claim = self / f"{_CLAIM}{secrets.token_hex(8)}"
        try:
            _put_object(claim, self)
            yield claim.name
        finally:
            with suppress(StoreError):
                claim.unlink()

    def discard(self, names: Iterable[str]) -> None:
        """Remove the files of these names, what makes it a release first, as far as possible."""
        for name in sorted(names, key=lambda name: name != LAST):
            try:
                (self / name).unlink()
            except FileNotFoundError:
                continue
            except StoreError:
                return  # each try takes seconds where the store is gone

    def _check(self) -> None:
        if self.seen and _version(_store(self).get_file_info(_path(self))) != self.seen:
            raise StoreError(errno.ESTALE, "it was changed meanwhile: run again")


def is_known(url: str) -> bool:
    """Whether it names a place in a store that this program can look at itself."""
    found = _URL.match(url)
    return found is not None and _SAME.get(found[1].lower(), found[1].lower()) in _KNOWN


def _remote(text: str) -> Remote:
    """The place that a URL names."""
    whole = _OPTIONS.split(text, maxsplit=1)
    found = _URL.fullmatch(whole[0])
    assert found is not None  # noqa: S101
    made = Remote(
        scheme=found[1].lower(),
        authority=found[2],
        key=found[3].strip("/"),
        options=whole[1] if len(whole) > 1 else "",
    )
    # A secret with a slash in it would be cut there, and its beginning taken for the bucket.
    if not made.authority or ":" in made.host:
        raise UsageError(
            "a URL looks like s3://bucket/folder; in credentials that stand in it / is written as "
            "%2F (better: leave them to the environment)"
        )
    return made


for _name in (*_KNOWN, *_SAME):
    register(Scheme(_name, _remote))


def _address(place: Remote) -> str:
    options = place.options
    if place.store == "gs" and "retry_limit_seconds" not in options:
        options = "&".join(filter(None, [options, _PATIENCE]))
    return f"{place.store}://{place.authority}/" + (f"?{options}" if options else "")


def _store(place: Remote) -> Any:
    return connect(_address(place))[0]


def _path(place: Remote) -> str:
    """The name by which the store's file system knows it."""
    return "/".join(filter(None, [connect(_address(place))[1].strip("/"), place.key]))


def _kind(place: Remote) -> str:
    with translate_errors():
        return str(_store(place).get_file_info(_path(place)).type.name)


def _version(info: Any) -> str:
    return f"{info.size} {info.mtime_ns}"


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """As a shell matches: * stays in its folder, ** goes through any, neither sees hidden names."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        deeper = bool(parts) and not parts[0].startswith(".") and _matches(parts[1:], pattern)
        return deeper or _matches(parts, pattern[1:])
    if not parts or (parts[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _put_object(claim: Remote, target: Remote) -> None:
    try:
        claim.write_bytes(b"")
        there = [each.name for each in target.files()]
    except StoreError as error:
        raise _write_error(target, error) from None
    if there != [claim.name]:
        raise ReleaseError(f"somebody else is writing to {target}: name another folder")


def _upload(folder: Path, target: Remote, claim: str) -> None:
    """All files, and when they are seen to be there, the one that makes them a release."""
    sizes = {each.name: each.stat().st_size for each in folder.iterdir()}
    names = sorted(sizes, key=lambda name: (name == LAST, name))
    try:
        for name in names:
            if name == LAST:
                _check_whole(target, {each: sizes[each] for each in names[:-1]} | {claim: 0})
                (target / name).write_bytes((folder / name).read_bytes())
            else:
                (target / name).upload(folder / name)
    except BaseException:
        target.discard(names)
        raise


def _check_whole(target: Remote, sizes: dict[str, int]) -> None:
    there = {each.name: int(each.seen.split()[0]) for each in target.files()}
    if there != sizes:
        raise ReleaseError(f"{target} does not hold what was written: somebody else writes there")


def _write_error(target: Remote, error: StoreError) -> ReleaseError:
    return ReleaseError(f"nothing can be written to {target}: {error_text(error)}")
