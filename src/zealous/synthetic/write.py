"""One Parquet file, written day by day so that memory holds the users and one day."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from zealous.errors import UsageError
from zealous.synthetic.behaviour import REGULARS, Behaviour
from zealous.synthetic.days import DAY, ENTRY, Entries, day_entries
from zealous.synthetic.people import People
from zealous.synthetic.typed_text import clicked_urls, query_texts

START = datetime(2011, 3, 1)
SCHEMA = pa.schema(
    [
        ("user", pa.int64()),
        ("time", pa.timestamp("us")),
        ("query", pa.string()),
        ("urls", pa.list_(pa.string())),
    ]
)
ROW_GROUP = 500_000
_MOST_USERS = 100_000_000  # account numbers have nine digits and must not be shared


def generate(
    path: Path,
    *,
    users: int,
    seed: int,
    days: int = 30,
    behaviour: Behaviour = REGULARS,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write a synthetic search log, the same for the same parameters.

    Args:
        path: The Parquet file to write, replaced if it exists. Its metadata call it synthetic.
        users: How many people there are; a few of them happen to ask nothing.
        seed: What distinguishes this log from others of its size.
        days: How long they are watched; 30 days make about 20 entries a user.
        behaviour: How people search; `VISITORS` for a log whose releases are like the paper's.
        progress: Called with the share done, from 0 to 1.

    Raises:
        UsageError: A parameter is out of range, or the folder of path does not exist.
    """
    path = Path(path)
    check_parameters(path, users=users, seed=seed, days=days)
    people = People.draw(users, seed, behaviour)
    with labelled_writer(path, SCHEMA, f"synthetic log, seed {seed}") as write:
        for day, entries in enumerate(_days(people, days)):
            rng = np.random.default_rng([seed, 2, day])
            for low in range(0, len(entries), ROW_GROUP):
                write(_table(people, entries[low : low + ROW_GROUP], rng))
            if progress:
                progress((day + 1) / days)


@contextmanager
def labelled_writer(
    path: Path, schema: pa.Schema, label: str
) -> Iterator[Callable[[pa.Table], None]]:
    """Write tables one after another into a labelled file, which is there only once it is whole."""
    schema = schema.with_metadata({"zealous": label})
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
            yield lambda table: writer.write_table(table.cast(schema))
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def check_parameters(path: Path, *, users: int, seed: int, days: int) -> None:
    """Refuse what cannot be generated, or not be written there."""
    for parameter, value, least, most in (
        ("users", users, 1, _MOST_USERS),
        ("seed", seed, 0, 2**63 - 1),
        ("days", days, 1, 36_500),
    ):
        if not least <= value <= most:
            raise UsageError(
                f"{parameter} is out of range: choose {parameter} from {least} to {most}"
            )
    if not path.parent.is_dir():
        raise UsageError("the folder of the output file does not exist: create it first")


def _days(people: People, days: int) -> Iterator[Entries]:
    """The entries of each day in order of time; a session may last into the next day."""
    late = np.empty(0, ENTRY)
    for day in range(days):
        entries = np.concatenate([late, day_entries(people, day)])
        entries = entries[np.argsort(entries["time"], kind="stable")]
        cut = np.searchsorted(entries["time"], (day + 1) * DAY)
        late = entries[cut:].copy()
        yield entries[:cut]


def _table(people: People, entries: Entries, rng: np.random.Generator) -> pa.Table:
    time = np.datetime64(START, "us") + entries["time"].astype("timedelta64[ms]")
    columns = [
        pa.array(entries["user"] + 1),
        pa.array(time),
        query_texts(people, entries, rng),
        clicked_urls(people, entries, rng),
    ]
    return pa.Table.from_arrays(columns, names=SCHEMA.names)
