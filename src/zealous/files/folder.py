"""A new directory, written whole or not at all; in an object store, with release.json last."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zealous.errors import ReleaseError, reason
from zealous.files.places import Place, Remote, StoreError, why
from zealous.files.scratch import working_directory

LAST = "release.json"  # a directory without it is no release
_CLAIM = ".zealous-writing-"


def check_new(target: Place) -> None:
    """Nothing is ever overwritten."""
    if isinstance(target, Remote):
        if not target.key:
            raise ReleaseError(f"{target} is a whole bucket: name a folder in it")
        try:
            taken = target.is_file() or bool(target.files())
        except StoreError as error:
            raise _unwritable(target, error) from None
        if taken:
            raise ReleaseError(f"{target} exists already: name a folder that does not")
        return
    if os.path.lexists(target):
        raise ReleaseError(f"{target} exists already: name a directory that does not")
    if not target.parent.is_dir():
        raise ReleaseError(f"{target.parent} is not a directory: make it first")


@contextmanager
def new_folder(target: Place, what: str, *, mode: int = 0o755) -> Iterator[Path]:
    """A private directory to write into, which takes its name once all of it is on the disk.

    Args:
        target: The name; must not exist yet.
        what: What is written, for the message where it cannot be.
        mode: Who may look into it.
    """
    if isinstance(target, Remote):
        with _new_in_store(target, what, mode) as local:
            yield local
        return
    check_new(target)
    try:
        with working_directory(target.parent, hidden=True) as partial:
            yield partial
            partial.chmod(mode)
            for each in (*partial.iterdir(), partial):
                sync(each)
            check_new(target)
            partial.rename(target)
    except OSError as error:
        raise ReleaseError(
            f"the {what} cannot be written to {target}: {reason(error)}; nothing was left behind"
        ) from None
    with suppress(OSError):  # it is there; some file systems sync no directories
        sync(target.parent)


@contextmanager
def _new_in_store(target: Remote, what: str, mode: int) -> Iterator[Path]:
    """The same in a store, which renames nothing: all files go up, and the one that counts last."""
    if mode & 0o007 == 0:
        raise ReleaseError(f"the {what} is not written to an object store: name a directory")
    try:
        with working_directory() as partial:
            yield partial
            with claimed(target) as claim:
                _upload(partial, target, claim)
    except StoreError as error:
        raise ReleaseError(
            f"the {what} cannot be written to {target}: {why(error)}. Remove what is left there; "
            f"without {LAST} it is no release"
        ) from None
    except OSError as error:
        raise ReleaseError(
            f"the {what} cannot be made in the temporary directory: {reason(error)}"
        ) from None


@contextmanager
def claimed(target: Remote) -> Iterator[str]:
    """Hold a folder of a store against others who write there; gives the name of the claim.

    Whoever comes puts a claim of his own there first, and then looks: of two who come at once, at
    least one sees the other and goes. That is so in every store whose listings show what was just
    written, as those of Amazon, Google and Microsoft do.
    """
    check_new(target)
    claim = target / f"{_CLAIM}{secrets.token_hex(8)}"
    try:
        _put(claim, target)
        yield claim.name
    finally:
        with suppress(StoreError):
            claim.unlink()


def _put(claim: Remote, target: Remote) -> None:
    try:
        claim.write_bytes(b"")
        there = [each.name for each in target.files()]
    except StoreError as error:
        raise _unwritable(target, error) from None
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
        discard(target, names)
        raise


def _check_whole(target: Remote, sizes: dict[str, int]) -> None:
    there = {each.name: int(each.seen.split()[0]) for each in target.files()}
    if there != sizes:
        raise ReleaseError(f"{target} does not hold what was written: somebody else writes there")


def discard(target: Place, names: Iterable[str] = ()) -> None:
    """Remove a directory as far as possible; of one in a store the files of these names.

    What makes it a release goes first.
    """
    if isinstance(target, Path):
        shutil.rmtree(target, ignore_errors=True)
        return
    for name in sorted(names, key=lambda name: name != LAST):
        try:
            (target / name).unlink()
        except FileNotFoundError:
            continue
        except StoreError:
            return  # each try takes seconds where the store is gone


def _unwritable(target: Remote, error: StoreError) -> ReleaseError:
    return ReleaseError(f"nothing can be written to {target}: {why(error)}")


def sync(path: Path) -> None:
    """Have a file or a directory's list of files on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
