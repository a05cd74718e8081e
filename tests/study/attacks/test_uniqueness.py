"""How many known queries pick a person out."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

import zealous as z
from zealous.engines.duckdb import DuckDB
from zealous.errors import UsageError
from zealous.logs.log import Log
from zealous.study.anonymity import KQuery, Method, Pseudonym, Scrub, TokenHash, anonymize
from zealous.study.attacks import uniqueness as module
from zealous.study.attacks.rate import Rate
from zealous.study.attacks.uniqueness import measure_uniqueness
from zealous.synthetic import generate

START = datetime(2026, 1, 1)
Histories = dict[str, list[str]]


def engine() -> DuckDB:
    return DuckDB(threads=1, memory="1GB")


def written(path: Path, histories: Histories, gap: timedelta = timedelta(minutes=1)) -> Log:
    """Each user's queries `gap` apart, each user on a day of her own."""
    rows = [
        (user, START + timedelta(days=day) + n * gap, query)
        for day, (user, queries) in enumerate(histories.items())
        for n, query in enumerate(queries)
    ]
    users, times, queries = (list(column) for column in zip(*rows, strict=True))
    pq.write_table(pa.table({"user": users, "time": times, "query": queries}), path)
    return z.read_log(path)


def rates(
    folder: Path,
    histories: Histories,
    method: Method,
    gap: timedelta = timedelta(minutes=1),
    most: int = 3,
) -> list[tuple[int, int]]:
    log = written(folder / "log.parquet", histories, gap)
    bundle = anonymize(folder / "output", log, method, engine=engine()).bundle
    found = measure_uniqueness(log, bundle, most=most, users=100, seed=1, engine=engine())
    return [(rate.successes, rate.trials) for rate in found]


def test_two_queries_pick_out_where_one_does_not(tmp_path: Path) -> None:
    histories = {"u1": ["a", "b"], "u2": ["b", "c"], "u3": ["c", "a"]}
    assert rates(tmp_path, histories, Pseudonym()) == [(0, 3), (3, 3), (0, 0)]


def test_who_holds_less_than_another_is_hidden(tmp_path: Path) -> None:
    histories = {"u1": ["a", "b"], "u2": ["A ", "b", "a"], "u3": ["a", "b", "c"], "u4": ["d"]}
    assert rates(tmp_path, histories, Pseudonym(), most=3)[1:] == [(0, 3), (1, 1)]


def test_queries_count_once_however_typed(tmp_path: Path) -> None:
    histories = {"u1": ["Green  Tea", "green tea", "GREEN TEA"], "u2": ["green tea"], "u3": ["x"]}
    assert rates(tmp_path, histories, Pseudonym(), most=2) == [(1, 3), (0, 0)]


def test_what_is_suppressed_is_left_aside(tmp_path: Path) -> None:
    histories = {
        "u1": ["a", "rare one"],  # a is left, in two sessions
        "u2": ["a", "b"],  # both are left, together in hers alone
        "u3": ["b", "rare two"],
        "u4": ["rare three", "rare four"],  # nothing is left
    }
    assert rates(tmp_path, histories, KQuery(k=2), most=2)[1] == (1, 4)


def test_an_id_that_is_a_session_is_known_by_one_session(tmp_path: Path) -> None:
    histories = {"u1": ["a", "b"], "u2": ["a", "b"], "u3": ["a"]}
    apart = rates(tmp_path, histories, KQuery(k=2), gap=timedelta(hours=3), most=2)
    assert apart == [(0, 3), (0, 0)]  # nobody asked two queries in one session


def test_the_attacker_scrubs_what_she_knows(tmp_path: Path) -> None:
    histories = {
        "u1": ["tokyo 020 7946 0958"],  # tokyo is left
        "u2": ["Oslo ada@mail.example"],  # Oslo is left, which u3 asked as well
        "u3": ["oslo"],
        "u4": ["020 7946 0958"],  # nothing is left
    }
    assert rates(tmp_path, histories, Scrub(), most=1) == [(1, 4)]


def test_other_methods_and_no_knowledge_are_refused(tmp_path: Path) -> None:
    log = written(tmp_path / "log.parquet", {"u1": ["a"]})
    tokens = anonymize(tmp_path / "t", log, TokenHash()).bundle
    with pytest.raises(UsageError, match="pseudonym"):
        measure_uniqueness(log, tokens, seed=1)
    bundle = anonymize(tmp_path / "p", log, Pseudonym()).bundle
    wrongs: list[dict[str, Any]] = [{"most": 0}, {"users": 0}]
    for wrong in wrongs:
        with pytest.raises(UsageError, match="at least 1"):
            measure_uniqueness(log, bundle, seed=1, **wrong)


PAIRS = st.lists(
    st.lists(st.sampled_from("abcd"), min_size=2, max_size=2, unique=True), min_size=2, max_size=6
)


@examples(20)
@given(pairs=PAIRS, among=st.sampled_from([None, 2]))
def test_against_plain_python(pairs: list[list[str]], among: int | None) -> None:
    """Everybody has two queries, and both are known: no choice is left to the sample."""
    histories = {f"u{n}": pair for n, pair in enumerate(pairs)}
    holders = {q: sum(q in pair for pair in pairs) for pair in pairs for q in pair}
    left = [{q for q in pair if holders[q] >= (among or 1)} for pair in pairs]
    expected = sum(bool(mine) and sum(mine <= other for other in left) == 1 for mine in left)
    with TemporaryDirectory() as folder:
        method = KQuery(k=among) if among else Pseudonym()
        found = rates(Path(folder), histories, method, most=2)
    assert found[1] == (expected, len(pairs))


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Log:
    path = tmp_path_factory.mktemp("uniqueness") / "log.parquet"
    generate(path, users=2_000, seed=4)
    return z.read_log(path)


@pytest.mark.extended
def test_a_generated_log(generated: Log, tmp_path: Path) -> None:
    bundle = anonymize(tmp_path / "p", generated, Pseudonym()).bundle
    found = measure_uniqueness(generated, bundle, users=500, seed=1)
    assert found == measure_uniqueness(generated, bundle, users=500, seed=1)
    assert found != measure_uniqueness(generated, bundle, users=500, seed=2)
    assert [rate.trials for rate in found] == sorted((r.trials for r in found), reverse=True)
    assert found[0].trials == 500
    shares = [rate.share or 0 for rate in found]
    assert shares[0] < 0.9
    assert shares[2] > 0.98
    scrubbed = anonymize(tmp_path / "s", generated, Scrub()).bundle
    assert (measure_uniqueness(generated, scrubbed, users=500, seed=1)[2].share or 0) > 0.95
    hidden = anonymize(tmp_path / "k", generated, KQuery(k=5)).bundle
    sessions = measure_uniqueness(generated, hidden, users=500, seed=1)
    assert sessions[0] == Rate(successes=0, trials=500)  # each query left is in five sessions
    assert 0 < (sessions[1].share or 0) < shares[1]


@pytest.mark.extended
@pytest.mark.parametrize("method", [Pseudonym(), Scrub(), KQuery(k=5)], ids=lambda m: m.name)
def test_the_id_found_is_hers(
    generated: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: Method
) -> None:
    """By the times, which tell whose each row of the output is: every id holds one user's rows.

    The number of ids that hold what remains is compared with a count by plain Python, and the one
    found with the user it was looked for.
    """
    bundle = anonymize(tmp_path / "output", generated, method).bundle
    rows = pq.read_table(generated.paths[0])
    stamps = rows["time"].to_pylist()
    whose: dict[datetime, int | None] = {}
    for stamp, user in zip(stamps, rows["user"].to_pylist(), strict=True):
        whose[stamp] = None if stamp in whose else user  # None: of two, nobody can tell
    output = bundle.log()
    assert output is not None
    owner: dict[str, int] = {}
    held: dict[str, set[str]] = {}
    for name, stamp, query in zip(
        *(output[c].to_pylist() for c in ("id", "time", "query")), strict=True
    ):
        if whose[stamp] is not None:
            owner.setdefault(name, whose[stamp] or 0)
        held.setdefault(" ".join(query.lower().split()), set()).add(name)
    users = sorted(set(rows["user"].to_pylist()))
    looked: list[tuple[int, list[str | None]]] = []
    known, rules = module._known_queries, method.public_rule()
    assert rules is not None

    def watched(entries: list[module._SampledQuery], p: int, seed: int) -> list[list[int]]:
        found = known(entries, p, seed)
        if p == 2:
            looked.extend(
                (users[entries[r[0]].who], [rules(entries[i].typed) for i in r]) for r in found
            )
        return found

    monkeypatch.setattr(module, "_known_queries", watched)
    rate = measure_uniqueness(generated, bundle, most=2, users=300, seed=3)[1]
    picked = 0
    for user, texts in looked:
        sets = [held[t] for text in texts if text and (t := " ".join(text.lower().split())) in held]
        found = set.intersection(*sets) if sets else set()
        if len(found) == 1:
            picked += 1
            assert owner.get(found.pop(), user) == user
    assert rate == Rate(successes=picked, trials=len(looked))
    assert picked > 0
