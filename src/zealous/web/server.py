"""Starting the workbench: on this machine alone, with an address that works once."""

from __future__ import annotations

import html
import os
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import uvicorn

from zealous.errors import UsageError, reason
from zealous.files import interrupts
from zealous.files.scratch import working_directory
from zealous.web.app import application
from zealous.web.bench import Bench
from zealous.web.security import Sessions

HOST = "127.0.0.1"


def serve(
    bench: Bench,
    *,
    port: int,
    browser: bool,
    echo: Callable[[str], None],
    note: Callable[[str], None],
) -> None:
    """Serve until interrupted.

    Args:
        bench: What is shown.
        port: Where; 0 for any that is free.
        browser: Whether to open one.
        echo: Receives the address, with its token.
        note: Receives what else the owner should know, the next address among it.
    """
    with _listen(port) as listening, working_directory() as folder:
        port = listening.getsockname()[1]
        hosts = frozenset({f"{HOST}:{port}", f"localhost:{port}"})

        def address(token: str) -> str:
            return f"http://{HOST}:{port}/?token={token}"

        sessions = Sessions(lambda new: note(f"For another browser: {address(new)}"))
        echo(address(sessions.token))
        note("The address works once. The workbench runs until you stop it with Ctrl-C.")
        if browser:
            _open(address(sessions.token), folder)
        config = uvicorn.Config(
            application(replace(bench, scratch=folder), sessions, hosts),
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=False,
            ws="none",
            timeout_graceful_shutdown=2,
        )
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:
            interrupts.ignore_more()
        bench.jobs.close()


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"port {port} cannot be used ({reason(error)}): name another one, or none"
        ) from None
    return listening


def _open(address: str, folder: Path) -> None:
    """Open a browser by way of a file that only its owner can read.

    Whoever is on the same machine sees the arguments of programs: the token is not among them.
    """
    page = folder / "open.html"
    with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">')
    with suppress(Exception):  # whoever has none opens the address
        webbrowser.open(page.as_uri())
