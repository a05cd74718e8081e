"""What all screens share: the folders, what is running, and pages made from templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from zealous.errors import UsageError
from zealous.privacy.guarantee import format_number
from zealous.version import VERSION
from zealous.web.folders import Folders
from zealous.web.jobs import Jobs
from zealous.web.security import CSRF

_LONGEST = 200  # characters of an item on a page


@dataclass(frozen=True)
class MenuEntry:
    """A screen in the navigation."""

    path: str
    title: str


STEPS = (
    MenuEntry("/plan", "Plan"),
    MenuEntry("/approve", "Approve"),
    MenuEntry("/publish", "Publish"),
    MenuEntry("/ledger", "Ledger"),
    MenuEntry("/explore", "Explore"),
    MenuEntry("/review", "Review"),
    MenuEntry("/sign", "Sign"),
)
INTERNAL = MenuEntry("/study", "Study")
READING = (
    MenuEntry("/explore", "Explore"),
    MenuEntry("/compare", "Compare"),
    MenuEntry("/sign", "Verify"),
)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A running workbench.

    Attributes:
        folders: What it sees.
        reading: Whether it only shows releases, and changes nothing.
        internal: Whether it shows the owner's figures too.
        key: The SSH key to sign with, if one was named.
        scratch: A folder that is removed at the end, for the tour.
        jobs: What runs beside the server.
        seen: Answers that are kept, by what they are of.
    """

    folders: Folders
    reading: bool = False
    internal: bool = False
    key: Path | None = None
    scratch: Path | None = None
    jobs: Jobs = field(default_factory=Jobs)
    seen: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def _templates(self) -> jinja2.Environment:
        folder = files("zealous.web").joinpath("templates")
        environment = jinja2.Environment(
            loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters |= {"number": format_number, "visible": visible, "kind": kind_name}
        environment.filters["count"] = "{:,}".format
        return environment

    @property
    def steps(self) -> Sequence[MenuEntry]:
        """The screens in the order of the work."""
        if self.reading:
            return READING
        return (*STEPS, INTERNAL) if self.internal else STEPS

    def page(
        self, request: Request, template: str, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page made from a template."""
        made = self._templates.get_template(f"{template}.html.j2").render(
            **values,
            bench=self,
            steps=self.steps,
            here=request.url.path,
            csrf=request.state._state.get(CSRF, ""),
            version=VERSION,
        )
        return HTMLResponse(made, status_code=status)

    def release_page(
        self, request: Request, title: str, show: Callable[[str], Response]
    ) -> Response:
        """The page about a release; where none is named and there are several, which is asked."""
        found = self.folders.look().releases
        name = self.chosen(request, "release", found)
        return show(name) if name else self.page(request, "choose", title=title, names=found)

    def chosen(self, request: Request, what: str, among: Sequence[str]) -> str | None:
        """Which thing a page is about: the one that its address names, or the only one there is."""
        named = request.query_params.get(what)
        return named or (among[0] if len(among) == 1 else None)


def visible(text: object) -> str:
    r"""A stranger's text on one line of a page: each character is seen, and none changes others.

    >>> visible("a\u202eb")
    'a\ufffdb'
    """
    shown = "".join(
        each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in str(text)
    )
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def kind_name(kind: str) -> str:
    """What a table is called on a page: of a column's values by the column.

    >>> kind_name("columns:Product"), kind_name("queries")
    ('Product', 'queries')
    """
    return visible(kind.removeprefix("columns:"))


def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that was sent, the last of each name."""
    return {name: values[-1] for name, values in request.state.form.items()}


def see_other(path: str, **asked: str) -> Response:
    """After a form was sent: go to the page that shows what became of it."""
    return RedirectResponse(f"{path}?{urlencode(asked)}", status_code=303)


def number(text: str | None, name: str, *, least: int, most: int, usual: int) -> int:
    """A whole number of an address; the usual one where it says none."""
    if text is None or not text.strip():
        return usual
    try:
        found = int(text.replace(",", "").replace(" ", ""))
    except ValueError:
        raise UsageError(f"{name} is a whole number") from None
    if not least <= found <= most:
        raise UsageError(f"{name} is between {least:,} and {most:,}")
    return found
