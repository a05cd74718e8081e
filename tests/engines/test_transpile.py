"""DuckDB's SQL as Spark's: the same meaning, or an error; and nothing unknown passes."""

from __future__ import annotations

import pytest

from zealous.engines.transpile import _java_pattern, to_spark
from zealous.errors import UsageError, ZealousError


@pytest.mark.parametrize(
    "sql",
    [
        "select arg_min(item, rank, 3) from items",
        "select list_zip(a, b) from items",
        "select array_slice(a, 1, 2) from items",
        "select random() from items",
        "select uuid() from items",
        "select gen_random_uuid() from items",
        "select hash(user) from items",
        "select now() from items",
        "select current_date",
        "select strftime(time, '%Y') from items",
        "select extract(dow from time) from items",
        "select extract(epoch from time) from items",
        "select median(x) from items",
        "select approx_count_distinct(user) from items",
        "select list_filter(a, lambda x: x > 1) from items",
        "select string_agg(a, ',') from items",
        "select first(a) from items",
        "select any_value(a) from items",
        "select bit_or(a) from items",
        "select concat_ws('|', a, b) from items",
        "select my_function(a) from items",
        "select read_text('somewhere')",
        "select regexp_matches(a, 'x', 'i') from items",
        "select regexp_matches(a, b) from items",
        "select regexp_replace(a, 'x', 'y') from items",
        "select regexp_replace(a, 'x|y$', '') from items",
        "select regexp_replace(a, 'x', '\\1', 'g') from items",
        "select regexp_extract_all(a, '(x)y', 1) from items",
        "select regexp_full_match(a, '(a|b)*') from items",
        "select 1 +",
    ],
)
def test_what_might_mean_something_else_is_refused(sql: str) -> None:
    with pytest.raises(ZealousError, match=r"engine=z\.DuckDB\(\)"):
        to_spark(sql, {})


@pytest.mark.parametrize("pattern", [r"\bx", r"\s+", r"\w", r"(?i)x", r"[a&&b]", r"[a[b]", r"x]"])
def test_patterns_that_java_reads_in_another_way_are_refused(pattern: str) -> None:
    with pytest.raises(ZealousError, match=r"engine=z\.DuckDB\(\)"):
        _java_pattern(pattern)


def test_patterns() -> None:
    assert _java_pattern("^[!-~]+( [.$])?.$") == r"^[!-~]+( [.$])?[^\n]\z"
    assert _java_pattern(r"\p{Z}\d\.") == r"\p{Z}\d\."
    assert _java_pattern(r"[^\p{N}]").startswith(r"[^\p{N}[\x{11f50}-\x{1e4f9}&&[\x{11f50}-")


def test_a_pattern_of_words_never_comes_back() -> None:
    assert "([a-z]" not in (sql := to_spark("select regexp_full_match(a, '[a-z]+( [a-z]+)*')", {}))
    assert "[a-z]++(?: [a-z]++)*+" in sql


def test_only_tables_of_the_engine_are_renamed() -> None:
    sql = "with items as (select * from source) select user from items, others"
    assert to_spark(sql, {"source": "v1", "items": "v2", "user": "v3"}) == (
        "WITH items AS (SELECT * FROM `v1`) SELECT user FROM items, others"
    )


def test_a_step_that_is_kept_is_a_step_as_any_other() -> None:
    sql = "with a as materialized (select 1 as x), b as (select x from a) select x from b"
    assert to_spark(sql, {}) == to_spark(sql.replace("materialized ", ""), {})


def test_a_column_that_is_replaced() -> None:
    sql = to_spark("""select * replace (lower("a b") as "a b") from items""", {})
    assert sql.startswith("SELECT * EXCEPT (`a b`), LOWER(")


@pytest.mark.parametrize("form", ["%j", "%Y %", "%U", "%-d"])
def test_a_time_format_that_java_does_not_have(form: str) -> None:
    with pytest.raises(UsageError, match="on Spark a time format may use %Y"):
        to_spark(f"select try_strptime(a, '{form}')", {})


def test_the_hour() -> None:
    sql = to_spark("select extract(hour from time)::varchar from items", {})
    assert sql == "SELECT CAST(EXTRACT(HOUR FROM time) AS STRING) FROM items"


def test_quotes_and_backslashes_stay_what_they_are() -> None:
    assert to_spark(r"select 'it''s \ n'", {}) == r"SELECT 'it\'s \\ n'"
