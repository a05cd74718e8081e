"""The generated shop: reproducible, and with something to find in it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Run

from zealous.synthetic import generate_shop
from zealous.synthetic.products import BUNDLES, FOLLOW_UP, NAMES, NONE, PRICES, PULL
from zealous.synthetic.write import START

USERS, DAYS = 10_000, 30


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.parquet"
    generate_shop(path, users=USERS, seed=7)
    return path


@pytest.fixture(scope="module")
def rows(path: Path) -> pa.Table:
    return pq.read_table(path)


def small(folder: Path, *, users: int = 300, seed: int = 1, days: int = 3) -> pa.Table:
    generate_shop(folder / "small.parquet", users=users, seed=seed, days=days)
    return pq.read_table(folder / "small.parquet")


def ask(sql: str, rows: pa.Table) -> list[tuple[int, ...]]:
    """The answer, each product as its number."""
    with duckdb.connect() as connection:
        connection.register("named", rows)
        connection.register("names", pa.table({"name": NAMES, "number": range(len(NAMES))}))
        connection.execute(
            "create temp table shop as select customer, invoice, time, number as product "
            "from named join names on product = name"
        )
        return connection.execute(sql).fetchall()


def test_the_same_seed_makes_the_same_shop(tmp_path: Path) -> None:
    assert small(tmp_path).equals(small(tmp_path))


def test_another_seed_makes_other_purchases_of_the_same_products(tmp_path: Path) -> None:
    one, other = small(tmp_path, days=30), small(tmp_path, days=30, seed=2)
    assert not one.equals(other)
    assert set(one["product"].to_pylist()) <= set(NAMES)
    best = [set(_most_frequent(table, 20)) for table in (one, other)]
    assert best[0] & best[1]


def _most_frequent(rows: pa.Table, number: int) -> list[str]:
    counted = rows.group_by("product").aggregate([("customer", "count_distinct")])
    ordered = counted.sort_by([("customer_count_distinct", "descending"), ("product", "ascending")])
    return ordered["product"].to_pylist()[:number]


def test_more_days_begin_with_the_same_days(tmp_path: Path) -> None:
    short, long = small(tmp_path), small(tmp_path, days=4)
    assert long.num_rows > short.num_rows
    assert long.slice(0, short.num_rows).equals(short)


def test_a_product_costs_the_same_for_everybody_and_less_on_offer(rows: pa.Table) -> None:
    sql = "select product, price, date_diff('day', ?::timestamp, time) // 7 as week from named"
    with duckdb.connect() as connection:
        connection.register("named", rows)
        weeks = connection.execute(
            f"select product, week, count(distinct price), min(price) from ({sql}) "
            "group by product, week",
            [START],
        ).fetchall()
    assert {prices for _, _, prices, _ in weeks} == {1}
    usual = dict(zip(NAMES, PRICES, strict=True))
    offered = [price < usual[product] for product, _, _, price in weeks]
    assert 0.1 < sum(offered) / len(offered) < 0.2
    assert {round(price / usual[product], 1) for product, _, _, price in weeks} == {0.8, 1.0}


def test_columns(path: Path, rows: pa.Table) -> None:
    assert dict(zip(rows.schema.names, rows.schema.types, strict=True)) == {
        "customer": pa.string(),
        "invoice": pa.string(),
        "time": pa.timestamp("us"),
        "product": pa.string(),
        "price": pa.float64(),
    }
    assert all(column.null_count == 0 for column in rows.columns)
    assert pq.read_schema(path).metadata[b"zealous"] == b"synthetic shop, seed 7"


def test_time_never_runs_back_and_fills_the_days(rows: pa.Table) -> None:
    time = rows["time"].to_numpy()
    assert (np.diff(time) >= np.timedelta64(0)).all()
    days = (time - np.datetime64(START, "us")) // np.timedelta64(1, "D")
    assert np.unique(days).tolist() == list(range(DAYS))


def test_an_invoice_is_of_one_customer_at_one_time_and_names_a_product_once(
    rows: pa.Table,
) -> None:
    assert ask(
        "select max(customers), max(times), max(n - products) from (select count(distinct customer)"
        " as customers, count(distinct time) as times, count(*) as n, count(distinct product) as "
        "products from shop group by invoice)",
        rows,
    ) == [(1, 1, 0)]


def test_invoices_are_small_and_a_few_customers_buy_much(rows: pa.Table) -> None:
    [(small_ones, mean)] = ask(
        "select avg((n between 1 and 15)::int), avg(n) from (select count(*) as n from shop "
        "group by invoice)",
        rows,
    )
    assert small_ones > 0.9
    assert 4 < mean < 8
    [(customers, middle, average, most)] = ask(
        "select count(*), median(n), avg(n), max(n) from (select count(*) as n from shop group by "
        "customer)",
        rows,
    )
    assert 0.8 * USERS < customers <= USERS
    assert middle < 0.8 * average
    assert most > 8 * average
    assert 0.8 * 20 < rows.num_rows / USERS < 1.2 * 20


def test_popular_products_are_bought_by_many_and_most_by_few(rows: pa.Table) -> None:
    count = sorted(
        (n for (n,) in ask("select count(distinct customer) from shop group by product", rows)),
        reverse=True,
    )
    assert 0.9 * len(NAMES) < len(count) <= len(NAMES)
    assert USERS / 20 < count[0] < USERS / 2
    assert 3 < count[0] / count[100] < 30
    assert 3 < count[100] / count[1000] < 30


def test_products_have_names_of_their_own() -> None:
    assert len(set(NAMES)) == len(NAMES) == 3000
    assert {"blue tea towel", "red printer", "red ink cartridge"} <= set(NAMES)


def test_bundles_have_two_to_five_different_products() -> None:
    sizes = (BUNDLES != NONE).sum(axis=1)
    assert set(sizes.tolist()) == {2, 3, 4, 5}
    assert len(sizes) == 300
    assert all(len({*bundle[:size]}) == size for bundle, size in zip(BUNDLES, sizes, strict=True))
    assert (PULL[:, 0] == 1).all()


def test_what_is_in_a_bundle_is_bought_together(rows: pa.Table) -> None:
    lift = lifts(rows)
    bundled = {tuple(sorted(map(int, bundle[:2]))) for bundle in BUNDLES}
    inside = [lift.get(pair, 0) for pair in sorted(bundled)]
    assert np.mean(np.array(inside) > 10) > 0.9
    together = ask(
        "select a.product, b.product from shop a join shop b on a.invoice = b.invoice and a.product"
        " < b.product group by all order by count(distinct a.customer) desc, 1, 2 limit 30",
        rows,
    )
    assert sum(lift[pair] > 10 for pair in together) > 15
    apart = [value for pair, value in lift.items() if pair[0] // 10 != pair[1] // 10]
    assert np.median(apart) < 3


def lifts(rows: pa.Table) -> dict[tuple[int, ...], float]:
    """How many times as often as by chance two products are on one invoice, if on five or more."""
    found = ask(
        "with one as (select product, count(*) as n from shop group by all), "
        "two as (select a.product as x, b.product as y, count(*) as n from shop a join shop b on "
        "a.invoice = b.invoice and a.product < b.product group by all having n >= 5) "
        "select x, y, two.n * (select count(distinct invoice) from shop) / (p.n * q.n) from two "
        "join one p on p.product = x join one q on q.product = y",
        rows,
    )
    return {(x, y): value for x, y, value in found}


def test_what_follows_is_on_the_next_invoice_rather_than_on_the_same(rows: pa.Table) -> None:
    pairs = [(first, int(FOLLOW_UP[first])) for first in np.flatnonzero(FOLLOW_UP != NONE)]
    assert all(NAMES[a].split()[0] == NAMES[b].split()[0] for a, b in pairs)
    listed = ", ".join(f"({first}, {then})" for first, then in pairs)
    [(bought, same, following)] = ask(
        f"""
        with follows(first, next) as (values {listed}),
        numbered as (
            select *, dense_rank() over (partition by customer order by time) as visit from shop
        ),
        later as (
            select a.customer, a.visit, next
            from numbered a join follows on product = first
            where exists (
                from numbered b where b.customer = a.customer and b.visit = a.visit + 1
            )
        )
        select count(*), count(*) filter (exists (from numbered b where b.customer = later.customer
            and b.visit = later.visit and b.product = next)),
            count(*) filter (exists (from numbered b where b.customer = later.customer
            and b.visit = later.visit + 1 and b.product = next))
        from later
        """,
        rows,
    )
    assert bought > 1000
    assert 0.4 < following / bought < 0.6
    assert same / bought < 0.05


def test_one_customer_on_one_day(tmp_path: Path) -> None:
    sizes = [small(tmp_path, users=1, days=1, seed=seed).num_rows for seed in range(20)]
    assert 0 in sizes  # some buy nothing at all
    assert max(sizes) > 0


def test_the_command(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "shop.parquet"
    command = ["generate", "--shop", "-o", path, "--users", 300, "--days", 3, "--seed", 1]
    said = " ".join(run(*command).stdout.split())  # a long path wraps the line
    assert "synthetic shop with 300 customers" in said
    assert pq.read_table(path).equals(small(tmp_path))


@pytest.mark.parametrize("flag", ["--figures", "--no-figures"])
def test_the_command_refuses_what_is_for_search_logs(run: Run, tmp_path: Path, flag: str) -> None:
    path = tmp_path / "shop.parquet"
    refused = run("generate", "--shop", "-o", path, "--users", 10, "--seed", 1, flag)
    assert refused.code == 2
    assert "--figures" in refused.stderr
    assert not path.exists()


def test_the_name_of_a_log_tells_what_it_is(run: Run, tmp_path: Path) -> None:
    refused = run("generate", "-o", tmp_path / "log.tsv", "--users", 10, "--seed", 1)
    assert refused.code == 2
    assert "let its name end in .parquet" in refused.stderr
    assert not (tmp_path / "log.tsv").exists()
