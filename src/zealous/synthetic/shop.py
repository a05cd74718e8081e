"""Purchases of an invented shop: who bought what, when, and with what else."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from zealous.synthetic.behaviour import REGULARS
from zealous.synthetic.chance import Floats, Ints, uniform
from zealous.synthetic.days import DAY, HOUR
from zealous.synthetic.people import People
from zealous.synthetic.products import (
    BUNDLES,
    FOLLOW_UP,
    NAMES,
    NONE,
    PRICES,
    PULL,
    popular_bundles,
    popular_products,
)
from zealous.synthetic.write import ROW_GROUP, START, check_parameters, labelled_writer

SCHEMA = pa.schema(
    [
        ("customer", pa.string()),
        ("invoice", pa.string()),
        ("time", pa.timestamp("us")),
        ("product", pa.string()),
        ("price", pa.float64()),
    ]
)
_SESSIONS = 2.0  # of browsing, for one in which something is bought
_ANOTHER, _MOST_NEEDS = 0.78, 20  # chance that a customer wants something else as well
_BUNDLE, _USUAL = 0.15, 0.35  # chances that this is a bundle; if not, what he buys again and again
_USUALS, _USUAL_STREAM = 5, 310  # how many such things; a stream of hashes
_WEEK, _OFFERED, _OFF = 7, 0.15, 0.8  # a product is on offer for whole weeks, at a lower price
_OFFER_STREAM = 311
_FOLLOWS = 0.5  # chance that what a product needs is bought the next time


class Invoices(NamedTuple):
    """The invoices of a day in order of time, and their rows in the order of the invoices."""

    customer: Ints
    time: Ints  # milliseconds
    invoice: Ints  # of each row, an index into the two above
    product: Ints  # of each row, different ones in an invoice


def generate_shop(
    path: Path,
    *,
    users: int,
    seed: int,
    days: int = 30,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write a synthetic table of purchases, the same for the same parameters.

    A row is a product on an invoice of a customer, with its price, which is the same for everybody
    and lower in weeks in which it is on offer; what is bought does not depend on prices. Some
    products are often bought together, and after some others tend to be bought the next time; see
    `products`.

    Args:
        path: The Parquet file to write, replaced if it exists. Its metadata call it synthetic.
        users: How many customers there are; some of them happen to buy nothing.
        seed: What distinguishes this shop's customers from others as many.
        days: How long they are watched; 30 days make about 20 rows a customer.
        progress: Called with the share done, from 0 to 1.

    Raises:
        UsageError: A parameter is out of range, or the folder of path does not exist.
    """
    path = Path(path)
    check_parameters(path, users=users, seed=seed, days=days)
    made = 0
    with labelled_writer(path, SCHEMA, f"synthetic shop, seed {seed}") as write:
        for day, invoices in enumerate(_days(People.draw(users, seed, REGULARS), days)):
            for low in range(0, len(invoices.product), ROW_GROUP):
                rows = slice(low, low + ROW_GROUP)
                prices = _prices(invoices.product[rows], day // _WEEK, seed)
                write(_table(invoices, rows, made, prices))
            made += len(invoices.customer)
            if progress:
                progress((day + 1) / days)


def _days(people: People, days: int) -> Iterator[Invoices]:
    """Each day's invoices; from one to a customer's next, what he is going to need is kept."""
    chance = -np.expm1(-people.rates / _SESSIONS)
    needed = np.full(len(chance), NONE)
    for day in range(days):
        rng = np.random.default_rng([people.seed, 3, day])
        customer = rng.permutation(np.flatnonzero(rng.random(len(chance)) < chance))
        hours = np.sort(rng.triangular(7, 14, 23, len(customer)))
        invoice, product = _basket(people, customer, needed[customer], rng)
        needed[customer] = NONE
        follows = (FOLLOW_UP[product] != NONE) & (rng.random(len(product)) < _FOLLOWS)
        needed[customer[invoice[follows]]] = FOLLOW_UP[product[follows]]
        yield Invoices(customer, day * DAY + (hours * HOUR).astype(np.int64), invoice, product)


def _basket(
    people: People, customer: Ints, needed: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """What is on the invoices of these customers: rows of (invoice, product)."""
    needs = np.minimum(rng.geometric(1 - _ANOTHER, len(customer)), _MOST_NEEDS)
    invoice = np.repeat(np.arange(len(customer)), needs)
    in_bundle = rng.random(len(invoice)) < _BUNDLE
    bundled, single = invoice[in_bundle], invoice[~in_bundle]
    u = rng.random(len(single))
    usual = rng.random(len(single)) < _USUAL
    u[usual] = _habitual_product(people, customer[single[usual]], rng)
    which = popular_bundles(rng.random(len(bundled)))
    bundle = BUNDLES[which]
    kept = (bundle != NONE) & (rng.random(bundle.shape) < PULL[which])
    pieces = [
        (single, popular_products(u)),
        (np.repeat(bundled, kept.sum(axis=1)), bundle[kept]),
        (np.flatnonzero(needed != NONE), needed[needed != NONE]),
    ]
    rows = np.concatenate([where * len(NAMES) + product for where, product in pieces])
    where, product = np.divmod(np.unique(rows), len(NAMES))
    return where, product


def _habitual_product(people: People, customer: Ints, rng: np.random.Generator) -> Floats:
    """One of the few things to which the customer comes back, as a number in [0, 1)."""
    which = rng.integers(_USUALS, size=len(customer))
    return uniform(people.seed, _USUAL_STREAM, customer, which)


def _prices(product: Ints, week: int, seed: int) -> Floats:
    """What products cost in a week."""
    weeks = np.full(len(product), week)
    offered = uniform(seed, _OFFER_STREAM, product, weeks) < _OFFERED
    prices: Floats = np.round(PRICES[product] * np.where(offered, _OFF, 1.0), 2)
    return prices


def _table(invoices: Invoices, rows: slice, before: int, prices: Floats) -> pa.Table:
    invoice, product = invoices.invoice[rows], invoices.product[rows]
    time = np.datetime64(START, "us") + invoices.time[invoice].astype("timedelta64[ms]")
    columns = [
        _ids("c", invoices.customer[invoice] + 1),
        _ids("i", invoice + before + 1),
        pa.array(time),
        pc.take(pa.array(NAMES), pa.array(product)),
        pa.array(prices),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _ids(letter: str, numbers: Ints) -> pa.Array:
    """Ids such as c0000042."""
    digits = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), 7, "0")
    return pc.binary_join_element_wise(letter, digits, "")
