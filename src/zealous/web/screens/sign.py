"""Verify and sign: the statement, what `zealous verify` answers, hashes."""

from __future__ import annotations

from hashlib import sha256

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from zealous.errors import Refused
from zealous.release.text.statement import statement
from zealous.verification.signing import check_command, release_signature_file, sign_release
from zealous.verification.verify import SHOWN, STATES
from zealous.web.bench import Bench, form_of, see_other
from zealous.web.releases import ShownRelease
from zealous.web.security import DOCUMENT_POLICY


def routes(bench: Bench) -> list[Route]:
    """What this screen answers."""

    def sign(request: Request) -> Response:
        found = bench.folders.look().releases
        name = bench.chosen(request, "release", found)
        if name is None:
            return bench.page(
                request,
                "choose",
                title="Verify" if bench.reading else "Sign",
                lead="Which release?",
                what="release",
                names=found,
                none="There is no release in the folders yet. Publish one first.",
            )
        release = ShownRelease(bench, name)
        return bench.page(
            request,
            "sign",
            title="Verify" if bench.reading else "Sign",
            release=release,
            record=release.record,
            verdict=release.verdict(),
            signature=release_signature_file(release.path).name
            if release_signature_file(release.path).is_file()
            else None,
            check=check_command(release.path),
            states=STATES,
            shown=SHOWN,
            digest=sha256((release.path / "release.json").read_bytes()).hexdigest(),
        )

    def make(request: Request) -> Response:
        release = ShownRelease(bench, form_of(request).get("release", ""))
        if bench.key is None:
            raise Refused("start the workbench with --key FILE to sign with it")
        sign_release(release.path, bench.key)
        return see_other("/sign", release=release.name)

    def page(request: Request) -> Response:
        """The statement, made from release.json: `verify` says whether the file is the same."""
        release = ShownRelease(bench, request.query_params.get("release", ""))
        return HTMLResponse(
            statement(release.record), headers={"content-security-policy": DOCUMENT_POLICY}
        )

    shown = [Route("/sign", sign), Route("/sign/statement", page)]
    return shown if bench.reading else [*shown, Route("/sign", make, methods=["POST"])]
