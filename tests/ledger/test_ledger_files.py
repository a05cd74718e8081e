"""The file of a ledger: how it is written, what is left alone, where it is looked for."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from ledgers import charge

from zealous.errors import LedgerError, Refused
from zealous.ledger import (
    FILE_NAME,
    Ledger,
    ledger_path,
    store,
)
from zealous.ledger.location import remote_kind


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / FILE_NAME, create=True, by="her")


def test_the_file_is_in_wal_mode_and_left_alone_between_operations(ledger: Ledger) -> None:
    ledger.reserve("march", charge())
    assert [path.name for path in ledger.path.parent.iterdir()] == [FILE_NAME]
    connection = sqlite3.connect(ledger.path)
    assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"user,query\n1,tea\n" * 100, "not a ledger"),
        (b"SQLite format 3\0" + bytes(5000), "cannot be used"),
    ],
)
def test_what_is_no_ledger_is_left_alone(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(content)
    for create in (True, False):
        with pytest.raises(LedgerError, match=said):
            Ledger.open(path, create=create)
    assert path.read_bytes() == content
    assert len(list(tmp_path.iterdir())) == 1


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "other.sqlite")
    connection.execute("create table events (seq, body, hash)")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerError, match="another program"):
        Ledger.open(tmp_path / "other.sqlite", create=True)


def test_a_damaged_page_is_found(ledger: Ledger) -> None:
    for number in range(40):
        ledger.reserve(f"r{number}", charge("1/100"))
    content = bytearray(ledger.path.read_bytes())
    content[3 * 4096 : 3 * 4096 + 200] = b"\xff" * 200
    ledger.path.write_bytes(content)
    assert ledger.verify() != []
    with pytest.raises(LedgerError):
        ledger.reserve("more", charge())


def test_a_lock_that_is_kept_too_long(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.WAIT_SECONDS >= 60
    monkeypatch.setattr(store, "WAIT_SECONDS", 0.2)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(LedgerError, match="locked too long"):
        ledger.reserve("march", charge())
    assert ledger.history() == ()  # reading goes on
    other.execute("rollback")
    other.close()
    ledger.reserve("march", charge())


def test_no_ledger_is_made_where_none_was_asked_for(tmp_path: Path) -> None:
    for path in (tmp_path / FILE_NAME, tmp_path / "no" / FILE_NAME, tmp_path):
        with pytest.raises(LedgerError):
            Ledger.open(path)
    with pytest.raises(LedgerError):
        Ledger.open(tmp_path / "no" / FILE_NAME, create=True)
    assert not list(tmp_path.iterdir())


def test_the_nearest_ledger_above_a_log(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    log = tmp_path / "a" / "b" / "log.csv"
    log.touch()
    assert ledger_path([log]) == tmp_path / "a" / "b" / FILE_NAME  # a new one, beside the log
    for above in (tmp_path, tmp_path / "a", tmp_path / "a" / "b"):
        (above / FILE_NAME).touch()
        assert ledger_path([log]) == ledger_path([log.parent]) == above / FILE_NAME


def test_a_log_has_one_ledger_by_whatever_name_it_is_reached(tmp_path: Path) -> None:
    (tmp_path / "true").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "true" / "log.csv").touch()
    (tmp_path / "true" / FILE_NAME).touch()
    (tmp_path / "other" / "link.csv").symlink_to(tmp_path / "true" / "log.csv")
    (tmp_path / "folder").symlink_to(tmp_path / "true")
    names = [tmp_path / "other" / "link.csv", tmp_path / "folder", tmp_path / "folder" / "log.csv"]
    assert {ledger_path([name]) for name in names} == {tmp_path / "true" / FILE_NAME}


def test_files_of_several_folders(tmp_path: Path) -> None:
    logs = [tmp_path / name / "log.csv" for name in ("a", "b")]
    for log in logs:
        log.parent.mkdir()
        log.touch()
    assert ledger_path(logs) == tmp_path / FILE_NAME
    (tmp_path / "a" / FILE_NAME).touch()
    with pytest.raises(Refused, match="the rest has none"):
        ledger_path(logs)
    (tmp_path / "b" / FILE_NAME).touch()
    with pytest.raises(Refused, match="different ledgers"):
        ledger_path(logs)


def test_a_ledger_that_is_a_dead_link_is_not_made_anew(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).symlink_to(tmp_path / "gone.sqlite")
    assert ledger_path([tmp_path]) == tmp_path / FILE_NAME
    with pytest.raises(LedgerError, match="no ledger at"):
        Ledger.open(ledger_path([tmp_path]), create=True)


def test_logs_with_nothing_in_common_need_a_name() -> None:
    with pytest.raises(Refused, match="no folder in common"):
        ledger_path(["/usr", "/etc"])


MOUNTS = """\
20 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
21 20 0:5 / /home/with\\040space rw - nfs4 server:/home rw
22 20 0:6 / /shared rw - cifs //server/x rw
23 22 0:7 / /shared/local rw master:2 - xfs /dev/vdb rw
24 20 0:8 / /over rw - nfs server:/y rw
25 24 0:9 / /over rw - tmpfs tmpfs rw
26 20 0:10 / /remote rw - fuse.sshfs her@there: rw
27 20 0:11 / /unknown rw - fuse.somethingnew x rw
28 20 0:12 / /layers rw - fuse.fuse-overlayfs x rw
29 20 0:13 / /disk rw - fuseblk /dev/sda1 rw
30 20 0:14 / /guest rw - 9p share rw
broken line
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/data", None),
        ("/", None),
        ("/home/with space/logs", "nfs4"),
        ("/home/without", None),
        ("/shared", "cifs"),
        ("/shared/x", "cifs"),
        ("/shared2", None),
        ("/shared/local/x", None),
        ("/over/x", None),
        ("/remote/x", "fuse.sshfs"),
        ("/unknown", "fuse.somethingnew"),
        ("/layers", None),
        ("/disk", None),
        ("/guest/x", "9p"),
    ],
)
def test_network_mounts_are_recognised(folder: str, kind: str | None) -> None:
    assert remote_kind(Path(folder), MOUNTS) == kind


def test_the_own_disk_of_a_virtual_machine_is_local() -> None:
    assert remote_kind(Path("/x"), "1 0 0:1 / / rw - virtiofs root rw\n") is None
    assert remote_kind(Path("/x"), "1 0 0:1 / / rw - nfs root rw\n") == "nfs"
    assert remote_kind(Path("/x"), "") is None
