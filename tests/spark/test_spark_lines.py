"""Text on Spark: the same rules for the same lines, wherever a file is cut into parts."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from line_formats import FORMATS, NASTY, USERS, packed
from sampling import sampled
from spark import SPARK, Engines, read

from zealous.engines.engine import Engine
from zealous.engines.executor import OTHER_COLUMNS, SplitLines
from zealous.engines.spark import Spark
from zealous.engines.sql import Step, comma_separated
from zealous.errors import LogError
from zealous.files import lines
from zealous.files.delimited import Delimited
from zealous.logs.open_log import open_log

pytest_plugins = ("spark",)
pytestmark = SPARK

LONG = [
    b"mallory,x" + b"y" * lines.LINE_LIMIT,
    b"z" * (3 * lines.LINE_LIMIT),
    b"mallory\t1\t" + b"x" * (lines.LINE_LIMIT - 10) + b"\r",
]
JSON = [
    b'{"user": "mallory", "query": "\\ud800"}',
    b'{"user": "mallory", "query": NaN}',
    b'{"user": "mallory", "user": "nobody", "query": 1e400}',
    b'["mallory"]',
    b'{"user": ["mallory"], "query": {"a": 1}}',
    b'{"user": "mallory", "query": "a\\u0000b"}',
    b'{"user": "mallory"',
    b'{"user": 12345678901234567890, "query": true, "url": ["a", null, 1]}',
    b"[" * 5000,
    b"\xef\xbb\xbf{}",
]


@pytest.fixture
def small_parts(spark: Spark) -> Iterator[None]:
    """Files are cut into parts of a few kilobytes."""
    name = "spark.sql.files.maxPartitionBytes"
    before = spark.session.conf.get(name)
    spark.session.conf.set(name, "6000")
    yield
    spark.session.conf.set(name, before)


def entries(engine: Engine, path: Any, *given: Any, **options: Any) -> tuple[Any, Counter[str]]:
    source = open_log(read(engine, path, *given, **options), engine)
    names = comma_separated(["user", *sorted(source.roles - {"user"})])
    rows = engine.rows([*source.entries, Step("all", f"select {names} from entries")])
    return sorted(rows, key=repr), +source.skipped


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("name", sampled(list(FORMATS), str, share=6))
def test_every_kind_of_bad_line(name: str, engines: Engines, tmp_path: Path) -> None:
    """Two files, each with a header, with bad lines everywhere: as on one machine."""
    _, first, content = FORMATS[name]
    nasty = [line + b"\n" for line in [*NASTY, *JSON]]
    clean, bad = tmp_path / "clean", tmp_path / "bad"
    clean.mkdir()
    bad.mkdir()
    half = len(content) // 2
    for part, some in (("a", content[:half]), ("b", content[half:])):
        (clean / part).write_bytes(first + b"".join(some))
        mixed = [*nasty[:9], *some[:5], *nasty[9:], *some[5:], first, NASTY[0]]
        (bad / part).write_bytes(b"\xef\xbb\xbf" + first + b"".join(mixed))
    (rows, skipped), on_spark = (entries(engine, [*bad.iterdir()], name) for engine in engines)
    assert on_spark == (rows, skipped)
    assert skipped.total() > 10
    theirs = [row for row in on_spark[0] if row[0] in USERS]
    assert theirs == entries(engines[1], [*clean.iterdir()], name)[0]
    assert len(theirs) == len(content)


@pytest.mark.parametrize("name", sampled(["csv", "excite", "jsonl"], str, share=3))
def test_lines_that_are_too_long(name: str, engines: Engines, tmp_path: Path) -> None:
    _, first, content = FORMATS[name]
    (tmp_path / "log").write_bytes(first + b"\n".join([content[0].rstrip(), *LONG, content[1]]))
    one, other = (entries(engine, tmp_path / "log", name) for engine in engines)
    assert one == other
    assert one[1]["longer than 1 MiB"] >= 2
    assert len([row for row in one[0] if row[0] in USERS]) == 2


@pytest.mark.parametrize("pack", sampled([".gz", ".bz2", ".zst"], str, share=3))
def test_packed_files(pack: str, engines: Engines, tmp_path: Path) -> None:
    _, first, content = FORMATS["csv"]
    body = (first + b"".join([*content, b"mallory\n"])).replace(b"\n", b"\r\n").rstrip()
    (tmp_path / f"log.csv{pack}").write_bytes(packed(body, pack))
    one, other = (entries(engine, tmp_path / f"log.csv{pack}") for engine in engines)
    assert one == other
    assert len(one[0]) == len(content)
    assert other[1] == {"too few or too many columns": 1}


def test_a_packed_file_that_is_cut_short(spark: Spark, tmp_path: Path) -> None:
    whole = gzip.compress(b"user,query\n" + b"".join(b"qzx%d,qzx\n" % n for n in range(50_000)))
    (tmp_path / "log.csv.gz").write_bytes(whole[: len(whole) // 2])
    with spark, pytest.raises(Exception, match="cannot be read") as raised:
        entries(spark, tmp_path / "log.csv.gz")
    assert "qzx" not in str(raised.value)


ENCODINGS = [
    ("latin-1", "größe", ""),
    ("gb18030", "鞋子 ĉ 🥿", "\ufeff"),
    ("shift_jis", "靴ソ表", ""),
]


@pytest.mark.parametrize(
    ("encoding", "word", "mark"), sampled(ENCODINGS, lambda case: case[0], share=6)
)
def test_encodings(encoding: str, word: str, mark: str, engines: Engines, tmp_path: Path) -> None:
    text = f'{mark}user,query\nalice,{word}\nbob,"{word}, {word}"\n'.encode(encoding)
    path = tmp_path / "log.csv"
    path.write_bytes(text + b"mallory\t\x81\n")
    one, other = (entries(engine, path, encoding=encoding) for engine in engines)
    assert one == other
    assert one[0] == [("alice", word), ("bob", f"{word}, {word}")]


@pytest.mark.parametrize("second", [b"user,qzx\n1,2\n", b"\n1,2\n", b'"qzx\n1,2\n', b"\xff\n1,2\n"])
def test_files_that_do_not_belong_together(second: bytes, spark: Spark, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"user,query\n" + b"1,2\n" * 99)
    (tmp_path / "b.csv").write_bytes(second)
    with (
        spark,
        pytest.raises(LogError, match=r"does not have the same columns|does not name") as said,
    ):
        entries(spark, [tmp_path / "a.csv", tmp_path / "b.csv"])
    assert "qzx" not in str(said.value)


def test_a_batch_is_bounded_however_long_its_lines_are(engines: Engines) -> None:
    spark = engines[1].session
    lengthy = spark.range(0, 40, 1, 1).selectExpr(f"repeat('x', {lines.LINE_LIMIT}) as line")

    def sizes_of(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"size": pa.array([batch.nbytes])})

    sizes = lengthy.mapInArrow(sizes_of, "size bigint").collect()
    assert max(row[0] for row in sizes) <= 17 << 20


def test_headers_wherever_parts_begin() -> None:
    """One partition may hold the end of a file, whole files, and a file over several batches."""
    split = SplitLines(layout=Delimited(delimiter=","), fields=("a", "b"), names=("b",), lists=())
    rows = [
        (b"1,2", "one", 64),
        (b"a,b", "two", 0),
        (b"3,4", "two", 0),
        (b"a,b", "three", 0),
        (b"5,6", "three", 0),
        (b"a,b", "four", 0),
        (b"a,b", "four", 0),
    ]
    for size in range(1, len(rows) + 1):
        pieces = [rows[at : at + size] for at in range(0, len(rows), size)]
        batches = [
            pa.record_batch([*map(pa.array, zip(*piece, strict=True))], ["line", "file", "start"])
            for piece in pieces
        ]
        found = [value.as_py() for batch in split(iter(batches)) for value in batch["b"]]
        assert found == ["2", "4", "6", "b"]  # a header twice: the second is somebody's line
    other = pa.record_batch([[b"a,c"], ["five"], [0]], ["line", "file", "start"])
    with pytest.raises(LogError, match=OTHER_COLUMNS):
        list(split(iter([other])))
