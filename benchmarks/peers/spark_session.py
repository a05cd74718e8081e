"""A Spark session on all cores of one machine, for the peers that run there."""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def spark_session() -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = str(
        Path(__file__).parent
    )  # workers unpickle functions of this folder
    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    return builder.config("spark.driver.memory", "8g").getOrCreate()
