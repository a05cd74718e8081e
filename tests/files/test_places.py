"""Object stores, against a local S3 server: logs read from it, releases written to it."""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from conftest import Run

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import LogError, Refused, ReleaseError, UsageError
from zealous.files import folder
from zealous.files import object_store as module
from zealous.files.delimited import Delimited
from zealous.files.lines import Skipped
from zealous.files.object_store import Remote, _matches, is_known
from zealous.files.places import StoreError, place_of
from zealous.files.staging import stage
from zealous.files.store_access import connect
from zealous.ledger import Ledger
from zealous.ledger.location import existing_ledger, ledger_path
from zealous.logs.log import Log, is_anonymized, read_log
from zealous.logs.open_log import open_log
from zealous.release.account import Account
from zealous.release.bundle import Release, check_writable, read_release

KEY, SECRET = "AKIAEXAMPLE", "q7Zx4v/Lw9s/Kp3+tY8u"
SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").disabled = True
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()  # until whoever started it is gone
"""
GOAL = z.Indistinguishability(epsilon=2_000, delta="0.5")
ROWS = [(f"u{number}", ["Green Tea", "shoes"][number % 2]) for number in range(40)]
TSV = "user\tquery\n" + "".join(f"{user}\t{query}\n" for user, query in ROWS)


@pytest.fixture(scope="session")
def server() -> Iterator[int]:
    """The port of an S3 server of its own process."""
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.kill()


class Bucket:
    """A bucket, looked at without any of the code under test."""

    def __init__(self, port: int, name: str) -> None:
        self.name = name
        self.store = pafs.S3FileSystem(
            access_key=KEY,
            secret_key=SECRET,
            endpoint_override=f"http://127.0.0.1:{port}",
            region="us-east-1",
            allow_bucket_creation=True,
            allow_delayed_open=True,
        )
        self.store.create_dir(name)

    def put(self, key: str, content: bytes | str) -> str:
        data = content.encode() if isinstance(content, str) else content
        with self.store.open_output_stream(f"{self.name}/{key}", compression=None) as stream:
            stream.write(data)
        return self.url(key)

    def url(self, key: str) -> str:
        return f"s3://{self.name}/{key}"

    def there(self) -> list[str]:
        infos = self.store.get_file_info(pafs.FileSelector(self.name, recursive=True))
        return sorted(e.path.removeprefix(f"{self.name}/") for e in infos if e.is_file)

    def read(self, key: str) -> bytes:
        with self.store.open_input_file(f"{self.name}/{key}") as file:
            return bytes(file.read())


@pytest.fixture
def bucket(server: int, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Bucket:
    """A bucket of the test's own, known to the environment as a user's would be."""
    for name in [each for each in os.environ if each.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    connect.cache_clear()
    return Bucket(server, f"bucket-{abs(hash(request.node.name)):x}"[:40])


def made(log: Log, **options: Any) -> Release:
    return z.publish(log, GOAL, [z.queries(items_per_user=2)], account=None, **options)


def remote(text: str) -> Remote:
    found = place_of(text)
    assert isinstance(found, Remote)
    return found


@pytest.fixture
def release(tmp_path: Path) -> Release:
    path = tmp_path / "log.tsv"
    path.write_text(TSV)
    return made(read_log(path))


def impatient(monkeypatch: pytest.MonkeyPatch, bucket: Bucket, port: int) -> None:
    """Reach the store through a port, and try nothing again, which would take many seconds."""
    store = pafs.S3FileSystem(
        access_key=KEY,
        secret_key=SECRET,
        endpoint_override=f"http://127.0.0.1:{port}",
        region="us-east-1",
        retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=1),
    )
    monkeypatch.setattr(module, "connect", lambda _: (store, bucket.name))


# --- names


def test_a_name_without_credentials_and_options() -> None:
    url = "s3://AKIA:se%2Fcret@logs/2026/a.tsv.gz?region=eu-west-1&endpoint_override=127.0.0.1:9"
    found = remote(url)
    assert str(found) == "s3://logs/2026/a.tsv.gz"
    assert "cret" not in repr(found)
    assert "eu-west" not in repr(found)
    assert (found.name, found.stem, found.suffix) == ("a.tsv.gz", "a.tsv", ".gz")
    assert str(found.parent / "b") == "s3://logs/2026/b"
    assert [str(each) for each in found.parents] == ["s3://logs/2026", "s3://logs"]
    assert (found.parent / "b").authority == found.authority
    assert str(remote("s3://logs")) == str(remote("s3://logs/")) == "s3://logs"
    assert str(remote("abfss://logs:word@me.dfs.core.windows.net/a")) == (
        "abfss://logs@me.dfs.core.windows.net/a"
    )
    assert remote("s3://logs/day-?.tsv").key == "day-?.tsv"
    assert remote("s3://logs/a%20b#c").key == "a%20b#c"


def test_what_is_here_and_what_is_elsewhere() -> None:
    assert place_of("logs/a.tsv") == Path("logs/a.tsv")
    assert place_of("file:///logs/a.tsv") == Path("/logs/a.tsv")
    assert is_known("s3a://bucket/logs")
    assert not is_known("file:///logs/a.tsv")
    assert not is_known("hdfs://name:8020/logs")
    assert not is_known("c:/logs")
    with pytest.raises(UsageError, match="as a text"):
        place_of(Path("s3://logs/a.tsv"))
    with pytest.raises(UsageError, match="by engine"):
        read_log("hdfs://name:8020/logs")


@pytest.mark.parametrize("secret", ["s3cr/et", "123/et", "a?et=1"])
def test_half_a_secret_is_not_taken_for_a_bucket(secret: str) -> None:
    with pytest.raises(UsageError, match="%2F") as raised:
        place_of(f"s3://AKIA:{secret}@logs/a.tsv")
    assert not any(part in str(raised.value) for part in ("AKIA", "s3cr", "123", "et="))


def test_patterns_match_as_those_of_files_do(tmp_path: Path) -> None:
    names = ["a.tsv", "b.tsv", "b.csv", ".h.tsv", "x/a.tsv", "x/y/a.tsv", "x/.y/a.tsv", "[.tsv"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for pattern in ("*.tsv", "?.[tc]sv", "**/*.tsv", "x/**", "*/a.tsv", "**", ".*", "[[].tsv"):
        import glob

        there = glob.glob(pattern, root_dir=tmp_path, recursive=True)
        wanted = {each for each in there if (tmp_path / each).is_file()}
        found = {name for name in names if _matches(name.split("/"), pattern.split("/"))}
        assert found == wanted, pattern


# --- logs


def test_text_logs_of_a_file_a_folder_and_a_pattern(bucket: Bucket, tmp_path: Path) -> None:
    head, *lines = TSV.splitlines(keepends=True)
    bucket.put("logs/1.tsv", head + "".join(lines[:20]))
    bucket.put("logs/deep/2.tsv.gz", gzip.compress((head + "".join(lines[20:])).encode()))
    bucket.put("logs/_SUCCESS", "")
    bucket.put("logs/.hidden/3.tsv", "no log")
    bucket.put("logs/old/release.json", "{}")
    bucket.put("logs/old/queries.csv", "query,count\n")
    local = tmp_path / "log.tsv"
    local.write_text(TSV)
    wanted = made(read_log(local), seed=1).tables["queries"].arrow
    assert wanted.num_rows == 2
    for given in ("logs", "logs/", "logs/**/[12].tsv*"):
        log = read_log(bucket.url(given))
        assert [path.name for path in log.paths] == ["1.tsv", "2.tsv.gz"], given
        assert made(log, seed=1).tables["queries"].arrow == wanted, given
    assert [e.name for e in read_log(bucket.url("logs/?.tsv")).paths] == ["1.tsv"]
    both = read_log([bucket.url("logs/1.tsv"), bucket.url("logs/deep/2.tsv.gz")])
    assert made(both, seed=1).tables["queries"].arrow == wanted
    assert read_log(bucket.url("logs/1.tsv").replace("s3:", "s3a:")).names() == ("user", "query")


def parquet(rows: int = 3, **changed: pa.Array) -> bytes:
    """A file with types that are easily lost on the way."""
    moments = pa.array([64_060_588_800_000_000 + n for n in range(rows)], pa.timestamp("us"))
    columns = {
        "user": pa.array(range(rows), pa.uint16()),
        "query": pa.array(["tea"] * rows, pa.large_string()),
        "urls": pa.array([["a", None], None, []] * rows)[:rows],
        "time": moments,
        "user.id": pa.array(["not wanted"] * rows),
        "other": pa.array([b"x" * 1000] * rows),
    }
    sink = pa.BufferOutputStream()
    table = pa.table(columns | changed)
    pq.write_table(table, sink, use_deprecated_int96_timestamps=True, row_group_size=2)
    return bytes(sink.getvalue())


def test_parquet_is_staged_with_its_types_and_no_other_columns(
    bucket: Bucket, tmp_path: Path
) -> None:
    paths = [remote(bucket.put(f"logs/{n}.parquet", parquet())) for n in range(2)]
    names, target = ["time", "urls", "user", "query"], tmp_path / "staged.parquet"
    stage(paths, None, names, [], target, Skipped())
    found = pq.read_table(target)
    assert found.column_names == names
    kinds = [pa.timestamp("us"), pa.list_(pa.string()), pa.uint16(), pa.string()]
    assert [str(f.type).replace("element", "item") for f in found.schema] == [
        str(kind) for kind in kinds
    ]
    assert found["user"].to_pylist() == [0, 1, 2] * 2
    assert found["urls"].to_pylist() == [["a", None], None, []] * 2
    assert found["time"].to_pylist()[0].year == 4000  # past what nanoseconds can say


def test_a_parquet_log_gives_what_a_local_one_gives(bucket: Bucket, tmp_path: Path) -> None:
    users, queries = zip(*ROWS, strict=True)
    content = parquet(
        40, user=pa.array(users), query=pa.array(queries), urls=pa.array([["http://a"]] * 40)
    )
    (tmp_path / "log.parquet").write_bytes(content)
    bucket.put("logs/log.parquet", content)
    here, there = read_log(tmp_path / "log.parquet"), read_log(bucket.url("logs"))
    assert there.columns == here.columns
    assert made(there, seed=1).tables["queries"].arrow == made(here, seed=1).tables["queries"].arrow


def test_parquet_files_that_do_not_fit_together(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("logs/1.parquet", parquet())
    bucket.put("logs/2.parquet", parquet(user=pa.array(["a", "b", "c"])))
    log = read_log(bucket.url("logs"))
    with DuckDB(temporary=tmp_path) as engine, pytest.raises(LogError, match="different types"):
        open_log(log, engine)


def test_damaged_objects_quote_nothing(bucket: Bucket, tmp_path: Path) -> None:
    whole = parquet(2_000, query=pa.array(["secretquery"] * 2_000))
    damaged = remote(bucket.put("a.parquet", whole[:50] + b"secretquery" * 9 + whole[149:]))
    packed = remote(bucket.put("b.tsv.gz", gzip.compress(TSV.encode())[:-20]))
    cut = remote(bucket.put("c.parquet", whole[:200]))
    target = tmp_path / "staged.parquet"
    for path, layout in ((damaged, None), (cut, None), (packed, Delimited(delimiter="\t"))):
        with pytest.raises(LogError, match="damaged") as raised:
            stage([path], layout, ["user", "query"], [], target, Skipped())
        assert "secretquery" not in str(raised.value)
    with pytest.raises(LogError, match="not a readable Parquet file"):
        read_log(bucket.put("d.parquet", b"secretquery"))


def test_a_log_that_changes_between_two_reads(bucket: Bucket, tmp_path: Path) -> None:
    log = read_log(bucket.put("log.tsv", TSV))
    bucket.put("log.tsv", TSV + "u1\tmore\n")
    with pytest.raises(LogError, match="changed meanwhile"):
        made(log)
    found, [path] = remote(bucket.put("log.parquet", parquet())).find_files()
    assert not found
    bucket.put("log.parquet", parquet(4))
    with pytest.raises(LogError, match="changed meanwhile"):
        stage([path], None, ["user"], [], tmp_path / "staged.parquet", Skipped())


def test_what_is_not_there_or_not_allowed(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    url = bucket.put("log.tsv", TSV)
    with pytest.raises(LogError, match="no log found at s3://bucket-"):
        read_log(bucket.url("other.tsv"))
    with pytest.raises(LogError, match="no such bucket"):
        read_log("s3://no-such-bucket/log.tsv")
    with pytest.raises(UsageError, match="not one that s3:// can have"):
        read_log(f"{url}?nonsense={SECRET}")
    with socket.socket() as taken:  # bound and never listening: nobody answers
        taken.bind(("127.0.0.1", 0))
        with monkeypatch.context() as patched:
            impatient(patched, bucket, taken.getsockname()[1])
            with pytest.raises(LogError, match="cannot be reached") as raised:
                read_log(url)
    assert "127.0.0.1" not in str(raised.value)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("HOME", "/nonexistent")
    connect.cache_clear()
    with pytest.raises(LogError, match="no permission"):
        read_log(url)


def test_what_an_anonymity_method_wrote_is_known_there_too(bucket: Bucket) -> None:
    url = bucket.put("out/log.tsv", TSV)
    assert not is_anonymized(remote(url))
    bucket.put("out/anonymized.json", "{}")
    assert is_anonymized(remote(url))


# --- releases


def test_a_release_is_written_and_read_back(bucket: Bucket, release: Release) -> None:
    target = release.write(bucket.url("a/release/"))
    assert str(target) == bucket.url("a/release")
    about = json.loads(bucket.read("a/release/release.json"))
    names = [f"a/release/{name}" for name in (*about["sha256"], "release.json")]
    assert bucket.there() == sorted(names)
    found = read_release(bucket.url("a/release"))
    assert found.tables["queries"].arrow == release.tables["queries"].arrow
    assert found.directory == target
    with pytest.raises(ReleaseError, match="exists already"):
        release.write(bucket.url("a/release"))
    with pytest.raises(ReleaseError, match="exists already"):
        release.write(bucket.url("a"))  # there is something under it
    with pytest.raises(ReleaseError, match="exists already"):
        release.write(bucket.url("a/release/README.md"))


def test_release_json_comes_last(
    bucket: Bucket, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    put, upload = Remote.write_bytes, Remote.upload

    def noted_put(self: Remote, content: bytes) -> None:
        order.append(self.name)
        put(self, content)

    def noted_upload(self: Remote, file: Path) -> None:
        order.append(self.name)
        upload(self, file)

    monkeypatch.setattr(Remote, "write_bytes", noted_put)
    monkeypatch.setattr(Remote, "upload", noted_upload)
    release.write(bucket.url("release"))
    assert order[0].startswith(".zealous-writing-")
    assert order[-1] == "release.json"
    assert sorted(f"release/{name}" for name in order[1:]) == bucket.there()


def test_a_directory_without_release_json_is_no_release(bucket: Bucket, release: Release) -> None:
    release.write(bucket.url("release"))
    bucket.store.delete_file(f"{bucket.name}/release/release.json")
    with pytest.raises(ReleaseError, match="holds no release"):
        read_release(bucket.url("release"))
    with pytest.raises(ReleaseError, match="no release"):
        read_release("s3://no-such-bucket/release")
    release.write(bucket.url("other"))
    bucket.store.delete_file(f"{bucket.name}/other/queries.parquet")
    with pytest.raises(ReleaseError, match="missing or damaged"):
        read_release(bucket.url("other"))


def test_whether_it_can_be_written_is_known_before(bucket: Bucket) -> None:
    target = remote(bucket.url("a/release"))
    check_writable(target, ["queries"])
    assert bucket.there() == []
    check_writable(target, ["queries"])  # the empty folder that is left hinders nobody
    with pytest.raises(ReleaseError, match="no such bucket"):
        check_writable(remote("s3://no-such-bucket/release"), ["queries"])
    with pytest.raises(ReleaseError, match="whole bucket"):
        check_writable(remote(f"s3://{bucket.name}"), ["queries"])
    with pytest.raises(ReleaseError, match="1024 bytes"):
        check_writable(target / ("x" * 1000), ["queries"])
    bucket.put("a/release/left", "")
    with pytest.raises(ReleaseError, match="exists already"):
        check_writable(target, ["queries"])


def test_what_only_the_owner_may_see_goes_to_no_store(bucket: Bucket) -> None:
    target = remote(bucket.url("out"))
    with (
        pytest.raises(ReleaseError, match="name a directory"),
        folder.new_folder(target, "anonymised log", mode=0o700),
    ):
        pass


def test_of_two_writers_at_most_one_goes_on(
    bucket: Bucket, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = remote(bucket.url("release"))
    with target.claim():
        with pytest.raises(ReleaseError, match="exists already"):
            release.write(target)
        monkeypatch.setattr(Remote, "check_new", lambda _: None)  # both looked, and came at once
        with pytest.raises(ReleaseError, match="somebody else is writing to"):
            release.write(target)
    assert bucket.there() == []
    monkeypatch.undo()


def test_somebody_who_claims_nothing_and_writes_there(
    bucket: Bucket, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = Remote.upload

    def disturbed(self: Remote, file: Path) -> None:
        upload(self, file)
        bucket.put("release/README.md", "mine")

    monkeypatch.setattr(Remote, "upload", disturbed)
    with pytest.raises(ReleaseError, match="somebody else"):
        release.write(bucket.url("release"))
    assert "release/release.json" not in bucket.there()


class Line:
    """A connection to the server that can be cut."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address = self.listening.getsockname()
        self.open: list[socket.socket] = []
        self.whole = True
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self.whole = False
        for each in (self.listening, *self.open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while self.whole:
                near = self.listening.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.port))
                self.open += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while self.whole and (data := source.recv(1 << 16)):
                target.sendall(data)


def test_a_connection_lost_in_mid_write_leaves_no_release(
    bucket: Bucket, release: Release, server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, upload = Line(server), Remote.upload

    def cut(self: Remote, file: Path) -> None:
        upload(self, file)
        if self.name == "statement.html":  # the last before release.json
            line.cut()

    monkeypatch.setattr(Remote, "upload", cut)
    impatient(monkeypatch, bucket, line.address[1])
    with pytest.raises(ReleaseError, match="cannot be reached") as raised:
        release.write(bucket.url("release"))
    assert "127.0.0.1" not in str(raised.value)
    assert "release/statement.html" in bucket.there()  # it had begun
    assert "release/release.json" not in bucket.there()
    monkeypatch.undo()


@pytest.mark.parametrize("name", ["queries.parquet", "release.json"])
def test_what_was_begun_is_removed(
    bucket: Bucket, release: Release, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    put, upload = Remote.write_bytes, Remote.upload

    def failing_put(self: Remote, content: bytes) -> None:
        put(self, content)
        if self.name == name:  # it is there, and the answer was lost
            raise StoreError(5, "the object store gave an error")

    def failing_upload(self: Remote, file: Path) -> None:
        upload(self, file)
        if self.name == name:
            raise StoreError(5, "the object store gave an error")

    monkeypatch.setattr(Remote, "write_bytes", failing_put)
    monkeypatch.setattr(Remote, "upload", failing_upload)
    with pytest.raises(ReleaseError, match="it is no release"):
        release.write(bucket.url("release"))
    assert bucket.there() == []


def test_a_release_that_was_voided_meanwhile_is_taken_back(
    bucket: Bucket, release: Release
) -> None:
    told: list[str] = []

    def refuse(directory: object, sha256: str) -> None:
        told.append(str(directory))
        raise Refused("voided")

    with pytest.raises(Refused):
        replace(release, on_written=refuse).write(bucket.url("release"))
    assert told == [bucket.url("release")]
    assert bucket.there() == []


# --- the ledger


def test_a_log_elsewhere_has_one_ledger_by_whatever_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    found = ledger_path(["s3://bucket/logs/2026/a.tsv", "s3://bucket/logs/2026/b.tsv"])
    assert found.is_relative_to(tmp_path)
    assert found.parent.name.startswith("2026-")
    same = ["s3a://me:word@bucket/logs/2026/c.tsv?region=eu-west-1"]
    assert ledger_path(same) == ledger_path(["s3://bucket/logs/2026"]) == found
    assert ledger_path(["s3://bucket/logs/2025/a.tsv"]) != found
    assert ledger_path(["s3://other/logs/2026/a.tsv"]) != found
    found.parent.mkdir(parents=True)
    found.touch()
    assert existing_ledger(["s3://bucket/logs/2026/deep/d.tsv"]) == found
    assert existing_ledger(["s3://bucket/logs"]) is None
    with pytest.raises(Refused, match="the rest has none"):
        ledger_path(["s3://bucket/logs/2026/a.tsv", "s3://bucket/logs/2025/a.tsv"])
    for other in ("s3://b/x.tsv", tmp_path / "x.tsv"):
        with pytest.raises(Refused, match="no folder in common"):
            ledger_path(["s3://a/x.tsv", other])
    assert ledger_path(["s3://a/x/1.tsv", "s3://a/y/2.tsv"]) == ledger_path(["s3://a/3.tsv"])


def test_under_one_id_nothing_is_drawn_twice(bucket: Bucket, tmp_path: Path) -> None:
    log = read_log(bucket.put("logs/log.tsv", TSV))
    account = Account(ledger=tmp_path / "ledger.sqlite", id="march")
    output = remote(bucket.url("release"))
    kinds = [z.queries(items_per_user=2)]
    first = z.publish(log, GOAL, kinds, account=account)
    replace(first, on_written=None).write(output)  # killed before the ledger was told
    again = z.publish(log, GOAL, kinds, account=account, output=output)
    assert again.directory == output
    assert again.record.id == "march"
    assert len(Ledger.open(tmp_path / "ledger.sqlite").history()) == 1
    assert (
        account.earlier_release(log.paths, None) == output
    )  # and where it is, is known without -o


def test_what_is_out_there_cannot_be_voided(bucket: Bucket, tmp_path: Path) -> None:
    log = read_log(bucket.put("logs/log.tsv", TSV))
    account = Account(ledger=tmp_path / "ledger.sqlite")
    release = z.publish(log, GOAL, [z.queries(items_per_user=2)], account=account)
    output = release.write(bucket.url("release"))
    book = Ledger.open(tmp_path / "ledger.sqlite")
    [entry] = book.history()
    assert (entry.state, entry.directory) == ("released", str(output))
    assert book.verify([bucket.url("release")]) == []
    assert book.verify([bucket.url("")]) == []
    assert "no release here" in book.verify([bucket.url("logs")])[0]
    with pytest.raises(Refused, match="still there"):
        book.void(entry.number, reason="test", by="me")
    bucket.store.delete_file(f"{bucket.name}/release/release.json")
    assert book.void(entry.number, reason="test", by="me").state == "voided"


# --- the command


def test_publish_from_a_store_to_a_store(bucket: Bucket, run: Run, tmp_path: Path) -> None:
    bucket.put("logs/log.tsv", TSV)
    user = f"{KEY}:{SECRET.replace('/', '%2F')}@"
    log, output = (bucket.url(key).replace("//", f"//{user}") for key in ("logs", "release"))
    goal = ["--epsilon", 2000, "--delta", 0.5, "--guarantee", "indistinguishable"]
    arguments = [log, "--items", "queries", *goal, "--items-per-user", 2, "-o", output]
    ran = run("publish", *arguments)
    assert ran.code == 0, ran.said
    assert f"Published in {bucket.url('release')}" in " ".join(ran.said.split())
    assert json.loads(bucket.read("release/release.json"))["ledger"]["tracked"]
    wrong = run("publish", *arguments[:-1], output.replace("bucket-", "no-bucket-"))
    assert wrong.code == 1
    assert "no such bucket" in wrong.stderr
    kept = b"".join(bucket.read(key) for key in bucket.there() if key.startswith("release/"))
    kept += b"".join(e.read_bytes() for e in tmp_path.rglob("*") if e.is_file())
    for said in (ran.said, wrong.said, kept.decode(errors="replace")):
        assert KEY not in said
        assert not any(part in said for part in SECRET.split("/"))
