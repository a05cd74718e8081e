"""Who may ask the workbench: nobody from elsewhere, and nobody without the one-time token."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from workbench import HOST, OURS, Workbench, words

from zealous.web.decisions import plan_hash
from zealous.web.peers import user_at
from zealous.web.security import DOCUMENT_POLICY, LARGEST_FORM, PAGE_POLICY, Sessions

PROTECTED = {
    "cache-control": "no-store",
    "content-security-policy": PAGE_POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


@pytest.fixture
def closed(tmp_path: Path) -> Workbench:
    """A workbench that nobody has opened yet."""
    return Workbench(tmp_path, enter=False)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def test_every_answer_is_protected(bench: Workbench, closed: Workbench) -> None:
    answers = [
        bench.get("/"),
        bench.get("/none"),
        bench.get("/explore", params={"release": "../x"}),
        bench.get("/static/style.css"),
        bench.get("/", headers={"host": "evil.example"}),
        bench.client.request("PUT", "/"),
        bench.client.post("/", headers=OURS),
        closed.get("/"),
    ]
    assert [each.status_code for each in answers] == [200, 404, 404, 200, 421, 405, 403, 401]
    for each in answers:
        assert {name: each.headers[name] for name in PROTECTED} == PROTECTED
        assert "server" not in each.headers
    assert "default-src 'none'" in PAGE_POLICY
    assert "unsafe" not in PAGE_POLICY
    assert "http" not in PAGE_POLICY
    assert DOCUMENT_POLICY.endswith("sandbox")
    assert "script" not in DOCUMENT_POLICY


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:8001", f"{HOST}.evil.example", "", "0.0.0.0:8000"],
)
def test_another_host_is_refused(bench: Workbench, host: str) -> None:
    """A name of an attacker's that leads to this machine (DNS rebinding) is no way in."""
    assert bench.get("/", headers={"host": host}).status_code == 421
    assert bench.get("/", headers={"host": "localhost:8000"}).status_code in (200, 401)


@pytest.mark.parametrize(("user", "status"), [(1, 403), (0, 200), (None, 200), ("root", 200)])
def test_another_user_of_the_machine_is_refused(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, user: int | str | None, status: int
) -> None:
    """Also with the cookie, which a browser sends to every port: 0 is ours, 1 another's."""
    ours = 1000
    found = 0 if user == "root" else None if user is None else ours + int(user)
    monkeypatch.setattr("os.getuid", lambda: ours)
    monkeypatch.setattr("zealous.web.peers.user_at", lambda *_: found)
    assert bench.get("/").status_code == status
    assert bench.post("/").status_code == (405 if status == 200 else 403)


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells it")
@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")],
)
def test_linux_tells_whose_a_connection_is(family: socket.AddressFamily, address: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(family) as client:
        client.connect((address, server.getsockname()[1]))
        taken, asking = server.accept()
        with taken:
            assert user_at(asking, taken.getsockname()) == os.getuid()
            assert user_at((asking[0], 1), taken.getsockname()) is None
            assert user_at(("testclient", 1), taken.getsockname()) is None


def test_two_workbenches_have_cookies_of_their_own(closed: Workbench) -> None:
    entered = closed.get("/", params={"token": closed.sessions.token})
    assert entered.headers["set-cookie"].startswith("zealous-8000=")


@pytest.mark.parametrize(
    ("origin", "site"),
    [
        ("http://evil.example", "cross-site"),
        ("http://127.0.0.1:8001", "same-site"),
        ("https://127.0.0.1:8000", "cross-site"),
        ("null", "cross-site"),
        ("null", None),
        (None, "cross-site"),
        (None, "same-site"),
        (None, "none"),
        (None, None),
    ],
)
def test_a_form_of_another_origin_is_refused(
    bench: Workbench, origin: str | None, site: str | None
) -> None:
    said = {"origin": origin, "sec-fetch-site": site}
    headers = {name: value for name, value in said.items() if value is not None}
    assert bench.send("/", headers, {}).status_code == 403


def test_a_page_of_another_origin_reads_nothing(bench: Workbench) -> None:
    for headers in (
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ):
        assert bench.get("/", headers=headers).status_code == 403


@pytest.mark.parametrize("headers", [OURS, {"origin": "null", "sec-fetch-site": "same-origin"}])
def test_a_form_of_ours_passes_as_browsers_send_it(
    bench: Workbench, headers: dict[str, str]
) -> None:
    assert bench.send("/", headers, {}).status_code == 405  # it passed: / takes no form
    assert bench.client.post("/", data={"csrf": "x"}, headers=headers).status_code == 403
    assert bench.client.post("/", headers=headers).status_code == 403


def test_without_a_token_nothing_is_seen(closed: Workbench) -> None:
    for path in ("/", "/explore", "/none", "/static/workbench.js", "/?token=", "/?token=abc"):
        found = closed.get(path)
        assert found.status_code == 401
        assert "address that was printed" in words(found.text)
    assert closed.client.post("/", headers=OURS).status_code == 401
    assert not closed.client.cookies


def test_a_token_works_once(closed: Workbench) -> None:
    token = closed.sessions.token
    entered = closed.get("/", params={"token": token})
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Max-Age" not in cookie
    assert "expires" not in cookie
    assert token not in entered.text
    assert closed.get("/").status_code == 200
    other = TestClient(closed.client.app, base_url=f"http://{HOST}")
    assert other.get("/", params={"token": token}).status_code == 401
    assert not other.cookies
    # Who is let in already and opens the old address again goes on, with the same cookie.
    assert "set-cookie" not in closed.get("/", params={"token": token}).headers


def test_the_owner_learns_the_next_token_and_nobody_else_does() -> None:
    told: list[str] = []
    sessions = Sessions(told.append)
    first = sessions.token
    assert not told
    assert sessions.exchange("x") is None
    session = sessions.exchange(first)
    assert session is not None
    assert told == [sessions.token] != [first]
    assert len({first, sessions.token, session, sessions.csrf(session)}) == 4
    assert sessions.exchange(first) is None
    assert sessions.csrf("x") is None


def test_a_token_is_taken_at_the_first_page_alone(closed: Workbench) -> None:
    token = closed.sessions.token
    assert closed.get("/explore", params={"token": token}).status_code == 401
    assert closed.client.head("/", params={"token": token}).status_code == 401  # uses nothing up
    assert closed.client.post("/", params={"token": token}, headers=OURS).status_code == 401
    assert closed.sessions.token == token
    assert closed.get("/", params={"token": token}).status_code == 200


def test_large_requests_are_refused(bench: Workbench) -> None:
    assert bench.post("/", filling="x" * LARGEST_FORM).status_code == 413
    assert bench.get("/explore", params={"search": "x" * 10_000}).status_code == 414


def test_pages_load_nothing_from_elsewhere(bench: Workbench) -> None:
    page = bench.text("/")
    assert "http://" not in page
    assert "https://" not in page
    assert "<style" not in page
    assert "style=" not in page
    assert page.count("<script") == page.count('<script src="/static/') == 1
    styles, script = (bench.text(f"/static/{name}") for name in ("style.css", "workbench.js"))
    assert "url(" not in styles
    assert "@import" not in styles
    assert "http" not in script
    assert "innerHTML" not in script


# Fields of every form, as if each could be sent by an address.
FIELDS = {
    "dataset": "people",
    "epsilon": "3",
    "delta": "0.01",
    "by": "Ann",
    "folder": "logs",
    "log": "logs/log.tsv",
    "name": "march",
    "plan": "logs/first.plan.json",
    "decision": "returned",
    "reason": "none",
    "output": "release",
    "title": "A title",
    "study": "compare",
    "then": "write",
    "release": "logs/release",
    "meant": "1",
}


@pytest.fixture
def changing(tmp_path: Path) -> Workbench:
    """A workbench with everything that can be changed, and a plan that waits."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "scratch").mkdir()
    (tmp_path / "logs" / "log.tsv").write_text("user\tquery\ttime\nu\tq\t2026-03-01\n")
    bench = Workbench(tmp_path / "logs", internal=True, scratch=tmp_path / "scratch")
    assert bench.post("/plan", **FIELDS | {"name": "first"}).status_code == 303
    return bench


def forms_of(bench: Workbench) -> list[str]:
    """The addresses of all forms that change something."""
    routes = bench.client.app._app.routes  # type: ignore[attr-defined]
    found = sorted({each.path for each in routes if "POST" in (each.methods or ())})
    assert len(found) >= 8
    return found


def test_opening_an_address_changes_nothing(changing: Workbench, tmp_path: Path) -> None:
    seen = FIELDS | {"csrf": changing.csrf(), "seen": plan_hash(tmp_path / FIELDS["plan"])}
    before = {each: each.stat().st_mtime_ns for each in sorted(tmp_path.rglob("*"))}
    for path in forms_of(changing):
        for method in ("GET", "HEAD"):
            found = changing.client.request(method, path, params=seen)
            assert found.status_code in (200, 400, 404, 405), path
    assert {each: each.stat().st_mtime_ns for each in sorted(tmp_path.rglob("*"))} == before
    assert not changing.bench.jobs._jobs


def test_no_form_is_taken_without_its_token_or_from_elsewhere(
    changing: Workbench, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    elsewhere = {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}
    for path in forms_of(changing):
        for form, headers in (
            (FIELDS, OURS),
            (FIELDS | {"csrf": ""}, OURS),
            (FIELDS | {"csrf": "x" * 43}, OURS),
            (FIELDS | {"csrf": changing.csrf()}, elsewhere),
            (FIELDS | {"csrf": changing.csrf()}, {"host": "evil.example"}),
        ):
            found = changing.client.post(path, data=form, headers=headers)
            assert found.status_code in (403, 421), path
    assert sorted(tmp_path.rglob("*")) == before
    assert not changing.bench.jobs._jobs
