from collections import Counter, defaultdict
from datetime import timedelta
from difflib import SequenceMatcher
from pathlib import Path
from statistics import mean, median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zealous.synthetic import PAPER, Figures, figures, generate, is_personal
from zealous.synthetic import topics as pool
from zealous.synthetic.behaviour import REGULARS, VISITORS
from zealous.synthetic.chance import zipf
from zealous.synthetic.clicks import clicks
from zealous.synthetic.days import day_entries, next_queries
from zealous.synthetic.people import People
from zealous.synthetic.typed_text import query_texts
from zealous.synthetic.vocabulary import SUBJECTS
from zealous.synthetic.words import BRAND, FAMILY, NONE, TAIL, TYPO, spell, word_numbers
from zealous.synthetic.write import START

USERS, DAYS = 5_000, 30


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generate") / "log.parquet"
    generate(path, users=USERS, seed=7)
    return path


@pytest.fixture(scope="module")
def log(path: Path) -> pa.Table:
    return pq.read_table(path)


@pytest.fixture(scope="module")
def measured(path: Path) -> Figures:
    return figures(path)


@pytest.fixture(scope="module")
def people() -> People:
    return People.draw(USERS, 7, REGULARS)


def small(folder: Path, *, users: int = 300, seed: int = 1, days: int = 3) -> pa.Table:
    path = folder / "small.parquet"
    generate(path, users=users, seed=seed, days=days)
    return pq.read_table(path)


def test_the_same_seed_makes_the_same_log(tmp_path: Path) -> None:
    assert small(tmp_path).equals(small(tmp_path))


def test_another_seed_makes_another_log(tmp_path: Path) -> None:
    assert not small(tmp_path).equals(small(tmp_path, seed=2))


def test_more_days_begin_with_the_same_days(tmp_path: Path) -> None:
    short, long = small(tmp_path), small(tmp_path, days=4)
    assert long.num_rows > short.num_rows
    assert long.slice(0, short.num_rows).equals(short)


def test_columns(log: pa.Table) -> None:
    assert dict(zip(log.schema.names, log.schema.types, strict=True)) == {
        "user": pa.int64(),
        "time": pa.timestamp("us"),
        "query": pa.string(),
        "urls": pa.list_(pa.string()),
    }
    assert all(column.null_count == 0 for column in log.columns)


def test_the_file_says_that_it_is_synthetic(path: Path) -> None:
    assert pq.read_schema(path).metadata[b"zealous"] == b"synthetic log, seed 7"


def test_time_never_runs_back_and_fills_the_days(log: pa.Table) -> None:
    time = log["time"].to_numpy()
    start = np.datetime64(START, "us")
    assert (np.diff(time) >= np.timedelta64(0)).all()
    assert start <= time[0] < start + np.timedelta64(1, "D")
    assert time[-1] < start + np.timedelta64(DAYS, "D")
    assert len(np.unique((time - start) // np.timedelta64(1, "D"))) == DAYS


def test_a_user_does_as_much_as_in_the_paper(log: pa.Table, measured: Figures) -> None:
    assert measured.entries == log.num_rows
    assert 0.95 * USERS < measured.users <= USERS
    assert log["user"].to_numpy().min() >= 1
    assert log["user"].to_numpy().max() <= USERS
    for kind, (per_user, _) in PAPER.kinds.items():
        assert measured.kinds[kind][0] == pytest.approx(per_user, rel=0.15), kind


def test_visitors_do_as_much_but_most_come_once(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    generate(path, users=USERS, seed=7, behaviour=VISITORS)
    found = figures(path)
    assert found.users == USERS  # a log knows nobody who asked nothing
    for kind, (per_user, _) in PAPER.kinds.items():
        assert found.kinds[kind][0] == pytest.approx(per_user, rel=0.3), kind
    table = pq.read_table(path, columns=["user", "query"])
    asked = [len(queries) for queries in queries_by_user(table).values()]
    assert median(asked) <= 4
    assert max(asked) > 300


def queries_by_user(log: pa.Table) -> dict[int, set[str]]:
    found = defaultdict(set)
    for user, query in zip(log["user"].to_pylist(), log["query"].to_pylist(), strict=True):
        found[user].add(query)
    return found


def test_figures_by_hand(tmp_path: Path) -> None:
    minutes = [0, 1, 2, 40, 71]
    table = pa.table(
        {
            "user": [1, 1, 1, 1, 1, 2],
            "time": [START + timedelta(minutes=minute) for minute in [*minutes, 3]],
            "query": ["Dog", "dog", "dog  food", "dog food", "cat", "dog?"],
            "urls": [["a"], [], ["a", "b"], [], [], ["c"]],
        }
    )
    pq.write_table(table, tmp_path / "it's.parquet")
    assert figures(tmp_path / "it's.parquet") == Figures(
        users=2,
        entries=6,
        kinds={
            "keywords": (4.0, 3),
            "queries": (3.0, 4),
            "clicks": (2.0, 3),
            "query_pairs": (0.5, 1),
        },
    )


def test_a_few_users_do_much(log: pa.Table) -> None:
    entries = list(Counter(log["user"].to_pylist()).values())
    assert median(entries) < 0.8 * mean(entries)
    assert max(entries) > 10 * mean(entries)
    assert min(entries) == 1


def test_popular_queries_are_shared_and_most_are_rare(log: pa.Table) -> None:
    users = askers(log)
    count = sorted((len(who) for who in users.values()), reverse=True)
    assert count[0] > USERS / 100
    assert 3 < count[0] / count[100] < 30
    assert 3 < count[100] / count[1000] < 30
    assert sum(n == 1 for n in count) > 0.7 * len(count)


def askers(log: pa.Table) -> dict[str, set[int]]:
    found = defaultdict(set)
    for user, query in zip(log["user"].to_pylist(), log["query"].to_pylist(), strict=True):
        found[" ".join(query.lower().split())].add(user)
    return found


def test_personal_queries_belong_to_a_handful(log: pa.Table) -> None:
    personal = [len(who) for query, who in askers(log).items() if is_personal(query)]
    assert 0.03 < len(personal) / len(askers(log)) < 0.2
    assert max(personal) <= 4
    assert sum(n == 1 for n in personal) > 0.95 * len(personal)


def test_personal_queries_are_all_recognised_and_no_others(people: People) -> None:
    entries = np.concatenate([day_entries(people, day) for day in range(3)])
    texts = query_texts(people, entries, np.random.default_rng(0)).to_pylist()
    assert [is_personal(text) for text in texts] == (entries["query"]["person"] >= 0).tolist()


@pytest.mark.parametrize(
    "query", ["ADA BOLICEQUIST", "acct  123456789?", "12 dosnaith road", "zoe 212 555-0142"]
)
def test_personal(query: str) -> None:
    assert is_personal(query)


@pytest.mark.parametrize("query", ["weather", "acct", "acct 12", "wright", "quist", "555 0242"])
def test_not_personal(query: str) -> None:
    assert not is_personal(query)


def test_most_reformulations_stay_in_the_shared_pool(people: People) -> None:
    before = np.concatenate([day_entries(people, day) for day in range(10)])
    after = next_queries(people, before["user"], before["query"], np.random.default_rng(0))
    before = before["query"]
    topical = (before["topic"] >= 0) & (after["topic"] == before["topic"])
    fields = ("slot", "slot2", "extra", "typo")
    reworded = topical & np.any([after[field] != before[field] for field in fields], axis=0)
    assert reworded.mean() > 0.1
    in_pool = (after["extra"] < 0) & (after["typo"] == 0)
    assert in_pool[reworded].mean() > 0.6


def test_reformulations_add_drop_replace_and_correct_words(log: pa.Table) -> None:
    changes = Counter(change(*pair) for pair in pairs(log))
    for kind in ("add", "drop", "replace", "correct"):
        assert changes[kind] > 100, kind
    assert changes["other"] > 1000


def pairs(log: pa.Table) -> list[tuple[str, str]]:
    last: dict[int, tuple[str, object]] = {}
    found = []
    for row in log.select(["user", "time", "query"]).to_pylist():
        query = " ".join(row["query"].lower().split())
        before, time = last.get(row["user"], (query, row["time"]))
        if before != query and row["time"] - time <= timedelta(minutes=30):
            found.append((before, query))
        last[row["user"]] = (query, row["time"])
    return found


def change(before: str, after: str) -> str:
    old, new = set(before.split()), set(after.split())
    gone, come = old - new, new - old
    if len(gone) == len(come) == 1:
        if SequenceMatcher(None, gone.pop(), come.pop()).ratio() > 0.8:
            return "correct"
        return "replace" if old & new else "other"
    if gone and come:
        return "other"
    return "add" if come else "drop"


def test_the_first_result_is_clicked_most(people: People) -> None:
    entries = day_entries(people, 0)
    entry, rank = clicks(entries, np.random.default_rng(0), people)
    assert (np.diff(entry) >= 0).all()
    count = np.bincount(rank[entries["query"]["page"][entry] == 0], minlength=10)
    assert count[0] > 2 * count[1]
    assert (np.diff(count[:5]) < 0).all()


def test_newcomers_click_less_than_who_comes_often() -> None:
    visitors = People.draw(USERS, 7, VISITORS)
    entries = np.concatenate([day_entries(visitors, day) for day in range(DAYS)])
    entry, _ = clicks(entries, np.random.default_rng(0), visitors)
    clicked = np.bincount(entry, minlength=len(entries))
    often = visitors.rates[entries["user"]] > VISITORS.sessions_a_day
    assert clicked[~often].mean() < 0.7 * clicked[often].mean()
    assert clicked.mean() == pytest.approx(14 / 20, rel=0.1)


def test_brands_have_one_dominant_url(log: pa.Table) -> None:
    topic = np.arange(200)
    brand = spell(pool.name_words(topic[pool.is_brand(topic)], REGULARS.words)[:, 0]).to_pylist()
    clicked: dict[str, Counter[str]] = defaultdict(Counter)
    for row in log.select(["query", "urls"]).to_pylist():
        clicked[row["query"]].update(row["urls"])
    for name in brand[:20]:
        (first, count), (_, next_count) = clicked[name].most_common(2)
        assert first == f"http://www.{name}.example/"
        assert count > 2 * next_count


def test_words_are_all_different() -> None:
    ranks = np.concatenate([np.arange(170_000), np.arange(22_000_000, 22_010_000)])
    for kind in (TAIL, BRAND, FAMILY):
        assert len(spell(kind + ranks).unique()) == len(ranks)
    apart = [set(spell(kind + np.arange(50_000)).to_pylist()) for kind in (TAIL, BRAND, FAMILY)]
    assert not apart[0] & apart[1]
    assert not apart[0] & apart[2]
    assert not apart[1] & apart[2]


def test_spelling() -> None:
    weather = int(word_numbers(SUBJECTS[0][0])[0])
    found = spell(np.array([weather, NONE, weather + TYPO, weather, weather + 2 * TYPO]))
    text = found.to_pylist()
    assert text[:2] == ["weather", None]
    assert text[3] == "weather"
    assert sorted(len(word or "") for word in text) == [0, 6, 7, 7, 8]


def test_popularity_follows_its_power() -> None:
    ranks = zipf(np.random.default_rng(0).random(200_000), power=1.2, shift=1.0, size=1e6)
    count = np.bincount(ranks, minlength=1000)
    expected = (np.arange(1001) + 1.0) ** -0.2
    total = 1 - (1e6 + 1) ** -0.2
    assert count[:20] / 200_000 == pytest.approx(-np.diff(expected)[:20] / total, rel=0.1)
    assert ranks.max() > 100_000


def test_one_user_on_one_day(tmp_path: Path) -> None:
    for seed in range(8):  # some of them ask nothing at all
        assert small(tmp_path, users=1, days=1, seed=seed).num_columns == 4
