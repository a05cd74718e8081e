"""What the site shows beside docs/: the pages that stand elsewhere in the repository.

Pages link to each other as files of the repository do, so that they can be read there too. Here
such links are turned into those of the site; what the site does not have stays as its name.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Where a page of the repository stands on the site, below docs/.
ELSEWHERE = {
    "README.md": "project/first-release.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/README.md": "project/benchmarks.md",
    "benchmarks/peers/README.md": "project/peers.md",
}
_ON_SITE = {site: source for source, site in ELSEWHERE.items()}
_HREF = re.compile(r'href="([^":#]+\.(?:md|ipynb))((?:#[^"]*)?)"')
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that stand elsewhere."""
    for source, site in ELSEWHERE.items():
        text = (ROOT / source).read_text()
        shown = first_release(text) if source == "README.md" else text
        files.append(File.generated(config, site, content=shown))
    return files


def first_release(readme: str) -> str:
    """The README's way from installing to a release: the site's first page says the rest."""
    _, install, way = readme.partition("## Install\n")
    way, guarantee, _ = way.partition("## The guarantee\n")
    if not install or not guarantee:
        raise ValueError("the README has no section Install or none on the guarantee")
    return f"# Your first release\n\n{install}{way}\nNext: [your log](docs/guide/logs.md).\n"


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Turn links between files of the repository into links between pages of the site."""
    here = page.file.src_uri
    folder = posixpath.dirname(_ON_SITE.get(here, f"docs/{here}"))

    def on_site(found: re.Match[str]) -> str:
        image, text, target, anchor = found.groups(default="")
        if ":" in target:
            return found.group()
        source = posixpath.normpath(posixpath.join(folder, target))
        place = ELSEWHERE.get(source, source.removeprefix("docs/"))
        if place in (".", "docs"):
            place = "README.md"
        if files.get_file_from_path(place) is None:
            return found.group() if source.startswith("docs/") else text
        return f"{image}[{text}]({posixpath.relpath(place, posixpath.dirname(here))}{anchor})"

    return _LINK.sub(on_site, markdown)


def on_page_content(html: str, page: Page, files: Files, **_: Any) -> str:
    """Turn links of a notebook into those of the site: MkDocs does so in Markdown alone."""
    here = page.file.src_uri
    if not here.endswith(".ipynb"):
        return html

    def on_site(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), found[1]))
        source = posixpath.normpath(posixpath.join("docs", target))
        file = files.get_file_from_path(ELSEWHERE.get(source, target))
        if file is None:
            raise ValueError(f"{here} links to {found[1]}, which the site does not have")
        return f'href="{file.url_relative_to(page.file)}{found[2]}"'

    return _HREF.sub(on_site, html)
