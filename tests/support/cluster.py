"""A standalone Spark cluster and a Spark Connect server on loopback, of separate processes.

Python on the executors has pyarrow and not this package: what runs there was sent by the engine.
"""

from __future__ import annotations

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracle import Entry

JOB = Path(__file__).with_name("cluster_job.py")
DRAWS = Path(__file__).with_name("cluster_draws.py")
PATIENCE = 1_200  # seconds: against what hangs, not against what is slow
# Of short-lived processes of Java, and of Spark's own classes.
SWIFT = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
CONF = {
    "spark.sql.shuffle.partitions": "3",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": SWIFT,
    "spark.shuffle.io.maxRetries": "1",  # an executor that was killed does not come back
    "spark.shuffle.io.retryWait": "100ms",
    # Tiny tables: to compile a query costs more than to run it.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
COLUMNS = ("user", "query", "time", "url")


def entries(users: int = 200) -> list[Entry]:
    """A log with a few frequent queries and many rare ones."""
    chance = random.Random(5)
    found = []
    for user in range(users):
        for _ in range(chance.randrange(1, 12)):
            rank = int(40 * chance.random() ** 3)
            urls = (f"site{rank % 7}.org",) if chance.random() < 0.6 else ()
            found.append(Entry(f"u{user}", f"Query {rank} né", chance.randrange(10**6), urls))
    return found


def seconds(row: Entry) -> int:
    assert row.time is not None
    return row.time


def write_parquet(path: Path, rows: list[Entry]) -> Path:
    times = pa.array([seconds(row) * 10**6 for row in rows], pa.timestamp("us"))
    table = pa.table(
        {
            "user": [row.user for row in rows],
            "query": [row.query for row in rows],
            "time": times,
            "url": [list(row.urls) for row in rows],
        }
    )
    pq.write_table(table, path)
    return path


def write_csv(path: Path, rows: list[Entry], bad: int = 0) -> Path:
    """The same as text, with lines among them that cannot be read."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for number, row in enumerate(rows):
            moment = datetime.fromtimestamp(seconds(row), UTC).strftime("%Y-%m-%d %H:%M:%S")
            writer.writerow([row.user, row.query, moment, *(row.urls or ("",))])
            if number < bad:
                file.write('u1,"a quote that does not end,,\n')
    return path


def in_parts(log: Path, number: int) -> dict[str, str]:
    """So many tasks that a stage takes a while."""
    size = str(log.stat().st_size // number)
    return {
        "spark.sql.files.maxPartitionBytes": size,
        "spark.sql.files.openCostInBytes": "0",
        "spark.sql.files.minPartitionNum": "1",
    }


def conf_options(conf: dict[str, str]) -> list[str]:
    return [part for each in conf.items() for part in ("--spark-conf", "=".join(each))]


@dataclass
class Processes:
    """Some processes of Spark, each the first of a group that it can be killed with."""

    folder: Path
    python: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    memory: ClassVar[str] = "256m"

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "PYSPARK_PYTHON": str(self.python),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "SPARK_CONF_DIR": str(self.folder),
            "SPARK_DAEMON_JAVA_OPTS": SWIFT,
            "SPARK_DAEMON_MEMORY": self.memory,
            "SPARK_HOME": str(spark_home()),
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
            "SPARK_SUBMIT_OPTS": SWIFT,
            "SPARK_WORKER_DIR": str(self.folder / "work"),
            "TMPDIR": str(self.folder),
        }

    def start(self, name: str, command: list[str]) -> None:
        """Start one; what it says goes to a file."""
        program, *rest = command
        with (self.folder / f"{name}.log").open("wb") as said:
            self.running[name] = subprocess.Popen(
                [spark_home() / "bin" / program, *rest],
                env=without_path(self.environment),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def wait_for(self, name: str, pattern: str) -> str:
        """What a pattern finds in what a process says."""
        log, process = self.folder / f"{name}.log", self.running[name]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            found = re.search(pattern, log.read_text(errors="replace"))
            if found:
                return found[1]
            time.sleep(0.1)
        raise AssertionError(log.read_text(errors="replace")[-3000:])

    def stop(self) -> None:
        for process in self.running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def job(self, master: str, program: Path = JOB, **told: Any) -> dict[str, Any]:
        """What a program does there, such as that of cluster_job.py, which counts."""
        asked = json.dumps({"master": master, **told}, default=str)
        done = subprocess.run(
            [sys.executable, program, asked],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)


class Cluster(Processes):
    """A master and two workers, which have addresses of their own as two machines have."""

    master: str = ""

    def begin(self) -> None:
        where = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        self.start("master", ["spark-class", "org.apache.spark.deploy.master.Master", *where])
        self.master = self.wait_for("master", r"Starting Spark master at (spark://\S+)")
        self.wait_for("master", "New state: (ALIVE)")
        for host in ("127.0.0.1", "127.0.0.2"):
            self.add_worker(host)

    def add_worker(self, host: str) -> None:
        """Start one more; work waits until it is there."""
        where = ["--host", host, "--port", "0", "--webui-port", "0"]
        command = ["spark-class", "org.apache.spark.deploy.worker.Worker", *where]
        most = ["--cores", "1", "--memory", "600m", self.master]
        self.start(f"worker-{len(self.running)}-{host}", [*command, *most])

    def said_by_executors(self) -> dict[str, str]:
        """What the executors of each application said so far."""
        said: dict[str, str] = {}
        for log in sorted((self.folder / "work").glob("app-*/*/stderr")):
            application = log.parts[-3]
            said[application] = said.get(application, "") + log.read_text(errors="replace")
        return said


def spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def without_path(environment: dict[str, str]) -> dict[str, str]:
    """Where to find this package is for the driver alone."""
    return {name: value for name, value in environment.items() if name != "PYTHONPATH"}


def bare_python(folder: Path) -> Path:
    """An interpreter with the libraries of this one, and without this package."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", folder], check=True, capture_output=True
    )
    python = folder / "bin" / "python"
    own = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    place = subprocess.run([python, *own], check=True, capture_output=True, text=True)
    # What a .pth file of that folder says, such as where this package is, is not followed.
    (Path(place.stdout.strip()) / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    tried = "import pyarrow, importlib.util as u; assert u.find_spec('zealous') is None"
    environment = without_path(dict(os.environ))
    subprocess.run([python, "-c", tried], check=True, capture_output=True, env=environment)
    return python


def need_java() -> None:
    import spark  # not above: pytest wants to be the first to import its plugins

    spark.need_java()


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare_python(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="session")
def cluster(bare: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    need_java()
    started = Cluster(tmp_path_factory.mktemp("cluster"), bare)
    try:
        started.begin()
        yield started
    finally:
        started.stop()


@dataclass
class Connect(Processes):
    """A Spark Connect server."""

    url: str = ""
    memory: ClassVar[str] = "600m"

    def begin(self) -> None:
        conf = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": "0",
            "spark.ui.enabled": "false",
            **CONF,
        }
        options = [part for each in conf.items() for part in ("--conf", "=".join(each))]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        command = ["spark-submit", "--class", server, "--master", "local[2]", *options]
        self.start("connect", [*command, "spark-internal"])
        port = self.wait_for("connect", r"server started at: \S+:(\d+)")
        self.url = f"sc://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def connect(bare: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    need_java()
    started = Connect(tmp_path_factory.mktemp("connect"), bare)
    try:
        started.begin()
        yield started
    finally:
        started.stop()
