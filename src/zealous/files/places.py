"""A file or folder in an object store, named by a URL: S3, Google Cloud Storage, Azure.

Its name is shown without credentials and options. What the store answers is never quoted: what goes
wrong becomes an `OSError` in plain words.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from zealous.errors import UsageError, reason
from zealous.libraries import pa, pafs

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/?]*)/?(.*)", re.DOTALL)
# A question mark begins options only where a name follows; elsewhere it is part of a pattern.
_OPTIONS = re.compile(r"\?(?=[A-Za-z_]+=)")
_MAGIC = re.compile(r"[*?[]")
# Names that other programs have for the same stores.
_SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs"}
_KNOWN = ("s3", "gs", "abfs")
_PATIENCE = "retry_limit_seconds=60"  # Google's client would try for a quarter of an hour
_BUFFER = 1 << 23


class StoreError(OSError):
    """What an object store could not do, in words that quote nothing it answered."""


class _Missing(StoreError, FileNotFoundError):
    """There is nothing of that name."""


class _Denied(StoreError, PermissionError):
    """The store does not let us."""


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
        """The last part."""
        return self.key.rpartition("/")[2] or self.host

    @property
    def suffix(self) -> str:
        """The ending of the name."""
        return PurePosixPath(self.name).suffix

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return PurePosixPath(self.name).stem

    @property
    def parent(self) -> Remote:
        """The folder it is in; that of a bucket is the bucket."""
        return replace(self, key=self.key.rpartition("/")[0], seen="")

    @property
    def parents(self) -> tuple[Remote, ...]:
        """The folders above, the nearest first, the bucket last."""
        return () if not self.key else (self.parent, *self.parent.parents)

    def is_file(self) -> bool:
        """Whether there is such an object."""
        return bool(_kind(self) == "File")

    def find(self) -> tuple[bool, list[Remote]]:
        """The files of a file, a folder or a pattern, in order, and whether it is a folder."""
        with _plainly():
            info = _store(self).get_file_info(_path(self))
        if info.type.name == "File":
            return False, [replace(self, seen=_version(info))]
        if info.type.name == "Directory":
            return True, self.files()
        parts = self.key.split("/")
        fixed = next((i for i, part in enumerate(parts) if _MAGIC.search(part)), None)
        if fixed is None:
            if _kind(replace(self, key="")) == "NotFound":
                raise _Missing(errno.ENOENT, "there is no such bucket")
            return False, []
        folder = replace(self, key="/".join(parts[:fixed]))
        inside = folder.files(deep=fixed < len(parts) - 1)
        return False, [e for e in inside if _matches(e.below(folder), parts[fixed:])]

    def files(self, *, deep: bool = True) -> list[Remote]:
        """The files in a folder, by name; none where there is no such folder."""
        with _plainly():
            store, root = _connected(_address(self))
            where = pafs.FileSelector(_path(self), recursive=deep, allow_not_found=True)
            infos = [each for each in store.get_file_info(where) if each.type.name == "File"]
        start = len(root) + 1 if root else 0
        found = [replace(self, key=e.path[start:], seen=_version(e)) for e in infos]
        return sorted(found, key=lambda each: each.key.split("/"))

    def below(self, folder: Remote) -> tuple[str, ...]:
        """The parts of the name from a folder on."""
        return tuple(self.key.removeprefix(folder.key).strip("/").split("/"))

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """The object, to be read anywhere: an Arrow file."""
        with _plainly():
            self._check()
            file = _store(self).open_input_file(_path(self))
        with file:
            yield file

    @contextmanager
    def stream(self, codec: str | None, buffer: int = _BUFFER) -> Iterator[Any]:
        """The object, to be read from its beginning, unpacked: an Arrow stream.

        Args:
            codec: How it is packed; None for not at all.
            buffer: How much is asked for at once.
        """
        with _plainly():
            self._check()
            stream = _store(self).open_input_stream(
                _path(self), compression=codec, buffer_size=buffer
            )
        with stream:
            yield stream

    def check_same(self) -> None:
        """Raise if the object is no longer the one that was found."""
        with _plainly():
            self._check()

    def read_bytes(self) -> bytes:
        """All of it."""
        with self.opened() as file, _plainly():
            return bytes(file.read())

    def write_bytes(self, content: bytes) -> None:
        """Put it there in one piece; what is there already is replaced."""
        with _plainly(), _store(self).open_output_stream(_path(self), compression=None) as stream:
            stream.write(content)

    def upload(self, file: Path) -> None:
        """Put a file of this machine there."""
        with (
            file.open("rb") as source,
            _plainly(),
            _store(self).open_output_stream(_path(self), compression=None) as stream,
        ):
            while chunk := source.read(_BUFFER):
                stream.write(chunk)

    def unlink(self) -> None:
        """Remove the object. An empty folder may be left, which no store counts as anything."""
        with _plainly():
            _store(self).delete_file(_path(self))

    def _check(self) -> None:
        if self.seen and _version(_store(self).get_file_info(_path(self))) != self.seen:
            raise StoreError(errno.ESTALE, "it was changed meanwhile: run again")


Place = Path | Remote


def is_known(url: str) -> bool:
    """Whether it names a place in a store that this program can look at itself."""
    found = _URL.match(url)
    return found is not None and _SAME.get(found[1].lower(), found[1].lower()) in _KNOWN


def member(folder: Place, name: object) -> Place:
    """A file of a folder whose name somebody else chose: in that folder, and nowhere else.

    Raises:
        ValueError: The name leads out of the folder, or is no name of a file.
    """
    if not isinstance(name, str) or name in ("", ".", "..") or set(name) & set("/\\\0"):
        raise ValueError("not the name of a file in that folder")
    name.encode()  # half of a character raises one too
    place = folder / name
    if isinstance(place, Path) and place.is_symlink():
        raise ValueError("not a file of that folder's own")
    return place


def place_of(text: str | Place) -> Place:
    """A path of this machine, or a place in an object store; `file://` is this machine."""
    if isinstance(text, Remote):
        return text
    if isinstance(text, Path):
        scheme = text.parts[0].removesuffix(":") if text.parts else ""
        if text.parts and text.parts[0].endswith(":") and _SAME.get(scheme, scheme) in _KNOWN:
            raise UsageError("give a URL as a text: a Path loses one of its slashes")
        return text
    found = _URL.fullmatch(text)
    if found is None:
        return Path(text)
    scheme, authority, rest = found[1].lower(), found[2], found[3]
    if scheme == "file":
        return Path("/" + rest)
    whole = _OPTIONS.split(text, maxsplit=1)
    found = _URL.fullmatch(whole[0])
    assert found is not None  # noqa: S101
    made = Remote(
        scheme=scheme,
        authority=authority,
        key=found[3].strip("/"),
        options=whole[1] if len(whole) > 1 else "",
    )
    # A secret with a slash in it would be cut there, and its beginning taken for the bucket.
    port = made.store not in _KNOWN and re.search(r":\d+$", made.host)
    if not authority or (":" in made.host and not port):
        raise UsageError(
            "a URL looks like s3://bucket/folder; in credentials that stand in it / is written as "
            "%2F (better: leave them to the environment)"
        )
    return made


@contextmanager
def opened(place: Place) -> Iterator[Any]:
    """What Arrow reads a file from, here or in a store."""
    if isinstance(place, Path):
        yield place
    else:
        with place.opened() as file:
            yield file


def why(error: OSError) -> str:
    """What went wrong, without any name that the system's own message quotes."""
    return str(error.strerror) if isinstance(error, StoreError) else reason(error)


def plain(error: BaseException) -> StoreError:
    """What a store's own error means; its text may hold names and addresses."""
    if isinstance(error, StoreError):
        return error
    text = str(error)
    for pattern, kind, number, words in _MEANINGS:
        if re.search(pattern, text, re.IGNORECASE):
            return kind(number, words)
    code = re.search(r"AWS Error ([A-Z_]+)", text)
    said = f" ({code[1]})" if code else ""
    return StoreError(errno.EIO, f"the object store gave an error{said}")


_MEANINGS: tuple[tuple[str, type[StoreError], int, str], ...] = (
    (r"NO_SUCH_BUCKET|ContainerNotFound|bucket does not exist",
     _Missing, errno.ENOENT, "there is no such bucket"),
    (r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE_DOES|INVALID_CLIENT_TOKEN|EXPIRED_?TOKEN|"
     r"INVALID_TOKEN|UNRECOGNIZED_CLIENT|MISSING_AUTHENTICATION|PERMISSION_DENIED|UNAUTHENTICATED|"
     r"Authentication|Authorization|credential",
     _Denied, errno.EACCES, "no permission: see the credentials and the rights on the bucket"),
    (r"NO_SUCH_KEY|RESOURCE_NOT_FOUND|NOT_FOUND|Path does not exist|BlobNotFound",
     _Missing, errno.ENOENT, "there is no such object"),
    (r"NETWORK_CONNECTION|curl|connect|resolve host|UNAVAILABLE|timed? ?out|DEADLINE",
     StoreError, errno.EHOSTUNREACH, "the object store cannot be reached"),
)  # fmt: skip


@contextmanager
def _plainly() -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise plain(error) from None


@lru_cache(maxsize=64)
def _connected(address: str) -> tuple[Any, str]:
    """The store's file system, and what stands before every key in it."""
    scheme = address.partition(":")[0]
    if scheme not in _KNOWN:
        raise UsageError(
            f"{scheme}:// cannot be read or written by one machine's engine: s3://, gs:// and "
            "abfs:// can; for others, if the cluster knows them, say --engine spark"
        )
    try:
        store, root = pafs.FileSystem.from_uri(address)
    except (pa.ArrowInvalid, NotImplementedError):  # its message quotes the whole URL
        raise UsageError(
            f"the URL is not one that {scheme}:// can have: see its options in the documentation"
        ) from None
    return store, root


def _address(place: Remote) -> str:
    options = place.options
    if place.store == "gs" and "retry_limit_seconds" not in options:
        options = "&".join(filter(None, [options, _PATIENCE]))
    return f"{place.store}://{place.authority}/" + (f"?{options}" if options else "")


def _store(place: Remote) -> Any:
    return _connected(_address(place))[0]


def _path(place: Remote) -> str:
    """The name by which the store's file system knows it."""
    return "/".join(filter(None, [_connected(_address(place))[1].strip("/"), place.key]))


def _kind(place: Remote) -> str:
    with _plainly():
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
