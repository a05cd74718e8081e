"""Where the ledger of a log is, and where a ledger cannot be."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from zealous.errors import LedgerError, Refused
from zealous.files.places import Place, place_of

FILE_NAME = "zealous-ledger.sqlite"

# Several machines may share these, and SQLite's locks and its shared memory end at one machine.
_REMOTE = frozenset({
    "9p", "acfs", "afs", "autofs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "gfs2",
    "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "prl_fs", "pvfs2",
    "smb", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs", "wekafs",
})  # fmt: skip
# Some virtual machines have these for their own disk.
_OWN_WHEN_ROOT = frozenset({"9p", "virtiofs"})
# A file system in user space may be anything; these are known to end in a local one.
_LOCAL_FUSE = frozenset(
    {
        "fuse.bindfs",
        "fuse.encfs",
        "fuse.exfat",
        "fuse.fuse-overlayfs",
        "fuse.gocryptfs",
        "fuse.mergerfs",
        "fuse.ntfs",
        "fuse.ntfs-3g",
    }
)
_LONGEST_NAME = 200
_MOUNTS = Path("/proc/self/mountinfo")


def ledger_path(paths: Iterable[str | Path | Place]) -> Path:
    """The ledger of a log: the nearest one in its folder or above, else a new one beside it.

    As git finds its repository. Links are followed first, so a log has one ledger by whatever name
    it is reached. All files of the log must lead to the same ledger: a log that is half in the
    care of one would be charged in a place where the other half is not looked for later. Where the
    log's folder is read-only, or in an object store, a new one goes into the user's own folder for
    such things, under that folder's name.

    Args:
        paths: The files and folders of the log.
    """
    places = [place_of(path) for path in paths]
    found = existing_ledger(places)
    if found is not None:
        return found
    common = _common_folder(places)
    if common is None:
        raise Refused(
            "the files of the log have no folder in common for a ledger: name one with "
            "--ledger FILE"
        )
    folder = common.local()
    if folder is not None and _is_writable(folder):
        return folder / FILE_NAME
    return _path_in_user_state(common)


def _common_folder(places: Sequence[Place]) -> Place | None:
    """The nearest folder that all are in; None where there is none but a whole disk."""
    first, *others = (each.folders() for each in places)
    known = [{folder.identity() for folder in folders} for folders in others]
    shared = (each for each in first if all(each.identity() in names for names in known))
    return next(shared, None)


def ensure_folder(path: Path) -> Path:
    """Make the folder of a path that `ledger_path` found, and give the path.

    A folder that somebody named must be there: it is not made.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise LedgerError(
            f"a ledger cannot be made at {path}: name a place with --ledger FILE"
        ) from None
    return path


def existing_ledger(paths: Iterable[str | Path | Place]) -> Path | None:
    """The ledger that is there for all files of a log, or None."""
    places = [place_of(path) for path in paths]
    # Whether it is a folder is not asked: a ledger is looked for there and above.
    found = {_nearest_ledger(each.resolve()) for each in places}
    if not found:
        raise LedgerError("no log given, so no ledger can be found: name one with --ledger FILE")
    if len(found) == 1:
        return found.pop()
    known = sorted(str(each) for each in found if each is not None)
    if len(known) > 1:
        raise Refused(
            f"the files of the log have different ledgers ({', '.join(known)}): name the one of "
            "these people with --ledger FILE"
        )
    raise Refused(
        f"a part of the log has the ledger {known[0]} and the rest has none: name that one with "
        "--ledger FILE, or move it to a folder above all of them"
    )


def ledgers_above(paths: Iterable[str | Path | Place]) -> list[Path]:
    """All ledgers in the folders of a log and above, not the nearest alone."""
    found = [file for path in paths for file in _ledgers_from(place_of(path).resolve())]
    return list(dict.fromkeys(found))


def find_ledger(where: Place) -> Path:
    """The ledger that is named, or that of the log or folder that is named.

    Raises:
        LedgerError: There is none.
    """
    found = named_ledger(where) or existing_ledger([check_exists(where)])
    if found is None:
        raise LedgerError(f"{where} has no ledger: make one with `zealous ledger init {where}`")
    return found


def log_name(log: Sequence[Place], ledger: Path | None) -> str:
    """What a log is called in a ledger: its file, or the folder of its files.

    Seen from the folder of the ledger, so that both can be moved. No text of the log is in it.
    """
    first = log[0].resolve()
    place = first if len(log) == 1 else _common_folder(log) or first
    local, name = place.local(), str(place)
    if local is not None and ledger is not None:
        folder = ledger.resolve().parent
        name = local.relative_to(folder).as_posix() if local.is_relative_to(folder) else name
    readable = "".join(each if each.isprintable() else "?" for each in name)
    return readable[-_LONGEST_NAME:]


def is_above(ledger: Path, where: Place) -> bool:
    """Whether a ledger that was found for a place belongs to a folder above its own."""
    here = where.folders()[0]
    local = here.local()
    own = [_path_in_user_state(here), *([local / FILE_NAME] if local is not None else [])]
    return ledger.absolute() not in own


def named_ledger(where: Place) -> Path | None:
    """The ledger itself, if it is what was named."""
    local = where.local()
    if local is not None and (_is_ledger(local) or local.suffix == ".sqlite"):
        return local
    return None


def check_exists(where: Place) -> Place:
    """Refuse a name that nothing has, on this machine."""
    local = where.local()
    if local is not None and not local.exists():
        raise LedgerError(f"there is nothing at {where}: name a ledger, a log or a folder")
    return where


def check_local(path: Path) -> None:
    """Refuse a place where locks do not hold, so that a budget could be spent twice."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return  # not Linux: nothing to go by
    kind = remote_kind(path.resolve().parent, mounts)
    if kind is not None:
        raise Refused(
            f"the ledger {path} would be on a network or shared file system ({kind}), where "
            "SQLite's locks do not hold and a budget can be overspent: name a file on a disk of "
            "this machine with --ledger FILE, and publish from this machine only"
        )


def remote_kind(folder: Path, mounts: str) -> str | None:
    """The file system that a folder is on, if it is not this machine's own.

    Args:
        folder: An absolute path without links.
        mounts: The text of /proc/self/mountinfo.
    """
    best, kind = Path("/"), ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if len(fields) < 6 or not kinds[0]:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4]))
        # The last one mounted on the same point hides the others.
        if folder.is_relative_to(point) and point.is_relative_to(best):
            best, kind = point, kinds[0]
    kind = kind.lower()
    if kind in _OWN_WHEN_ROOT and best == Path("/"):
        return None
    unknown = (kind == "fuse" or kind.startswith("fuse.")) and kind not in _LOCAL_FUSE
    return kind if kind in _REMOTE or unknown else None


def _nearest_ledger(folder: Place) -> Path | None:
    return next(_ledgers_from(folder), None)


def _ledgers_from(folder: Place) -> Iterator[Path]:
    for each in (folder, *folder.parents):
        here = each.local()
        for file in (*([here / FILE_NAME] if here else []), _path_in_user_state(each)):
            # Also a link that leads nowhere: the ledger is missing then, and not to be made anew.
            if os.path.lexists(file):
                yield file


def _is_ledger(where: Path) -> bool:
    """By its contents: a log could have any name."""
    try:
        with where.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _is_writable(folder: Path) -> bool:
    """Whether things may be put into a folder: what is read-only for all is so for root too."""
    return os.access(folder, os.W_OK) and bool(folder.stat().st_mode & 0o222)


def state_folder() -> Path:
    """The user's own folder for what programs keep."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(state).absolute() / "zealous"


def _path_in_user_state(folder: Place) -> Path:
    """The ledger of a folder that takes none, in the user's own one."""
    digest = hashlib.sha256(folder.identity()).hexdigest()[:16]
    return state_folder() / f"{folder.name}-{digest}" / FILE_NAME
