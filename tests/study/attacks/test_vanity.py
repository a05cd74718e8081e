"""What is left of personal queries."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.logs.log import Log
from zealous.logs.source import Source
from zealous.study.anonymity import (
    Bundle,
    Changed,
    KKeyword,
    KQuery,
    Method,
    Pseudonym,
    Scrub,
    SimilarHistories,
    TokenHash,
    anonymize,
)
from zealous.study.anonymity.pseudonym import replace_user_ids
from zealous.study.attacks.personal_queries import (
    ReadableShare,
    measure_personal_queries,
    personal_parts,
)
from zealous.synthetic import generate, is_personal

START = datetime(2026, 1, 1)
NAME, FACT, ADDRESS, PHONE_NAME, PHONE, ACCOUNT, ASKED, ALL = (
    "name",
    "name and a fact",
    "address",
    "telephone number, its name",
    "telephone number, its digits",
    "account number",
    "users who asked for a person",
    "all users",
)
ROWS = [
    ("u1", "Percy  Hudiquist"),
    ("u1", "percy hudiquist"),
    ("u1", "percy hudiquist phone number"),
    ("u2", "6305 hudiquist street?"),
    ("u2", "vera trorawough 461 555-0187"),
    ("u3", "acct 236351408."),
    ("u4", "cheap flights"),
    ("u5", "mosquito 555"),
]


class Cut(Method):
    """Cuts what a pattern matches out of every query."""

    name: ClassVar[str] = "cut"
    promises = lacks = origin = "nothing"
    pattern: ClassVar[str] = ""

    def apply(self, source: Source, say: object = None) -> list[Changed]:
        replace_user_ids(source, [], f"regexp_replace(query, '{self.pattern}', '', 'gi')")
        return []


def cutting(expression: str) -> Method:
    class Cutting(Cut):
        pattern = expression

    return Cutting()


def made(folder: Path, log: Log, method: Method) -> Bundle:
    return anonymize(folder, log, method, engine=DuckDB(threads=1, memory="1GB")).bundle


def counts(found: list[ReadableShare]) -> dict[str, tuple[int, int]]:
    return {each.kind: (each.rate.successes, each.rate.trials) for each in found}


@pytest.fixture
def log(tmp_path: Path) -> Log:
    path = tmp_path / "log.parquet"
    times = [START + timedelta(hours=n) for n in range(len(ROWS))]
    users, queries = [user for user, _ in ROWS], [query for _, query in ROWS]
    pq.write_table(pa.table({"user": users, "time": times, "query": queries}), path)
    return z.read_log(path)


def test_kinds() -> None:
    assert personal_parts("percy hudiquist") == [(NAME, "hudiquist")]
    assert personal_parts("percy hudiquist arrest record") == [(FACT, "hudiquist")]
    assert personal_parts("12 hudiquist lane.") == [(ADDRESS, "hudiquist")]
    assert personal_parts("percy hudiquist 249 555-0165?") == [
        (PHONE_NAME, "hudiquist"),
        (PHONE, "249 555-0165"),
    ]
    assert personal_parts("acct 236351408") == [(ACCOUNT, "236351408")]
    assert personal_parts("cheap flights") == []


def test_all_is_left_of_what_is_only_renamed(log: Log, tmp_path: Path) -> None:
    assert counts(measure_personal_queries(log, made(tmp_path / "o", log, Pseudonym()))) == {
        NAME: (1, 1),
        FACT: (1, 1),
        ADDRESS: (1, 1),
        PHONE_NAME: (1, 1),
        PHONE: (1, 1),
        ACCOUNT: (1, 1),
        ASKED: (3, 3),
        ALL: (3, 5),
    }


def test_nothing_is_left_of_tokens_and_of_frequent_queries(log: Log, tmp_path: Path) -> None:
    for name, method in (("t", TokenHash()), ("k", KQuery(k=2))):
        found = counts(measure_personal_queries(log, made(tmp_path / name, log, method)))
        assert {successes for successes, _ in found.values()} == {0}
        assert (found[ASKED], found[ALL]) == ((0, 3), (0, 5))


def test_a_name_left_in_one_query_does_not_count_for_another(log: Log, tmp_path: Path) -> None:
    cut = made(tmp_path / "o", log, cutting("[0-9]+ hudiquist street"))
    found = counts(measure_personal_queries(log, cut))
    assert (found[ADDRESS], found[NAME], found[FACT]) == ((0, 1), (1, 1), (1, 1))
    assert found[ASKED] == (3, 3)  # u2 is betrayed by her telephone number
    found = counts(
        measure_personal_queries(log, made(tmp_path / "p", log, cutting("hudiquist|trora|555")))
    )
    assert found[NAME] == found[FACT] == found[PHONE_NAME] == found[PHONE] == (0, 1)
    assert found[ASKED] == (1, 3)


def test_a_query_is_left_if_one_of_its_entries_is(log: Log, tmp_path: Path) -> None:
    found = counts(
        measure_personal_queries(log, made(tmp_path / "o", log, cutting("percy  hudiquist")))
    )
    assert found[NAME] == (1, 1)


def test_a_longer_word_is_not_the_part(log: Log, tmp_path: Path) -> None:
    found = counts(measure_personal_queries(log, made(tmp_path / "o", log, cutting(" "))))
    assert found[NAME] == found[PHONE] == found[ACCOUNT] == (0, 1)  # percyhudiquist


def test_an_output_without_times_is_refused(log: Log, tmp_path: Path) -> None:
    for name, method in (("k", KKeyword(k=2)), ("s", SimilarHistories(k=2))):
        bundle = made(tmp_path / name, log, method)
        with pytest.raises(UsageError, match="times"):
            measure_personal_queries(log, bundle)


def test_a_generated_log(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    generate(path, users=2_500, seed=8)
    log = z.read_log(path)
    table = pq.read_table(path)
    personal = {
        re.sub(" +", " ", query.lower()): user
        for user, query in zip(table["user"].to_pylist(), table["query"].to_pylist(), strict=True)
        if is_personal(query)
    }
    assert all(personal_parts(query) for query in personal)  # each is of a known kind
    expected = Counter(kind for query in personal for kind, _ in personal_parts(query))
    found = counts(measure_personal_queries(log, made(tmp_path / "s", log, Scrub())))
    assert {kind: found[kind][1] for kind in expected} == dict(expected)
    assert found[ALL][1] == len(set(table["user"].to_pylist()))
    assert found[NAME][0] > 0.95 * found[NAME][1]  # rare names have no form
    assert found[ACCOUNT][0] == found[PHONE][0] == 0  # numbers do
    assert found[ADDRESS][0] < 0.05 * found[ADDRESS][1]
    assert 0.5 * found[ASKED][1] < found[ASKED][0] < found[ASKED][1]
