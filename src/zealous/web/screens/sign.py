"""Verify and sign: the statement, what `zealous verify` answers, hashes."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from zealous.errors import Refused
from zealous.ledger.signatures import signature_file
from zealous.release.text.statement import statement
from zealous.verification.signing import check_command, sign_release
from zealous.verification.verify import SHOWN, STATES
from zealous.web.bench import Bench, form_of, see_other
from zealous.web.releases import ShownRelease
from zealous.web.security import DOCUMENT_POLICY


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def sign(request: Request) -> Response:
        title = "Verify" if bench.reading else "Sign"

        def show(name: str) -> Response:
            page = _page(ShownRelease(bench, name))
            return bench.page(request, "sign", title=title, **page)

        return bench.release_page(request, title, show)

    def make(request: Request) -> Response:
        form = form_of(request)
        release = ShownRelease(bench, form.get("release", ""))
        if bench.key is None:
            raise Refused("start the workbench with --key FILE to sign with it")
        sign_release(release.path, bench.key, passphrase=form.get("passphrase", ""))
        return see_other("/sign", release=release.name)

    def page(request: Request) -> Response:
        """The statement, made from release.json: `verify` says whether the file is the same."""
        release = ShownRelease(bench, request.query_params.get("release", ""))
        return HTMLResponse(
            statement(release.record), headers={"content-security-policy": DOCUMENT_POLICY}
        )

    shown = [Route("/sign", sign), Route("/sign/statement", page)]
    return shown if bench.reading else [*shown, Route("/sign", make, methods=["POST"])]


def _page(release: ShownRelease) -> dict[str, Any]:
    signature = signature_file(release.path)
    return {
        "release": release,
        "record": release.record,
        "verdict": release.verdict(),
        "signature": signature.name if signature.is_file() else None,
        "check": check_command(release.path),
        "states": STATES,
        "shown": SHOWN,
        "digest": sha256((release.path / "release.json").read_bytes()).hexdigest(),
    }
