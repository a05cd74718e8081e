"""The same items come out of one table, whatever form it has."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_forms import (
    COLUMNS,
    PUBLISHED,
    arrow_table,
    entries,
    fill_postgres,
    local_forms,
    published,
)
from postgres import postgres_server
from spark import SPARK

import zealous as z
from zealous.engines.spark import Spark

pytest_plugins = ("spark",)
pytestmark = SPARK


@pytest.mark.extended
@pytest.mark.false_alarm(1e-50, "a dozen counts at a scale of 0.007")
def test_one_table_gives_the_same_items_in_every_form(spark: Spark, tmp_path: Path) -> None:
    frame = spark.session.createDataFrame(arrow_table())
    with postgres_server() as url:
        fill_postgres(url)
        forms = local_forms(tmp_path, url)
        on_spark = z.read_log(frame, columns=COLUMNS, engine=spark)
        items = {name: published(log) for name, log in (forms | {"spark": on_spark}).items()}
        assert items == dict.fromkeys(items, PUBLISHED)
        found = {
            name: sorted((str(who), *rest) for who, *rest in entries(log))
            for name, log in forms.items()
        }
    assert found == dict.fromkeys(found, found["csv"])
