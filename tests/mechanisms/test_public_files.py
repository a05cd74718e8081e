"""Public lists of items: formats, the log's own normalisation, order, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from records import record_of

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import LogError, Refused, UsageError, ZealousError
from zealous.items import (
    Kind,
    clicks,
    columns,
    keywords,
    phrase_pairs,
    queries,
    query_clicks,
    query_pairs,
)
from zealous.items import lists as listing
from zealous.logs.log import ANONYMIZED, INTERNAL, NOT_PRIVATE, read_log
from zealous.logs.open_log import open_log
from zealous.mechanisms.public_files import PublicTable, read_public
from zealous.mechanisms.results import MOST_RESULTS, read_results
from zealous.planning.plan import plan
from zealous.privacy.guarantee import Indistinguishability
from zealous.record.codec import to_json

SECRET = "Zanzibar"


def read(path: Path, kind: Kind, **options: Any) -> PublicTable:
    return read_public(path, kind, **options)


def items(public: PublicTable) -> list[Any]:
    """The items in their order, those of one column as they are."""
    rows = [tuple(row.values()) for row in public.table.drop_columns(["count"]).to_pylist()]
    return [row[0] if len(row) == 1 else row for row in rows]


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def released(folder: Path, tables: dict[str, pa.Table], **changes: Any) -> Path:
    """A release with these tables, whatever it promises."""
    folder.mkdir()
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    files = {
        name: {
            "parquet": f"{name}.parquet",
            "csv": f"{name}.csv",
            "columns": [each for each in table.column_names if each != "count"],
            "rows": len(table),
        }
        for name, table in tables.items()
    }
    stated = to_json(record_of(plan(Indistinguishability(epsilon=1, delta="1e-6"), [queries(1)])))
    about = {**stated, "id": "2026-03", "files": files, **changes}
    (folder / "release.json").write_text(json.dumps(about))
    return folder


# Formats


FORMATS = {
    "list.txt": "Green Tea\nshoes\n",
    "list.csv": 'query\n"Green Tea"\nshoes\n',
    "list.tsv": "query\nGreen Tea\nshoes\n",
    "windows.csv": "\ufeffquery\r\nGreen Tea\r\nshoes\r\n",
    "other.csv": "name,count\nGreen Tea,2\nshoes,1\n",
    "no-end.txt": "Green Tea\nshoes",
}


@pytest.mark.parametrize("name", FORMATS)
def test_text(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, FORMATS[name])
    found = read(path, queries(1))
    assert items(found) == ["green tea", "shoes"]
    assert (found.name, found.rows, found.skipped) == (name, 2, 0)
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.table.schema.names == ["query", "count"]


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)])
def test_compressed_text(tmp_path: Path, ending: str, pack: Any) -> None:
    path = tmp_path / f"list.csv.{ending}"
    path.write_bytes(pack(b"query,x\nshoes,1\n"))
    assert items(read(path, queries(1))) == ["shoes"]


@pytest.mark.parametrize("ending", ["parquet", "pq"])
def test_parquet(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"list.{ending}"
    pq.write_table(pa.table({"query": ["Green Tea", None, "shoes"], "x": [[1], [2], []]}), path)
    found = read(path, queries(1))
    assert items(found) == ["green tea", "shoes"]
    assert (found.rows, found.skipped) == (3, 1)


def test_the_directory_of_a_release(tmp_path: Path) -> None:
    tables = {
        "queries": pa.table({"query": ["shoes", "tea", "hats"], "count": [9, 70, -3]}),
        "clicks": pa.table({"url": ["http://a"], "count": [5]}),
    }
    folder = released(tmp_path / "release", tables)
    found = read(folder, queries(1))
    assert items(found) == ["tea", "shoes", "hats"]
    assert found.name == "2026-03"
    table = (folder / "queries.parquet").read_bytes()
    assert found.sha256 == hashlib.sha256(table).hexdigest()
    assert items(read(folder, clicks(1))) == ["http://a"]


def test_columns_by_the_names_of_the_kind(tmp_path: Path) -> None:
    text = "next_query,query,country,noise\nhats,Shoes,de,1\n"
    path = written(tmp_path / "pairs.csv", text)
    assert items(read(path, query_pairs(1))) == [("shoes", "hats")]
    assert items(read(path, query_pairs(1, by="country"))) == [("shoes", "hats", "de")]
    assert items(read(path, columns("noise", "country", items_per_user=1))) == [("1", "de")]


def test_a_column_called_frequency_may_be_the_item(tmp_path: Path) -> None:
    path = written(tmp_path / "waves.csv", "frequency,count\n100 Hz,1\n200 Hz,5\n")
    assert items(read(path, columns("frequency", items_per_user=1))) == ["200 Hz", "100 Hz"]
    path = written(tmp_path / "alone.csv", "frequency\n1\n3\n2\n")
    assert items(read(path, columns("frequency", items_per_user=1))) == ["1", "3", "2"]


# Items are those of a log


TEXTS = [
    "Green  Tea",
    "ÄRGER",
    "İstanbul",
    "ΣΊΣΥΦΟΣ",
    "wi-fi",
    "e\u0301tude",
    "non\u00a0breaking",
    "हिन्दी",
    "a\tb",
    "= 1 + 1",
    "new york",
    "New York",
    "rock rock",
    "C++",
    "...",
    "–",
    "10%",
]


def of_log(folder: Path, kind: Kind, texts: Sequence[str]) -> list[set[tuple[str, ...]]]:
    """The items of each text, as a log of one user each has them."""
    path = folder / "log.parquet"
    log = {"user": range(len(texts)), "query": texts, "url": texts, "shop": texts}
    pq.write_table(pa.table({name: list(values) for name, values in log.items()}), path)
    with DuckDB(threads=1) as engine:
        source = open_log(read_log(path), engine, kind.extra_columns())
        every = Step("every", "select * from items")
        rows = engine.rows([*source.entries, *kind.steps(source), every])
    held: list[list[tuple[str, ...]]] = [[] for _ in texts]
    for user, *item in rows:
        held[user].append(tuple(item))
    return [set(each) if len(each) == 1 else set() for each in held]


@pytest.mark.parametrize(
    "kind",
    [
        queries(1),
        queries(1, fold_words=True),
        keywords(1),
        clicks(1),
        columns("shop", items_per_user=1),
    ],
    ids=str,
)
def test_what_a_log_would_have(tmp_path: Path, kind: Kind) -> None:
    expected = of_log(tmp_path, kind, TEXTS)
    pq.write_table(pa.table({"thing": TEXTS}), tmp_path / "list.parquet")
    written(tmp_path / "list.txt", "".join(f"{text}\n" for text in TEXTS))
    for name in ("list.parquet", "list.txt"):
        found = read(tmp_path / name, kind)
        assert {(item,) for item in items(found)} == set().union(*expected)
        assert found.skipped == sum(not each for each in expected)
    assert expected[-1] or isinstance(kind, type(keywords(1)))


def test_a_row_of_several_items_is_none(tmp_path: Path) -> None:
    path = written(tmp_path / "words.txt", "Tea\ngreen tea\nrock rock\nwi-fi\n tea! \n")
    found = read(path, keywords(1))
    assert items(found) == ["tea"]
    assert (found.rows, found.skipped) == (5, 3)


def test_keywords_of_a_log_that_has_lists_of_them(tmp_path: Path) -> None:
    path = written(tmp_path / "words.txt", "東京 タワー\nWi-Fi\n")
    assert items(read(path, keywords(1), roles=["user", "keywords"])) == ["東京 タワー", "wi-fi"]
    numbers = tmp_path / "numbers.parquet"
    pq.write_table(pa.table({"keyword": [7, 8]}), numbers)
    assert items(read(numbers, keywords(1), roles=["keywords"])) == ["7", "8"]


def test_numbers_are_written_as_those_of_a_log(tmp_path: Path) -> None:
    path = tmp_path / "skus.parquet"
    pq.write_table(pa.table({"sku": [12.0, 7.5, None], "id": [3, 2, 1]}), path)
    kind = columns("sku", items_per_user=1)
    log = tmp_path / "log.parquet"
    pq.write_table(pa.table({"user": [1, 2, 3], "sku": [12.0, 7.5, None]}), log)
    with DuckDB(threads=1) as engine:
        source = open_log(read_log(log), engine, kind.extra_columns())
        every = Step("every", "select sku from items")
        expected = {row[0] for row in engine.rows([*source.entries, *kind.steps(source), every])}
    assert set(items(read(path, kind))) == expected
    assert items(read(path, columns("id", items_per_user=1))) == ["3", "2", "1"]


def test_pairs_of_queries(tmp_path: Path) -> None:
    text = "query,next_query\nHotels  Paris,HOTELS Rome\ntea,Tea\nshoes,...\ntea,shoes\n"
    path = written(tmp_path / "pairs.csv", text)
    found = read(path, query_pairs(1))
    assert items(found) == [("hotels paris", "hotels rome"), ("tea", "shoes")]
    assert (found.rows, found.skipped) == (4, 2)
    folded = read(path, query_pairs(1, fold_words=True))
    assert items(folded) == [("hotels paris", "hotels rome"), ("tea", "shoes")]


def test_pairs_of_phrases_are_cut_as_those_of_a_log(tmp_path: Path) -> None:
    text = "phrase,next_phrase\nHotels Paris,hotels rome\nparis,rome\nhotels,hotels paris\n"
    found = read(written(tmp_path / "pairs.csv", text), phrase_pairs(1))
    assert items(found) == [("paris", "rome"), ("hotels", "hotels paris")]


# Order


def test_counts_order_the_items(tmp_path: Path) -> None:
    text = "query,count\ntea,3\nshoes,20\nhats,20\nbags,\nboots,many\nTEA,7\ncaps,nan\n"
    found = read(written(tmp_path / "prior.csv", text), queries(1))
    assert items(found) == ["hats", "shoes", "tea", "bags", "boots", "caps"]
    assert found.table["count"].to_pylist() == [3, 3, 2, 1, 1, 1]
    assert found.rows == 7


def test_frequencies_that_are_no_whole_numbers(tmp_path: Path) -> None:
    text = "query,frequency\ntea,0.001\nshoes,2e-2\nhats,-1\n"
    found = read(written(tmp_path / "prior.csv", text), queries(1))
    assert items(found) == ["shoes", "tea", "hats"]
    assert found.table["count"].type == pa.int64()


def test_without_counts_the_first_is_the_most_frequent(tmp_path: Path) -> None:
    lines = [f'"item, {n}"' if n % 3 else f"item {n}" for n in range(1000)]
    found = read(written(tmp_path / "prior.csv", "\n".join(["query", *lines])), queries(1))
    assert items(found) == [line.strip('"') for line in lines]
    assert found.table["count"].to_pylist() == list(range(1000, 0, -1))


def test_an_item_comes_once(tmp_path: Path) -> None:
    found = read(written(tmp_path / "list.txt", "tea\nshoes\nTEA\n tea \n"), queries(1))
    assert items(found) == ["tea", "shoes"]
    assert (found.rows, found.skipped) == (4, 0)


# Bad lines


def test_a_bad_line_changes_no_other(tmp_path: Path) -> None:
    good = [b"tea,1", b"shoes,2", b'"hats, red",3']
    bad = [b'"quote,4', b"a,b,c", b"x", b"nul\0,1", b"cr\rcr,1", b"\xff\xfe,1", b"y" * (1 << 21)]
    expected = ["hats, red", "shoes", "tea"]
    for line in bad:
        for place in range(len(good) + 1):
            lines = [b"query,count", *good[:place], line, *good[place:], b""]
            (tmp_path / "list.csv").write_bytes(b"\n".join(lines))
            found = read(tmp_path / "list.csv", queries(1))
            assert items(found) == expected
            assert (found.rows, found.skipped) == (4, 1)


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    found = read(written(tmp_path / "list.txt", "\ntea\n\n   \n\nshoes\n\n"), queries(1))
    assert items(found) == ["tea", "shoes"]
    assert (found.rows, found.skipped) == (3, 1)


# Errors


def refusals(folder: Path) -> list[tuple[Path, Kind, type[ZealousError], str]]:
    good = pa.table({"query": [SECRET], "count": [1]})
    damaged = folder / "damaged.parquet"
    pq.write_table(good, damaged)
    damaged.write_bytes(damaged.read_bytes()[:-20])
    cut = folder / "cut.csv.gz"
    cut.write_bytes(gzip.compress(f"query\n{SECRET}\n".encode() * 1000)[:-30])
    labelled = folder / "labelled.parquet"
    pq.write_table(good.replace_schema_metadata({"zealous": NOT_PRIVATE}), labelled)
    for name, marker in (("anonymous", ANONYMIZED), ("internal", INTERNAL)):
        (folder / name).mkdir()
        (folder / name / marker).write_text("{}")
        written(folder / name / "queries.csv", f"query\n{SECRET}\n")
    (folder / "empty").mkdir()
    nested = folder / "nested.parquet"
    pq.write_table(pa.table({"query": [[SECRET]]}), nested)
    of = {"queries": good}
    pair = written(folder / "pair.csv", f"query,url,x\n{SECRET},http://a,1\n")
    return [
        (folder / "nowhere.txt", queries(1), LogError, "neither a file"),
        (folder / "empty", queries(1), LogError, "neither a file"),
        (written(folder / "none.txt", ""), queries(1), LogError, "lists no queries"),
        (written(folder / "blank.txt", "\n \n...\n"), queries(1), LogError, "lists no queries"),
        (written(folder / "none.csv", ""), queries(1), LogError, "does not name the columns"),
        (written(folder / "head.csv", "query\n"), queries(1), LogError, "lists no queries"),
        (written(folder / "two.txt", f"{SECRET} {SECRET}\n"), keywords(1), LogError, "no keywords"),
        (written(folder / "log.json", "{}"), queries(1), UsageError, "ending"),
        (pair, keywords(1), UsageError, "no column 'keyword'"),
        (pair, query_pairs(1), UsageError, "query-pairs need the columns query, next_query"),
        (pair, queries(1, by="country"), UsageError, "no column 'country'"),
        (written(folder / "one.txt", SECRET), query_clicks(1), UsageError, "no column 'query'"),
        (nested, queries(1), UsageError, "not text"),
        (damaged, queries(1), LogError, "readable Parquet"),
        (cut, queries(1), LogError, "damaged or cut short"),
        (labelled, queries(1), Refused, "anonymity method"),
        (folder / "anonymous", queries(1), Refused, "anonymity method"),
        (folder / "anonymous" / "queries.csv", queries(1), Refused, "anonymity method"),
        (folder / "internal" / "queries.csv", queries(1), Refused, "true figures"),
        (folder / "internal", queries(1), Refused, "true figures"),
        (released(folder / "r1", of), clicks(1), UsageError, "holds no clicks"),
        (released(folder / "r2", of, private=False), queries(1), Refused, "fixed seed"),
        (released(folder / "r3", of, format="other"), queries(1), LogError, "holds no release"),
        (released(folder / "r4", of, files=[]), queries(1), LogError, "holds no release"),
        (released(folder / "r5", of, files=3), queries(1), LogError, "holds no release"),
    ]


def test_what_cannot_be_read_is_said_without_quoting_it(tmp_path: Path) -> None:
    for path, kind, error, said in refusals(tmp_path):
        with pytest.raises(error, match=said) as raised:
            read(path, kind)
        assert SECRET not in str(raised.value)
        assert type(raised.value) is error


def test_a_table_of_a_release_that_is_gone(tmp_path: Path) -> None:
    folder = released(tmp_path / "r", {"queries": pa.table({"query": ["a"], "count": [1]})})
    (folder / "queries.parquet").unlink()
    with pytest.raises(LogError, match="cannot be read: No such file"):
        read(folder, queries(1))


@pytest.mark.parametrize("name", ["list.txt", "list.parquet"])
def test_more_rows_than_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / name
    if name.endswith("txt"):
        written(path, "a\nb\nc\n")
    else:
        pq.write_table(pa.table({"query": ["a", "b", "c"]}), path)
    monkeypatch.setattr(listing, "MOST_ROWS", 3)
    assert len(items(read(path, queries(1)))) == 3
    monkeypatch.setattr(listing, "MOST_ROWS", 2)
    with pytest.raises(LogError, match="more than 2 rows: give a shorter list"):
        read(path, queries(1))


def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    path = written(tmp_path / "list.txt", "tea\n")
    program = (
        "import sys, zealous.mechanisms.public_files\n"
        "from zealous.items import queries\n"
        "from zealous.items.lists import find_list\n"
        "assert find_list(sys.argv[1], queries(1)).name == 'list.txt'\n"
        "assert not {'numpy', 'pyarrow', 'duckdb', 'pandas'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program, path], check=True, capture_output=True)


# Results of a search


def results(path: Path, text: str, **options: Any) -> PublicTable:
    kind = query_clicks(1, **options)
    return read_results(written(path, text), kind)


def rows(public: PublicTable) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for row in public.table.to_pylist()]


def test_the_first_documents_of_each_query_by_rank(tmp_path: Path) -> None:
    ranks = [*range(150, 0, -1)]
    lines = [f"Tea,http://a/{rank},{rank}\n" for rank in ranks]
    lines += ["shoes,http://b,7\n", "TEA,http://a/149,2.5\n", "tea,http://last,none\n"]
    found = results(tmp_path / "results.csv", "query,url,rank\n" + "".join(lines))
    tea = [1, 2, 149, *range(3, 100)]
    expected = [("shoes", "http://b"), *(("tea", f"http://a/{rank}") for rank in tea)]
    assert len(tea) == MOST_RESULTS
    assert rows(found) == expected
    assert found.table.column_names == ["query", "url"]
    assert (found.rows, found.skipped) == (153, 0)


def test_without_ranks_the_order_of_the_file_counts(tmp_path: Path) -> None:
    urls = [
        f"http://a/{n * 37 % 101},x" if n % 2 else f"http://a/{n * 37 % 101}" for n in range(101)
    ]
    text = "query,url\n" + "".join(
        f'tea,"{url}"\n' if "," in url else f"tea,{url}\n" for url in urls
    )
    assert rows(results(tmp_path / "results.csv", text)) == [("tea", url) for url in urls[:100]]


def test_results_by_an_attribute(tmp_path: Path) -> None:
    text = "query,url,country\n" + "".join(
        f"tea,http://a/{n},{country}\n" for n in range(101) for country in ("de", "fr")
    )
    found = results(tmp_path / "results.csv", text, by="country")
    assert len(rows(found)) == 200
    assert rows(found)[-1] == ("tea", "http://a/99", "fr")
