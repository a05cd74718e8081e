"""A PostgreSQL server that the tests start: in a directory of its own, reached by a socket."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import adbc_driver_postgresql.dbapi as driver
import pytest

PASSWORD = "q7Zx4vLw9sKp3tY8u"
_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)  # Debian's, off the path


def _program(name: str) -> Path | None:
    found = next((each / name for each in _PLACES if (each / name).exists()), None)
    other = shutil.which(name)
    return found or (Path(other) if other else None)


def _account() -> dict[str, Any]:
    """Whose process it is: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {each.pw_name: each for each in pwd.getpwall()}
    account = names.get("postgres") or names["nobody"]
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


@contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of a database of a new server, with a password that it asks for and nobody tells."""
    initdb, server = _program("initdb"), _program("postgres")
    if initdb is None or server is None:
        if os.environ.get("CI"):
            pytest.fail("PostgreSQL is not installed: apt-get install postgresql")
        pytest.skip("PostgreSQL is not installed")
    account = _account()
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as name:  # sockets have short names
        folder = Path(name)
        if account:
            os.chown(folder, account["user"], account["group"])
        folder.chmod(0o755)
        data, secret = folder / "data", folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        subprocess.run(
            [
                initdb,
                "-D",
                data,
                "-A",
                "scram-sha-256",
                "--pwfile",
                secret,
                "-U",
                "ann",
                "-E",
                "UTF8",
                "--no-sync",
                "--locale=C",
            ],
            check=True,
            capture_output=True,
            cwd=folder,
            **account,
        )
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(folder),
            "fsync": "off",
            "full_page_writes": "off",
            "shared_buffers": "16MB",
            "max_connections": "10",
        }
        flags = [f"-c{key}={value}" for key, value in settings.items()]
        with (folder / "log").open("wb") as log:
            running = subprocess.Popen(
                [server, "-D", data, *flags], stderr=log, stdout=log, cwd=folder, **account
            )
            try:
                url = f"postgresql://ann:{PASSWORD}@/postgres?host={quote(str(folder), safe='')}"
                _wait(url, running)
                yield url
            finally:
                running.terminate()
                running.wait(30)


def _wait(url: str, running: subprocess.Popen[bytes]) -> None:
    for _ in range(400):
        try:
            with driver.connect(url):
                return
        except Exception:
            if running.poll() is not None:
                raise
            time.sleep(0.05)
    raise TimeoutError("PostgreSQL did not start")
