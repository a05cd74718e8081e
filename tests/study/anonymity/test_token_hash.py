"""Words replaced by tokens: the same everywhere, in their order, and unknown beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from anonymity_checks import is_pseudonymous, is_token_hashed
from anonymized import applied
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.study.anonymity import TokenHash, anonymize


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB(memory="2GB", threads=1) as engine:
        yield engine


def test_a_word_has_one_token_wherever_it_is(engine: DuckDB, tmp_path: Path) -> None:
    rows = [("ann", "Green tea"), ("bob", "tea, green TEA!"), ("cid", "?"), ("eve", "tea pot")]
    found, changed = applied(engine, tmp_path / "log.parquet", TokenHash(), rows, "user query")
    told = {user: query.split(" ") for user, _, query in found}
    green, tea = told["ann"]
    (same, pot) = told["eve"]
    assert told.keys() == {"ann", "bob", "eve"}
    assert told["bob"] == [tea, green, tea]
    assert same == tea
    assert len({green, tea, pot}) == 3
    assert all(re.fullmatch("[0-9a-f]{16}", token) for token in (green, tea, pot))
    assert changed == {
        "users suppressed": (1, 4),
        "queries suppressed": (0, 3),
        "entries without a word": (1, 4),
    }


def test_another_run_gives_other_tokens_and_ids(engine: DuckDB, tmp_path: Path) -> None:
    rows = [(f"user-{number}", f"word{number} tea") for number in range(30)]
    seen: list[set[str]] = []
    for _ in range(2):
        found, _ = applied(engine, tmp_path / "log.parquet", TokenHash(), rows, "user query")
        seen.append({text for _, id_, query in found for text in (id_, *query.split())})
    assert len(seen[0]) == len(seen[1]) == 30 + 31
    assert not seen[0] & seen[1]


def test_an_id_and_a_word_of_the_same_text_share_nothing(engine: DuckDB, tmp_path: Path) -> None:
    rows = [("3:ann", "3"), ("ann", "ann")]
    found, _ = applied(engine, tmp_path / "log.parquet", TokenHash(), rows, "user query")
    assert len({text for _, id_, query in found for text in (id_, query)}) == 4


def test_words_of_other_scripts_are_words(engine: DuckDB, tmp_path: Path) -> None:
    rows = [("ann", "हिन्दी खबर"), ("bob", "日本 天気"), ("cid", "ЧАЙ чай"), ("eve", "١٢ כן")]
    found, _ = applied(engine, tmp_path / "log.parquet", TokenHash(), rows, "user query")
    told = {user: query.split() for user, _, query in found}
    assert {user: len(tokens) for user, tokens in told.items()} == dict.fromkeys(told, 2)
    assert len(set(told["cid"])) == 1
    assert len(set(told["ann"])) == 2


def test_an_empty_log_gives_nothing(engine: DuckDB, tmp_path: Path) -> None:
    found, changed = applied(engine, tmp_path / "log.parquet", TokenHash(), [], "user query")
    assert found == []
    assert set(changed.values()) == {(0, 0)}


def test_lists_of_keywords_without_a_query_are_refused(tmp_path: Path) -> None:
    table = pa.table({"user": ["ann"], "keywords": [["green", "tea"]]})
    pq.write_table(table, tmp_path / "log.parquet")
    with pytest.raises(UsageError, match="query="):
        anonymize(tmp_path / "out", z.read_log(tmp_path / "log.parquet"), TokenHash())
    assert not (tmp_path / "out").exists()


texts = st.text("abA é\u0301ñß日本ก\u0e33١-'%_🙂\t", max_size=10)
logs = st.lists(st.tuples(st.sampled_from(["u1", "u2", "u3"]), texts), max_size=12)


@examples(40)
@given(rows=logs)
def test_the_promise_holds(
    engine: DuckDB, tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    # The user says which row of the output came from which of the log.
    numbered = [(f"{number}/{user}", query) for number, (user, query) in enumerate(rows)]
    found, _ = applied(engine, path, TokenHash(), numbered, "user query")
    typed = dict(numbered)
    asked = {user for user, query in numbered if any(map(str.isalnum, query))}
    assert {user for user, _, _ in found} == asked
    assert is_token_hashed((typed[user], query) for user, _, query in found)
    assert is_pseudonymous((user, id_) for user, id_, _ in found)
