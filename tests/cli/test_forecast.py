"""How long the rest of a step takes, as a person sees it on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

from zealous.cli.terminal import Forecast
from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step


def told(*shares: float | None) -> list[str]:
    """What is said where so much is done at each second."""
    asked: Iterator[float | None] = iter(shares)
    forecast = Forecast(lambda: next(asked))
    return [forecast.text(second) for second in range(len(shares))]


def test_the_rest_takes_as_long_as_what_was_seen() -> None:
    assert told(0.1, 0.2, 0.5) == ["", "20% done, about 8 s left", "50% done, about 2 s left"]
    assert told(0.0, 0.01) == ["", "1% done, about 99 s left"]
    assert told(0.0, 0.001)[1] == "0% done, about 17 minutes left"
    assert told(0.0, 0.0001)[1] == "0% done, about 3 hours left"


def test_nothing_is_said_of_what_is_not_known_or_stands_still() -> None:
    assert told(None, None) == ["", ""]
    assert told(0.2, 0.2) == ["", ""]
    assert told(0.2, None, 0.3) == ["", "", ""]


def test_another_piece_of_work_begins_anew() -> None:
    assert told(0.1, 0.9, 0.2, 0.6)[2:] == ["", "60% done, about 1 s left"]


def test_the_engine_tells_how_far_a_query_is() -> None:
    engine = DuckDB(threads=1)
    assert engine.share_done() is None
    heavy = "select count(*) from range(60000) as a(i), range(3000) as b(j) where i * j = 7"
    with engine:
        assert engine.share_done() is None
        query = Thread(target=engine.rows, args=([Step("heavy", heavy)],))
        query.start()
        seen = set()
        while query.is_alive():
            seen.add(engine.share_done())
        assert engine.share_done() is None
    assert engine.share_done() is None
    assert all(share is None or 0 < share <= 1 for share in seen)
    assert seen - {None}
