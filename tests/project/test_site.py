"""The documentation as a site: it builds without a warning, needs nothing from elsewhere, and its
notebooks run."""

from __future__ import annotations

import html
import importlib.util
import re
from contextlib import chdir
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from browser import CHROMIUM, DRIVER, Browser
from mkdocs.commands.build import build
from mkdocs.config import load_config
from paths import DOCS, ROOT, TOOLS
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.support.ui import WebDriverWait

from zealous.ledger.signatures import RELEASE_NAMESPACE
from zealous.verification.signing import check_command

FOUND = ".md-search-result__link"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def executing() -> ModuleType:
    path = TOOLS / "notebooks.py"
    specification = importlib.util.spec_from_file_location("execute", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built strictly: every page is in the navigation, every link and anchor leads somewhere."""
    folder = tmp_path_factory.mktemp("site")
    with chdir(folder):  # caches stay here
        config = load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(folder / "site"))
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    return folder / "site"


@pytest.mark.filterwarnings("default")  # of the libraries that build it
def test_the_site_needs_nothing_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        text = page.read_text()
        loaded = re.findall(r'<(?:script|img|iframe)[^>]* src="([^"]+)"', text)
        loaded += re.findall(r'<link[^>]* rel="stylesheet"[^>]* href="([^"]+)"', text)
        assert not [each for each in loaded if each.startswith(("http", "//"))], page.name


class Anchors(HTMLParser):
    """What a page links to or loads, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.targets |= {each for name in ("href", "src") if (each := given.get(name))}
        self.names |= {each for name in ("id", "name") if (each := given.get(name))}


def broken_links(site: Path) -> list[str]:
    """The links and pictures of a built site that lead nowhere, each with its page."""
    pages = {path: Anchors(path.read_text()) for path in sorted(site.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            name = unquote(parts.path)
            # A server answers with 404.html at any address, so it names all from the root.
            base = path.parent
            if path.name == "404.html":
                base, name = site, name.removeprefix("/")
            place = (base / name).resolve() if parts.path else path
            place = place / "index.html" if place.is_dir() else place
            anchor = unquote(parts.fragment)
            known = pages[place].names if place in pages else set()
            if not place.is_file() or (anchor and anchor not in known):
                wrong.append(f"{path.relative_to(site)}: {target}")
    return wrong


@pytest.mark.filterwarnings("default")
def test_every_link_picture_and_anchor_of_the_built_site_is_there(site: Path) -> None:
    assert broken_links(site) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<a href="#here" id="here"></a><a href="#gone"></a><img src="gone.png">'
        '<a href="other.html#gone"></a><a href="page.md"></a><a href="https://host.example/"></a>'
    )
    (tmp_path / "other.html").write_text('<a href="."></a>')
    found = [each.partition(": ")[2] for each in broken_links(tmp_path)]
    assert found == ["#gone", "gone.png", "other.html#gone", "page.md"]


@pytest.mark.filterwarnings("default")
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="needs chromium and its driver")
def test_the_search_works_in_a_folder(site: Path) -> None:
    """Without a server: the page of the proof is found."""
    browser = Browser()
    try:
        browser.open((site / "index.html").as_uri())
        wait = WebDriverWait(browser.driver, 60, ignored_exceptions=(WebDriverException,))

        def typed(_: object) -> bool:
            """Once the page's own program is there, the field opens where it is looked into."""
            browser.driver.execute_script("document.querySelector('.md-search__input').focus()")
            browser.type(".md-search__input", "indistinguishability")
            return True

        wait.until(typed)
        wait.until(lambda _: browser.find_all(FOUND))
        found = [str(each.get_attribute("href")) for each in browser.find_all(FOUND)]
        assert any("proofs/indistinguishable.html" in each for each in found)
    finally:
        browser.driver.quit()


def without_numbers(line: str) -> str:
    return re.sub(r"[\d.,]*\d|[─\s]+", "#", line).strip("#")


@pytest.mark.parametrize("command", ["plan", "publish", "verify"])
def test_pictures_of_the_terminal_show_what_the_readme_shows(command: str) -> None:
    """And what the README shows is compared with the program in test_docs.py."""
    drawn = (DOCS / "figures" / "screens" / f"{command}.svg").read_text()
    spans = re.findall(r'<text[^>]* y="([\d.]+)"[^>]*>(.*?)</text>', drawn)
    lines: dict[str, str] = {}
    for height, text in spans:
        lines[height] = lines.get(height, "") + html.unescape(text).replace("\xa0", " ")
    seen = [without_numbers(line) for line in lines.values()]
    shown = re.search(
        rf"```sh\nzealous {command} .*?```\n\n```text\n(.*?)```",
        (ROOT / "README.md").read_text(),
        re.DOTALL,
    )
    assert shown is not None
    wanted = [line for line in shown[1].splitlines() if line.strip() and line != "..."]
    assert wanted
    for line in wanted:
        assert without_numbers(line) in seen, line


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_results_and_nothing_of_the_machine(notebook: Path) -> None:
    cells = nbformat.read(notebook, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert sum(bool(cell.outputs) for cell in code) > len(code) / 2
    assert all(cell.execution_count for cell in code)
    assert not re.search(r"/(tmp|home|root|work)/", notebook.read_text())


def test_the_notebook_signs_the_release_as_the_workbench_does() -> None:
    notebook = nbformat.read(DOCS / "notebooks" / "publish.ipynb", as_version=4)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert f"ssh-keygen -q -Y sign -f officer -n {RELEASE_NAMESPACE} < release/release.json" in code
    check = check_command(Path("release")).replace("NAME", "officer@shop.example")
    assert check in code
    shown = [str(output) for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any(f'Good "{RELEASE_NAMESPACE}" signature' in each for each in shown)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(
    notebook: Path, executing: ModuleType, tmp_path: Path
) -> None:
    executing.execute(notebook, tmp_path)
