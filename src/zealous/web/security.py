"""Who may ask the workbench for what: checked before any screen sees a request.

Guarantee:
    A screen answers only requests that name this server as their Host, come from no other origin,
    are not known to come from another user of this machine (but root), and carry the cookie that a
    one-time token was exchanged for; a request that can change something also carries the CSRF
    token of its session. No answer is stored, framed by others, or lets a page load anything from
    elsewhere.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zealous.web.peers import is_another_user

COOKIE = "zealous"
CSRF = "csrf"
LARGEST_FORM = 4_000_000  # bytes
LONGEST_ADDRESS = 8_000
_SAFE = ("GET", "HEAD")
_FOR_ANYBODY = ("/static/style.css", "/static/icon.svg")
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A picture or a page with styles of its own; no script, no form, no way out of its frame.
DOCUMENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox"
)
_HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
}


class Sessions:
    """The one-time token that is valid now, and the sessions that earlier ones became."""

    def __init__(self, announce: Callable[[str], None] = lambda _: None) -> None:
        """Begin without any session.

        Args:
            announce: Receives each new token, for the owner's terminal alone.
        """
        self._announce = announce
        self._csrf: dict[str, str] = {}  # by session
        self.token = secrets.token_urlsafe(32)

    def exchange(self, token: str) -> str | None:
        """A new session for the token that is valid now; None for any other. Each works once."""
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        session = secrets.token_urlsafe(32)
        self._csrf[session] = secrets.token_urlsafe(32)
        self.token = secrets.token_urlsafe(32)
        self._announce(self.token)
        return session

    def csrf(self, session: str) -> str | None:
        """What forms of a session carry; None where there is no such session."""
        return self._csrf.get(session)


class Guard:
    """Everything between a browser and the screens."""

    def __init__(self, app: ASGIApp, *, sessions: Sessions, hosts: frozenset[str]) -> None:
        """Stand before an application.

        Args:
            app: What answers requests that are allowed.
            sessions: Who was let in.
            hosts: What a request may name as its Host: 127.0.0.1 and localhost with our port.
        """
        self._app, self._sessions, self._hosts = app, sessions, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websocket
            return
        answer = self._refusal(scope) or self._entrance(scope)
        if answer is not None:
            await answer(scope, receive, _with_headers(send))
            return
        if scope["method"] not in _SAFE:
            body = await _read_body(receive)
            if body is None:
                await _page(413, "The form is too large.")(scope, receive, _with_headers(send))
                return
            form = parse_qs(
                body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=200_000
            )
            given = form.get(CSRF, [""])[-1]
            if not hmac.compare_digest(given.encode(), scope["state"][CSRF].encode()):
                text = "The form lacks its token: open the page again and repeat."
                await _page(403, text)(scope, receive, _with_headers(send))
                return
            scope["state"]["form"] = form
        await self._app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        """What is refused whoever asks, before any cookie is looked at."""
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return _page(421, "This is the workbench of another address.")
        if is_another_user(scope):
            return _page(403, "This is the workbench of another user of this machine.")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            return _page(414, "The address is too long.")
        if scope["method"] not in (*_SAFE, "POST"):
            return _page(405, "The workbench knows GET and POST alone.")
        if not self._is_own_origin(headers, changes=scope["method"] == "POST"):
            return _page(
                403, "Another page asked for this, and the workbench answers only its own."
            )
        return None

    def _is_own_origin(self, headers: Headers, *, changes: bool) -> bool:
        """Whether a page of ours asked, or nobody's page: an address that was typed or opened.

        With `no-referrer` a browser says `Origin: null` of our own forms, and in Sec-Fetch-Site,
        which no page can set, that they are ours.
        """
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin in {f"http://{host}" for host in self._hosts}:
            return origin == f"http://{headers['host']}"
        if origin is not None and origin != "null":
            return False
        if changes:
            return site == "same-origin"
        # A link to us from elsewhere opens as a page that has no cookie: see `_entrance`.
        return site in (None, "none", "same-origin") or headers.get("sec-fetch-mode") == "navigate"

    def _entrance(self, scope: Scope) -> Response | None:
        """Let a session in, or exchange a token for one; everybody else sees one sentence."""
        headers = Headers(scope=scope)
        session = _cookie(headers)
        csrf = self._sessions.csrf(session) if session else None
        if csrf is not None and not (scope["path"] == "/" and b"token=" in scope["query_string"]):
            scope.setdefault("state", {})[CSRF] = csrf
            return None
        if scope["path"] in _FOR_ANYBODY and scope["method"] in _SAFE:
            scope.setdefault("state", {})
            return None
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[-1]
        opens = scope["path"] == "/" and scope["method"] == "GET"  # no HEAD uses a token up
        made = self._sessions.exchange(token) if opens and token else None
        if made is None:
            if csrf is not None:  # an old address, and a browser that is let in already
                return _continue()
            return _page(
                401,
                "Open the workbench with the address that was printed where it was started. Each "
                "address works once: the newest one there is valid.",
            )
        answer = _continue()
        answer.set_cookie(_cookie_name(headers), made, httponly=True, samesite="strict", path="/")
        return answer


def _continue() -> Response:
    """Go on to the first page.

    Not by a redirect: whoever came by a link from elsewhere would not send the new cookie.
    """
    answer = HTMLResponse(_bare_page('<p><a href="/">Continue to the workbench</a></p>'))
    answer.headers["refresh"] = "0; url=/"
    return answer


def _cookie_name(headers: Headers) -> str:
    """With our port: a browser has the same cookies for all ports, and each workbench its own."""
    return f"{COOKIE}-{headers['host'].rpartition(':')[2]}"


def _cookie(headers: Headers) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(_cookie_name(headers))
    except CookieError:
        return None
    return found.value if found else None


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body; None if it is too large."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > LARGEST_FORM:
            return None
        more = message.get("more_body", False)
    return body


def _with_headers(send: Send) -> Send:
    """Every answer has the same protection; a screen may only choose the policy of a document."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            if headers.get("content-security-policy") != DOCUMENT_POLICY:
                headers["content-security-policy"] = PAGE_POLICY
        await send(message)

    return sending


def _page(status: int, text: str) -> Response:
    return HTMLResponse(_bare_page(f"<p>{text}</p>"), status_code=status)


def _bare_page(inside: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>zealous</title>'
        '<meta name="viewport" content="width=device-width"><link rel="icon" '
        'href="/static/icon.svg"><link rel="stylesheet" href="/static/style.css"></head>'
        f"<body><main><h1>zealous</h1>{inside}</main></body></html>"
    )
