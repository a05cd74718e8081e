"""Results of queries as logs: PostgreSQL, SQLite, DuckDB."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from conftest import Run
from log_forms import GOAL, PUBLISHED, ROWS, SQL, entries, fill_postgres, published, sqlite_of
from postgres import PASSWORD, postgres_server

import zealous as z
from zealous.errors import LogError, Refused, UsageError
from zealous.logs.databases.adbc import AdbcServer
from zealous.logs.databases.postgresql import PostgreSQL
from zealous.logs.person_sql import PersonQuery, query_assumption
from zealous.logs.query import Query
from zealous.planning.log_binding import LogBinding

# What the people of the log do not share with each other, in every type that a database has.
ODD_POSTGRES = """
create function note() returns int language sql as 'insert into log values (0) returning who';
create view noting as select note() as who;
create schema main;
create view main.log as select * from log;
create table odd (who numeric, q text, asked timestamptz, day date, size float8, urls text[]);
insert into odd values
    ('NaN', 'tea', 'infinity', 'infinity', 'NaN', array[['a'], ['b']]),
    (1e400::numeric, repeat('z', 2000000), '-infinity', '0044-03-15 BC', '-infinity', '{}'),
    (null, null, null, null, null, null),
    (7, 'Green Tea', '2026-01-31 12:00:00+01', '2026-01-31', 0.5, array['c', null, 'd']);
create table large (who int8, ip inet, doc jsonb, file bytea, sizes numeric[], flags int2[]);
insert into large values
    (1, '10.0.0.1', '{}', 'x', '{1.50, NaN}', '{1, 2}'),
    (2, '10.0.0.0/8', null, null, array_fill(1e131071::numeric, array[9]), null),
    (3, null, null, null, null, array_fill(1::int2, array[1100000]))
"""


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with postgres_server() as url:
        fill_postgres(url, *ODD_POSTGRES.split(";"))
        yield url


# Hostile rows


def test_no_row_of_postgresql_stops_a_run(postgres: str) -> None:
    sql = 'select who as "user", q as query, asked as time, urls as url, day, size from odd'
    found = entries(z.read_log(postgres, sql=sql), "day", "size")
    rows = {row[0]: row[1:] for row in found}
    eleven = datetime(2026, 1, 31, 11)
    assert rows.pop("7") == ("Green Tea", eleven, ["c", None, "d"], "2026-01-31", "0.5")
    ((who, others),) = rows.items()  # NaN is nobody's id
    assert (len(who), others) == (401, (None, None, [], "0044-03-15 BC", None))


def test_no_size_of_a_value_in_postgresql_stops_a_run(postgres: str) -> None:
    """The text of a small value may be longer than the server can hold."""
    sql = "select who as \"user\", ip as query, {} as url from large where who <> '9'"
    found = [entries(z.read_log(postgres, sql=sql.format(each))) for each in ("sizes", "flags")]
    addresses = [(1, "10.0.0.1"), (2, "10.0.0.0/8"), (3, None)]
    lists: list[list[Any]] = [[["1.50", None], None, None], [["1", "2"], None, None]]
    assert found == [[(*a, b) for a, b in zip(addresses, each, strict=True)] for each in lists]
    for each in ("doc", "file"):
        log = z.read_log(postgres, sql=sql.format(each))
        with pytest.raises(UsageError, match=r"'url' holds (jsonb|bytea) values"):
            entries(log)


def test_no_row_of_sqlite_stops_a_run(tmp_path: Path) -> None:
    odd = [("ann", b"\xff", 5), (b"\0", "tea", "x"), (1e300, 5, 0.5), (None, None, None)]
    path = sqlite_of(tmp_path / "log", [*ROWS, *odd])
    with sqlite3.connect(path) as connection:
        connection.execute("insert into log values (9e999, cast(x'ff41' as text), zeroblob(9))")
        connection.execute("insert into log values (60, hex(zeroblob(1000000)), 1)")
    connection.close()
    log = z.read_log(f"sqlite:///{path}", sql=SQL)
    assert {f"query {number}" for number in range(7)} <= published(log).keys()
    found = [row[:2] for row in entries(log) if row[0] in ("ann", "60", "1e300")]
    assert found == [("1e300", "5"), ("60", None), ("ann", None)]


def test_no_row_of_duckdb_stops_a_run(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "log") as connection:
        connection.sql("create table log (who hugeint, q varchar, asked timestamp)")
        most = 2**127 - 1
        connection.sql(f"insert into log values ({most}, 'tea', 'infinity'), ({-most}, null, null)")
        connection.sql("insert into log values (1, repeat('z', 2000000), '290000-01-01 (BC)')")
    found = entries(z.read_log(tmp_path / "log", sql=SQL))
    assert found == sorted([(str(most), "tea", None), (str(-most), None, None), ("1", None, None)])


# What a query may do

FINE = [
    "select who as user, q as query from log",
    "select l.who as user, L.q as query from main.log L where asked > '2026-01-01' and l.who > '2'",
    "select * from log where (q like 'Query%' or q not like '%7') and who not in ('1', '2')",
    "select who as user, q as query from log where who not between '3' and '9' or q < 'Query  3'",
    "select who as user, q as query from log where who is not null and q <> 'it''s \\'",
]
REFUSED = [
    # Rows of several people, or of several days of one
    "with C as (select who, max(q) over () as q from log) select who as user, q from c",
    "with c as (select who from log) select who as user from (with c as (select 1) select 2) p",
    "with c(who, n) as (select pid, who from log) select who as user, n as query from c",
    "with recursive a as (select who from log) select who as user from a",
    "with gone as (delete from log returning *) select * from gone",
    "select who as user, row_number() over (partition by who order by asked) as query from log",
    "select who as user, count(*) over (partition by who rows size preceding) from log",
    "select who as user, count(*) over w as query from log window w as ()",
    "select a.who as user, b.q as query from log a join main.log b on a.q = b.q",
    "select pub.k as user, pub.k as query from pub left join log on pub.k = log.q",
    "select who as user from log, pub",
    "select who as user, n as query from (select pid, who from log) as c(who, n)",
    "select who as user, n as query from log as c(who, n)",
    "select who as user, count(*) as query from log group by who",
    "select count(*) as user from log",
    "select max(q) as user from log having max(q) > 'a'",
    "select distinct who as user, q as query from log",
    "select distinct on (who) who as user, q from log",
    "select who as user, q from log order by q",
    "select who as user, q from log limit 3",
    "select who as user, q from log offset 3",
    "select who as user, q from log fetch first 3 rows only",
    "select who as user, q from log union all select who, q from log2",
    "select who as user from log where q in (select q from log2)",
    "select who as user from log where q = any (select q from log2)",
    "select who as user from log where exists (select 1 from log2)",
    "select who as user, (select max(q) from log2) from log",
    "select who as user from log tablesample bernoulli (1)",
    "select who as user from log for update",
    "select who as user into other from log",
    "select who as user, ROWID as query from log",
    'select who as user, "ctid" as query from log',
    "select who as user from log where log.xmin = '7'",
    "select _Each_Row as user from log",
    "select other.who as user from log",
    "select log.* from log",
    "select *, who as user from log",
    "select who as user from generate_series(1, 2) as log(who)",
    "select who as user from read_csv('x.csv')",
    # One row could make them fail, or tell what the text does not
    "select who as user, q::int as query from log",
    "select who as user, try_cast(q as int) as query from log",
    "select who as user, cast(who as text) as query from log",
    "select who as user, -size as query from log",
    "select who as user, 1 / size as query from log",
    "select who as user, split_part(q, ',', size) as query from log",
    "select who as user, date_trunc('week', asked) as query from log",
    "select who as user, array_agg(q) as query from log",
    "select who as user, urls[1] as query from log",
    "select who as user, urls || tags as query from log",
    "select who as user, replace(q, 'a', 'aa') as query from log",
    "select who as user, substring(q, 99999999999) as query from log",
    "select who as user, lower(q) as query from log",
    "select who as user, now() as query from log",
    "select who as user, 'constant' as query from log",
    "select who as user, (log).q as query from log",
    'select who as user, q collate "C" as query from log',
    "select who as user from log where q like 'a\\'",
    "select who as user from log where q like 'a' escape 'x'",
    "select who as user from log where q like pattern",
    "select who as user from log where q like all ('a')",
    "select who as user from log where q ~ 'a'",
    "select who as user from log where q = who",
    "select who as user from log where 'a' = q",
    "select who as user from log where q = null",
    "select who as user from log where q in ('a', who)",
    "select who as user from log where q between 'a' and who",
    "select who as user from log where (q, who) in (('a', '1'))",
    "select who as user from log where asked > date '2026-01-01'",
    "select who as user from log where q = 'a' 'b'",
    "select who as user from log where size + 1 > '3'",
    "select who as user from log where random() < '0.5'",
    "select who as user from log where paid",
]
REFUSED_IN = [
    ("duckdb", "select * exclude (who) from log"),
    ("duckdb", "select * replace (max(q) over () as q) from log"),
    ("duckdb", "select * rename (who as other) from log"),
    ("duckdb", "select columns('w.*') from log"),
    ("duckdb", "select who as user, q as query from log using sample 3"),
    ("duckdb", "select who as user from log qualify row_number() over (partition by who) = 1"),
    ("duckdb", "select who as user from log positional join pub"),
    ("duckdb", "select who as user, count(*) as query from log group by all"),
    ("duckdb", "select who as user, s.x as query from log"),
    ("sqlite", "select who as user from log indexed by x"),
    ("sqlite", "select _rowid_ as user, oid from log"),
    ("sqlite", "select who as user from log where q match 'x'"),
    ("snowflake", "select metadata$filename as user from log"),
    ("snowflake", "select $1 as user from @stage"),
    ("bigquery", "select _PARTITIONTIME as user from log"),
    ("bigquery", "select who as user from log for system_time as of '2026-01-01'"),
    ("postgres", "select who from only log"),
    ("postgres", "select who from log where q = E'\\'a'"),
    ("postgres", "select who from log where q = $$a$$"),
    ("postgres", f"select who from log where size < {'9' * 400}"),
]
NO_QUERY = [
    "delete from log",
    "drop table log",
    "select who from log; delete from log",
    "copy log to 'x'",
    "values (1)",
    "select 1 as user",
    "nonsense (",
    "select who from log where q = 'a\0b'",
    "",
]


@pytest.mark.parametrize("sql", FINE)
def test_rows_of_one_table_are_read_from_every_database(
    postgres: str, tmp_path: Path, sql: str
) -> None:
    with duckdb.connect(tmp_path / "log.duckdb") as connection:
        connection.sql("create table log (who int, q varchar, asked timestamp)")
        connection.executemany("insert into log values (?, ?, ?)", ROWS)
    sqlite_of(tmp_path / "log.sqlite", ROWS)
    columns = z.Columns(user="who", query="q") if "*" in sql else None
    made = (tmp_path / "log.duckdb", tmp_path / "log.sqlite", postgres)
    found = [entries(z.read_log(each, sql=sql, columns=columns)) for each in made]
    said = [{(str(who), query) for who, query, *_ in each} for each in found]
    assert said[0]
    assert said == said[:1] * 3


@pytest.mark.parametrize("dialect", ["postgres", "sqlite", "duckdb", "snowflake", "bigquery", ""])
def test_nothing_but_rows_of_one_table_is_read(dialect: str) -> None:
    here = [sql for kind, sql in REFUSED_IN if kind == dialect]
    for sql in [*REFUSED, *here]:
        with pytest.raises((Refused, UsageError)) as raised:
            PersonQuery(sql, dialect)
        unknown = "is not a query that the dialect"  # sqlglot does not know it there
        assert "and select from it" in str(raised.value) or unknown in str(raised.value), sql


def test_a_number_stands_in_quotes_where_the_database_would_convert_the_column() -> None:
    for constant in ("10", "-1", "true"):
        sql = f"select who from log where who = {constant}"
        for dialect in ("postgres", "sqlite", "bigquery"):
            PersonQuery(sql, dialect)
        for dialect in ("duckdb", "snowflake", ""):
            with pytest.raises(Refused, match=r"write '10'"):
                PersonQuery(sql, dialect)


def test_no_row_meets_a_constant_that_is_not_of_its_columns_type(
    postgres: str, tmp_path: Path
) -> None:
    with duckdb.connect(tmp_path / "log") as connection:
        connection.sql("create table log (who int, q varchar)")
    sql = """select who as "user", q as query from log where q = 'x' and who in ('1', 'none')"""
    for given in (tmp_path / "log", postgres):
        with pytest.raises(LogError, match="constant is not of its column's type"):
            z.read_log(given, sql=sql)


@pytest.mark.parametrize("sql", NO_QUERY)
def test_nothing_but_one_query_is_run(sql: str) -> None:
    with pytest.raises(UsageError, match=r"^sql"):
        PersonQuery(sql, "postgres")


class Plain(AdbcServer):
    """As Snowflake, BigQuery and Flight SQL are read, whose servers no test has."""

    scheme = "postgresql"
    driver = "adbc_driver_postgresql.dbapi"

    def _connect(self) -> Any:
        return self._driver().connect(self._url, autocommit=True)


def test_other_databases_of_adbc_are_read_by_the_same_code(postgres: str) -> None:
    with Plain(postgres).open_rows(PersonQuery(SQL, "postgres"), ()) as rows:
        assert rows.schema.names == ["user", "query", "time"]
        found = pa.Table.from_batches(rows.batches(["query", "user"])).to_pylist()
    assert found == [{"query": q, "user": who} for who, q, _ in ROWS]


@pytest.mark.parametrize(
    ("url", "connected", "name"),
    [
        ("snowflake://a:S3cret@acc/db?role=r", ("a:S3cret@acc/db?role=r",), "snowflake://acc/db"),
        (
            "bigquery://shop/visits",
            (
                {
                    "adbc.bigquery.sql.project_id": "shop",
                    "adbc.bigquery.sql.dataset_id": "visits",
                },
            ),
            "bigquery://shop/visits",
        ),
        (
            "flightsql://a:S%40cret@host:1",
            ("grpc+tls://host:1", {"username": "a", "password": "S@cret"}),
            "flightsql://host:1",
        ),
    ],
)
def test_how_other_databases_are_connected_to(
    url: str, connected: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=f"pip install adbc-driver-{name.partition(':')[0]}"):
        z.read_log(url, sql=SQL)
    given: list[Any] = []

    class Driver:
        @staticmethod
        def connect(*places: Any, **options: Any) -> None:
            given.append((*places, *(options[each] for each in options if each == "db_kwargs")))
            raise ValueError("S3cret")

    monkeypatch.setattr(AdbcServer, "_driver", lambda _: Driver)
    with pytest.raises(LogError, match=f"^{name} cannot be connected to"):
        z.read_log(url, sql=SQL)
    assert given == [connected]


def test_what_is_wrong_with_a_query_is_said(postgres: str, tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "log") as connection:
        connection.sql("create table log (who int, q varchar)")
    for given in (postgres, tmp_path / "log"):
        with pytest.raises(LogError, match="no such column"):
            z.read_log(given, sql="select nobody as user from log")
        with pytest.raises(LogError, match="no such table"):
            z.read_log(given, sql="select who as user from nothing")
    with pytest.raises(LogError, match="cannot be connected to: check its host"):
        z.read_log("postgresql://ann:x@localhost:1/db", sql=SQL)


def test_a_name_in_postgresql_is_that_of_a_column() -> None:
    """Neither a role, nor a function of the whole row, nor another column in other letters."""
    made = PersonQuery('select USER, l.lower, "Who" from Log l', "postgres")
    assert made.sql() == 'SELECT "user", "lower", "Who" FROM "log" AS "_each_row"'


def test_the_assumption_names_the_unit() -> None:
    assert "data of one user's day alone" in query_assumption("0", "user-day")


# Plans, records, passwords


def test_a_plan_is_for_no_other_query(tmp_path: Path) -> None:
    path, kinds = sqlite_of(tmp_path / "log.sqlite", ROWS), [z.queries(7)]
    log = z.read_log(path, sql=SQL)
    binding = LogBinding.of(log.columns, log.cleaning, kinds, "user", SQL)
    assert binding.bind(log, kinds, "user").sql == SQL
    other = z.read_log(path, sql=SQL.replace("log", "log where who > 3"))
    with pytest.raises(Refused, match="the result of another query"):
        binding.bind(other, kinds, "user")


def test_a_plan_holds_its_query(tmp_path: Path, run: Run) -> None:
    path = sqlite_of(tmp_path / "log.sqlite", ROWS)
    wish = ["--items", "queries", "--items-per-user", "7", "--guarantee", "indistinguishable"]
    wish += ["--epsilon", "10", "--delta", "0.1"]
    plan = str(tmp_path / "plan.json")
    assert run("plan", *wish, "--sql", SQL, "-o", plan).code == 0
    assert json.loads(Path(plan).read_text())["log"]["sql"] == SQL
    out = tmp_path / "release"
    assert run("publish", str(path), "--plan", plan, "-o", str(out)).code == 0
    assert run("verify", str(out)).code == 0
    record = json.loads((out / "release.json").read_text())
    assert any(record["query"] in each for each in record["assumptions"])
    assert SQL not in (out / "release.json").read_text()
    record["query"] = "0" * 64
    (out / "release.json").write_text(json.dumps(record))
    assert run("verify", str(out)).code == 1


def test_inspect_prints_the_columns_of_a_query_without_a_user(tmp_path: Path, run: Run) -> None:
    path = sqlite_of(tmp_path / "log.sqlite", ROWS)
    ran = run("inspect", str(path), "--sql", "select q as Customer, asked as Time from log")
    assert ran.code == 2
    assert "Did you mean Customer?" in ran.said
    assert [line.split() for line in ran.said.splitlines() if line[:4] in ("Cust", "Time")] == [
        ["Customer", "user"],
        ["Time", "time"],
    ]


def test_a_password_may_stand_elsewhere(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = postgres.replace(f":{PASSWORD}", "")
    wrong = postgres.replace(PASSWORD, "hunter2")
    for url in (bare, wrong):
        with pytest.raises(LogError, match="cannot be") as raised:
            z.read_log(url, sql=SQL)
        assert "hunter2" not in str(raised.value)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert published(z.read_log(bare, sql=SQL)) == PUBLISHED
    monkeypatch.delenv("PGPASSWORD")
    (tmp_path / "pgpass").write_text(f"*:*:*:ann:{PASSWORD}\n")
    (tmp_path / "pgpass").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    assert entries(z.read_log(bare, sql=SQL))


def test_no_password_is_told(postgres: str, tmp_path: Path, run: Run) -> None:
    log = z.read_log(postgres, sql=SQL)
    account = z.Account(ledger=tmp_path / "people.sqlite")
    z.publish(log, GOAL, z.queries(7), account=account, output=tmp_path / "release")
    wrong = postgres.replace("pg-", "pg-none-")
    with pytest.raises(LogError) as raised:
        z.read_log(wrong, sql=SQL)
    with pytest.raises(Refused, match="name a ledger") as unnamed:
        z.publish(log, GOAL, z.queries(7))
    said = [repr(log), str(log.paths[0]), repr(log.paths[0]), str(raised.value), str(unnamed.value)]
    for each in (("inspect",), ("publish", "--items", "queries"), ("start",)):
        ran = run(each[0], wrong, *each[1:])
        said += [ran.said]
        ran = run(each[0], wrong, "--sql", SQL, *each[1:])
        said += [ran.said]
        assert "say --sql" not in ran.said
    for place in (
        ["plan", wrong],
        ["verify", wrong],
        ["publish", f"--items={wrong}", "log"],
        ["study", "attack", "-o", wrong],
        ["study", "attack", "-o", wrong, "log.csv"],
    ):
        said += [run(*place).said]  # where it does not belong
    written = [each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()]
    assert not [each for each in said if PASSWORD in each]
    assert not any(PASSWORD.encode() in each for each in written)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("postgresql://ann:S3cret@Host:1/db?x=S3cret", "postgresql://host:1/db"),
        ("postgresql://ann:123/S3cret@host/db", "postgresql://"),
        ("postgresql://ann:12?S3cret@host/db", "postgresql://"),
        ("postgresql://ann:12#S3cret%40host/db", "postgresql://"),
        ("postgresql://host/db&password=S3cret", "postgresql://host/db"),
    ],
)
def test_no_part_of_a_password_is_in_the_name_or_a_field(url: str, name: str) -> None:
    database = PostgreSQL(url=url)
    assert database.name == name
    asked = Query(name=name, database=database, checked=PersonQuery(SQL, "postgres"))
    assert "S3cret" not in f"{asked} {asked!r} {asdict(asked)}"


def test_nothing_is_written_to_the_database(postgres: str, tmp_path: Path) -> None:
    path = sqlite_of(tmp_path / "log.sqlite", ROWS)
    before = path.read_bytes()
    published(z.read_log(path, sql=SQL))
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    noting = PersonQuery("select who from noting", "postgres")
    with PostgreSQL(url=postgres).open_rows(noting, ()) as rows:
        batches = rows.batches(["who"])
        with pytest.raises(pa.ArrowInvalid, match="read-only"):
            list(batches)


def test_what_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,query\n")
    with pytest.raises(UsageError, match="neither an SQLite nor a DuckDB database"):
        z.read_log(tmp_path / "log.csv", sql=SQL)
    with pytest.raises(LogError, match="cannot be found"):
        z.read_log(tmp_path / "none.sqlite", sql=SQL)
    with pytest.raises(UsageError, match="mysql:// is none that is known"):
        z.read_log("mysql://host/db", sql=SQL)
    with pytest.raises(UsageError, match="read by a query: say sql"):
        z.read_log("postgresql://host/db")
    path = sqlite_of(tmp_path / "log.sqlite", ROWS)
    with pytest.raises(LogError, match="two columns of one name"):
        z.read_log(path, sql="select who as user, q as user from log")
    for column in ("nobody", '"nobody"'):  # which SQLite would take for a text
        with pytest.raises(LogError, match="no column 'nobody'"):
            z.read_log(path, sql=f"select {column} as user from log")
    with pytest.raises(UsageError, match="goes with one database"):
        z.read_log([path, path], sql=SQL)
    with pytest.raises(UsageError, match="does not run on Spark"):
        z.read_log(path, sql=SQL, engine=z.Spark())
