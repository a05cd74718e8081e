"""Tables in this process: of pandas, Polars, Arrow, DuckDB, and of whatever hands over Arrow."""

from __future__ import annotations

import gc
import stat
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import zealous as z
from zealous.errors import LogError, Refused, UsageError
from zealous.files import single_values
from zealous.files.frames import Frame
from zealous.files.rows import LONGEST
from zealous.logs.log import NOT_PRIVATE, is_anonymized
from zealous.logs.open_log import open_log

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
TEXTS = pa.array(["tea", None, "shoes"])


def read(given: Any, names: Sequence[str] = ("a",), lists: Sequence[str] = ()) -> Any:
    """The columns as they are staged."""
    with Frame.of(given, None).open_rows(lists) as rows:
        batches = list(rows.batches(names))
        return pa.Table.from_batches(batches).to_pydict(), rows.schema


@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        TEXTS.cast(pa.large_string()),
        TEXTS.cast(pa.string_view()),
        TEXTS.dictionary_encode(),
        TEXTS.cast(pa.large_string()).dictionary_encode(),
        pc.run_end_encode(TEXTS),
        pl.Series("a", ["tea", None, "shoes"], pl.Categorical).to_arrow(),
    ],
    ids=lambda each: str(each.type),
)
def test_a_text_is_a_text_however_it_is_held(texts: Any) -> None:
    found, schema = read(pa.table({"a": texts}))
    assert found == {"a": ["tea", None, "shoes"]}
    assert schema.field("a").type == pa.string()


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.large_list(pa.large_string()),
        pa.list_(pa.string(), 2),
        pa.list_view(pa.string()),
        pa.list_(pa.dictionary(pa.int8(), pa.string())),
    ],
    ids=str,
)
def test_lists_are_lists_in_every_piece(kind: Any) -> None:
    rows: list[list[str] | None] = [["a", "b"], None, ["c", "d"]]
    table = pa.table({"a": pa.array(rows * 200, kind)})
    found, schema = read(table.slice(1))
    assert found["a"] == (rows * 200)[1:]
    assert schema.field("a").type == pa.list_(pa.string())


def test_times_that_no_file_holds_are_no_times() -> None:
    last = 2**63 // 10**6 - 1
    times = pa.array([0, last, last + 1, -last - 2, None], pa.timestamp("s", "Europe/Berlin"))
    with Frame.of(pa.table({"a": times}), None).open_rows(()) as rows:
        (batch,) = rows.batches(["a"])
    assert batch["a"].type == pa.timestamp("us", "UTC")
    assert batch["a"].cast(pa.int64()).to_pylist() == [0, last * 10**6, None, None, None]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"x"]),
        pa.array([{"x": 1}]),
        pa.array([Decimal(10) ** 60], pa.decimal256(70, 0)),
        pa.array([None], pa.decimal128(3, -2)),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pd.Series([1j]),
        pd.Series(pd.interval_range(0, 1)),
        pd.Series(pd.period_range("2026-01", periods=1, freq="M")),
        pa.array(pd.Series(pd.period_range("2026-01", periods=1, freq="M"))),
    ],
    ids=lambda each: str(getattr(each, "type", getattr(each, "dtype", ""))),
)
def test_other_columns_are_refused_where_they_are_used(column: Any) -> None:
    made = pd.DataFrame if isinstance(column, pd.Series) else pa.table
    frame = made({"user": column, "query": ["tea"]})
    log = z.read_log(frame)
    goal = z.Indistinguishability(epsilon=1, delta="1e-3")
    with pytest.raises(UsageError, match=r"'user' holds .* values.*z\.Columns\(user=\.\.\.\)"):
        z.publish(log, goal, z.queries(1), account=None)
    found, _ = read(frame, ["query"])
    assert found == {"query": ["tea"]}


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_one_missing_value_does_not_change_how_others_are_written(missing: Any) -> None:
    """pandas makes fractions of all whole numbers of a column where one is missing."""
    shops = [3, 3, 10**15, 10**15, -7, -7]
    goal = z.Indistinguishability(epsilon=100, delta="0.5")
    found = []
    for one in (8, missing):
        frame = pd.DataFrame({"user": list("abcdefg"), "shop": [*shops, one]})
        log = z.read_log(frame, columns=z.Columns(user="user"))
        release = z.publish(log, goal, [z.columns("shop", items_per_user=1)], account=None)
        found.append(set(release["columns:shop"].items()))
    assert found[0] == found[1]
    assert len(found[1]) == 3


def test_a_value_has_its_own_type_in_a_column_of_objects() -> None:
    values = [
        *((7, "7"), (7.0, "7"), (0.5, "0.5"), (2e-5, "0.00002"), (1e19, "1e19")),
        *((1.5e-7, "1.5e-7"), ("7", "7"), (True, "true"), (np.int64(8), "8")),
        *((Decimal("7.10"), "7.10"), (Decimal("1e3"), "1000"), (np.float32(0.5), "0.5")),
        *(
            (date(2026, 1, 31), "2026-01-31"),
            (time(12), "12:00:00"),
            (UUID(int=1), str(UUID(int=1))),
        ),
        (pd.Timestamp(NOON), "2026-01-31 12:00:00+00:00"),
    ]
    no_values = [
        *(None, float("nan"), float("inf"), pd.NA, pd.NaT, b"x", {}, [1], 10**5000, "\ud800"),
        *(Decimal("NaN"), object(), np.array([[1]])),
    ]
    column = [*(value for value, _ in values), *no_values]
    found, schema = read(pd.DataFrame({"a": pd.Series(column, dtype=object)}))
    assert found["a"] == [*(text for _, text in values), *(None for _ in no_values)]
    assert schema.field("a").type == pa.string()
    listed = [["x", 1, None, "\ud800"], ("y",), np.array(["z"]), "w", None]
    frame = pd.DataFrame({"a": pd.Series(listed, dtype=object)})
    assert read(frame, lists=["a"])[0] == {"a": [["x", "1"], ["y"], ["z"], ["w"], None]}
    assert single_values.text_of(Decimal("1e999999")) == "1E+999999"


@pytest.mark.parametrize("kinds", [["object"], ["string"], ["category"], ["string", "category"]])
def test_half_a_character_is_no_text(kinds: list[str]) -> None:
    made = pd.Series(["tea", "\ud800"], dtype=object)
    for kind in kinds:
        made = made.astype(kind)
    assert read(pd.DataFrame({"a": made}))[0] == {"a": ["tea", None]}


class Failing(str):
    """A text, a number or a list that fails wherever its own code runs."""

    def __str__(self) -> str:
        raise RuntimeError("secret")

    encode = __len__ = __str__  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("secret")


class FailingNumber(int):
    def __str__(self) -> str:
        raise RuntimeError("secret")

    __int__ = __index__ = __str__  # type: ignore[assignment]


class Lost:
    """No value, which fails at whatever it is asked."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("secret")


def test_no_class_of_its_own_stops_a_run() -> None:
    drink: Any = Enum("drink", {"TEA": "tea"}, type=str)  # whose str() is another
    values = [Failing("tea"), FailingNumber(7), drink.TEA, np.True_, Lost()]
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    assert read(frame)[0] == {"a": ["tea", "7", "tea", "true", None]}
    assert [single_values.list_of(each) for each in (Failing("tea"), Lost())] == [None, None]


LONG = "é" * (LONGEST // 2)  # the longest; one byte more is none


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())),
        *(pa.run_end_encoded(pa.int32(), pa.string()), object),
    ],
    ids=str,
)
def test_a_text_that_is_too_long_is_none(kind: Any) -> None:
    plain = pa.array([None, "tea", LONG, LONG + "z"])
    if kind is object:
        frame = pd.DataFrame({"a": pd.Series(plain.to_pylist(), dtype=object)})
    else:
        runs = isinstance(kind, pa.RunEndEncodedType)
        frame = pa.table({"a": pc.run_end_encode(plain) if runs else plain.cast(kind)}).slice(1)
    found = read(frame)[0]["a"]
    assert found[-3:] == ["tea", LONG, None]
    assert len(found) == (4 if kind is object else 3)


@pytest.mark.parametrize(
    "inside",
    [pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), object],
    ids=str,
)
def test_a_list_that_is_too_long_is_none(inside: Any) -> None:
    half = LONG[: len(LONG) // 2]
    rows = [["a", "b"], None, [half, half], ["c"]]
    frame: Any = pd.DataFrame({"a": pd.Series(rows, dtype=object)})
    if inside is not object:
        frame = pa.table({"a": pa.array(rows, pa.list_(inside))})
    assert read(frame, lists=["a"])[0]["a"] == [["a", "b"], None, None, ["c"]]


def test_a_value_in_many_rows_is_held_once_until_it_is_known_to_be_short() -> None:
    places, texts = pa.array([0, 1] * 128, pa.int32()), pa.array(["z" * (17 << 20), "tea"])
    dictionary = pa.DictionaryArray.from_arrays(places, texts)  # 2 GiB, if it were written out
    found: Any = "one text stopped the reading of all"
    with suppress(LogError):
        found = read(pa.table({"a": dictionary}))[0]["a"]
    assert found == [None, "tea"] * 128


def test_pandas_may_hold_a_column_in_pieces() -> None:
    kind = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    pieces = [pd.Series([each], dtype=kind) for each in ("tea", "shoes")]
    assert read(pd.DataFrame({"a": pd.concat(pieces)}))[0] == {"a": ["tea", "shoes"]}


def test_what_pandas_says_of_its_rows_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise TypeError("secret")

    monkeypatch.setattr("zealous.files.frames.column_of", fails)
    with pytest.raises(LogError, match=r"^the DataFrame cannot be read to its end \(TypeError\)$"):
        read(pd.DataFrame({"a": ["tea"]}))


def test_names_must_tell_columns_apart() -> None:
    with pytest.raises(LogError, match="two columns of one name"):
        z.read_log(pd.DataFrame([[1, 2]], columns=["user", "user"]))
    with pytest.raises(LogError, match="names are no texts"):
        z.read_log(pd.DataFrame([[1, 2]]))
    with pytest.raises(LogError, match="differ in case at most"):
        z.read_log(pa.table({"user": [1], "User": [2]}))
    with pytest.raises(LogError, match="have different types"), z.DuckDB(threads=1) as engine:
        open_log(z.read_log([pa.table({"user": [1]}), pa.table({"user": ["1"]})]), engine)


class Stream:
    """Rows that can be read once, as a library that zealous never heard of hands them over."""

    def __init__(self, table: pa.Table, fails: bool = False) -> None:
        batches = iter(table.to_batches(max_chunksize=300))
        self._reader = pa.RecordBatchReader.from_batches(
            table.schema, self._failing(batches) if fails else batches
        )

    @staticmethod
    def _failing(batches: Any) -> Any:
        yield next(batches)
        raise ValueError("secret")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)


def test_a_stream_is_staged_once_for_its_owner_alone(tmp_path: Path) -> None:
    table = pa.table({"user": range(1000), "query": ["tea"] * 1000, "odd": [b"x"] * 1000})
    log = z.read_log(Stream(table), engine=z.DuckDB(threads=1, temporary=tmp_path))
    assert not list(tmp_path.iterdir())
    goal = z.Indistinguishability(epsilon=1000, delta="0.1")
    made = [z.publish(log, goal, z.queries(1), account=None, seed=1) for _ in range(2)]
    assert made[0]["queries"] == made[1]["queries"]
    (staged,) = tmp_path.glob("zealous-*/files/*")
    assert stat.S_IMODE(staged.stat().st_mode) == 0o600
    assert pq.read_schema(staged).names == ["user", "query"]
    del log
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_what_a_stream_says_of_its_rows_is_not_quoted(tmp_path: Path) -> None:
    table = pa.table({"user": range(1000), "query": ["tea"] * 1000})
    log = z.read_log(Stream(table, fails=True), engine=z.DuckDB(temporary=tmp_path))
    with pytest.raises(LogError) as raised:
        z.publish(log, z.Indistinguishability(epsilon=1, delta="0.1"), z.queries(1), account=None)
    assert str(raised.value).startswith("the Stream cannot be read to its end (")
    assert not list(tmp_path.iterdir())


def test_a_table_has_no_ledger_beside_it() -> None:
    log = z.read_log(duckdb.sql("select 1 as user, 'tea' as query"))
    with pytest.raises(Refused, match=r"account=z\.Account\(ledger=\.\.\.\)"):
        z.publish(log, z.Indistinguishability(epsilon=1, delta="0.1"), z.queries(1))


def test_what_an_anonymity_method_made_is_known_in_memory_too() -> None:
    table = pa.table({"user": [1]}).replace_schema_metadata({"zealous": NOT_PRIVATE})
    assert is_anonymized(Frame.of(table, None))
    assert is_anonymized(Frame.of(table.to_reader(), None))
    assert not is_anonymized(Frame.of(pd.DataFrame({"user": [1]}), None))


def test_spark_says_what_to_do_with_a_table_of_this_process() -> None:
    with pytest.raises(UsageError, match="not on the cluster"):
        z.read_log(pa.table({"user": [1]}), engine=z.Spark())
