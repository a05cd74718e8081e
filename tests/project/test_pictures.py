"""The pictures of the documentation: all there, all shown, drawn alike in every run."""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from paths import DOCS, TOOLS
from sampling import sampled

SLOW = {"choosing-m"}  # makes a synthetic log and counts it


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    specification = importlib.util.spec_from_file_location("pictures", TOOLS / "pictures.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["pictures"] = module
    specification.loader.exec_module(module)
    return module


def shown() -> dict[str, str]:
    """Each picture that a page shows, and what the page says for those who cannot see it."""
    pages = "\n".join(page.read_text() for page in sorted(DOCS.rglob("*.md")))
    return {
        name: said
        for said, name in re.findall(r"!\[(.*?)\]\((?:\.\./)*figures/([^/]+?)\.svg\)", pages)
    }


def test_each_picture_is_drawn_committed_and_shown(pictures: ModuleType) -> None:
    committed = {path.stem for path in (DOCS / "figures").glob("*.svg")}
    assert set(pictures.PICTURES) == committed == set(shown())
    assert all(len(said) > 20 for said in shown().values())


def test_a_picture_needs_nothing_from_elsewhere() -> None:
    for path in (DOCS / "figures").glob("*.svg"):
        text = path.read_text()
        ElementTree.fromstring(text)
        assert not re.search(r'(href|src)="(?!#)', text), path.name
        assert "<text" not in text, f"{path.name} needs a font"
        assert "<dc:date" not in text, path.name


DRAWN = sorted({path.stem for path in (DOCS / "figures").glob("*.svg")} - SLOW)


@pytest.mark.parametrize("name", sampled(DRAWN, str, share=6))
def test_a_picture_is_the_same_in_every_run(
    name: str, pictures: ModuleType, tmp_path: Path
) -> None:
    one, two = (tmp_path / folder for folder in ("one", "two"))
    for folder in (one, two):
        pictures.main([name], folder)
    assert (one / f"{name}.svg").read_bytes() == (two / f"{name}.svg").read_bytes()


def test_the_table_of_epsilons_is_right() -> None:
    """ "At most" is rounded up, by less than one in the last digit."""
    number = r"([\d.,]+)"
    rows = re.findall(
        rf"^\| {number} \| {number} \| {number} % \| {number} % \|$",
        (DOCS / "guide" / "sign.md").read_text(),
        re.MULTILINE,
    )
    assert len(rows) >= 5
    for epsilon, *stated in rows:
        factor = math.exp(float(epsilon))
        exact = [factor, *(100 * odds * factor / (1 + odds * factor) for odds in (1 / 9, 1))]
        for text, value in zip(stated, exact, strict=True):
            last = 10.0 ** -len(text.partition(".")[2])
            assert value <= float(text.replace(",", "")) < value + last
