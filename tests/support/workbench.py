"""The workbench without a browser: an application in this process, and a client that is let in."""

from __future__ import annotations

import html
import re
import weakref
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from zealous.web.app import application
from zealous.web.bench import Bench
from zealous.web.folders import Folders
from zealous.web.security import Sessions

HOST = "127.0.0.1:8000"
OURS = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}


class Workbench:
    """A workbench over some folders.

    Attributes:
        sessions: Who was let in.
        client: A browser that was let in, unless `enter` says otherwise.
    """

    def __init__(self, *folders: Path, enter: bool = True, **settings: Any) -> None:
        self.bench = Bench(folders=Folders(folders), **settings)
        weakref.finalize(self, self.bench.jobs.close)
        self.sessions = Sessions()
        app = application(self.bench, self.sessions, frozenset({HOST, "localhost:8000"}))
        self.client = TestClient(
            app, base_url=f"http://{HOST}", follow_redirects=False, raise_server_exceptions=False
        )
        if enter:
            assert self.client.get("/", params={"token": self.sessions.token}).status_code == 200

    def get(self, path: str, **given: Any) -> Any:
        return self.client.get(path, **given)

    def text(self, path: str, /, **asked: str) -> str:
        """A page that is there."""
        found = self.client.get(path, params=asked or None)
        assert found.status_code == 200, found.text
        text: str = found.text
        return text

    def csrf(self) -> str:
        """The token that forms of the client's session carry."""
        (found,) = self.sessions._csrf.values()
        return found

    def post(self, path: str, /, **form: Any) -> Any:
        """Send a form as a page of ours does."""
        return self.send(path, OURS, form)

    def send(self, path: str, headers: dict[str, str], form: dict[str, Any]) -> Any:
        """Send a form with the session's token and some headers."""
        return self.client.post(path, data={"csrf": self.csrf(), **form}, headers=headers)


def words(page: str) -> str:
    """What a page says, without its tags, on one line."""
    inside = page.partition("<main")[2].partition("</main>")[0]
    return html.unescape(" ".join(re.sub(r"<[^>]*>", " ", f"<main{inside}").split()))
