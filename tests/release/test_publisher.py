"""Who publishes stands in a release as publisher.toml says it, and only lines of text do."""

from __future__ import annotations

from pathlib import Path

import pytest

import zealous as z
from zealous.errors import UsageError
from zealous.release.build import build_hash
from zealous.release.publisher import read_publisher

SAID = """title = "Searches <b>of</b> a library"
publisher = "A library"
contact = "privacy@library.example"
access = "Two engineers"
"""


def test_it_stands_in_readme_statement_and_record(tmp_path: Path) -> None:
    rows = "".join(f"u{n},tea\n" for n in range(60))
    (tmp_path / "log.csv").write_text(f"user,query\n{rows}")
    (tmp_path / "publisher.toml").write_text(SAID)
    goal = z.ProbabilisticDP(epsilon=8, delta="0.01", users=100)
    z.publish(
        z.read_log(tmp_path / "log.csv"),
        goal,
        [z.queries(1)],
        publisher=tmp_path / "publisher.toml",
        output=tmp_path / "out",
    )
    record = z.read_release(tmp_path / "out").record
    assert record.publisher == read_publisher(tmp_path / "publisher.toml")
    assert record.software.build == build_hash()
    readme = (tmp_path / "out" / "README.md").read_text().partition("\n---\n\n")[2]
    assert readme.startswith("# Searches \\<b\\>of\\</b\\> a library\n\n- Publisher: A library\n")
    page = (tmp_path / "out" / "statement.html").read_text()
    assert "Searches &lt;b&gt;of&lt;/b&gt; a library" in page
    assert "as the publisher states: Two engineers" in page
    assert "The publisher did not state it." in page, "how long the raw log is kept"
    assert z.verify(tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("publishr = 'A library'", "Did you mean publisher"),
        ("title = 7", "title in"),
        ("title = ''", "title in"),
        ('title = "two\\nlines"', "one line"),
        ("title = ", "cannot be read as TOML"),
    ],
)
def test_what_is_no_publisher_is_refused(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "publisher.toml").write_text(text)
    with pytest.raises(UsageError, match=told):
        read_publisher(tmp_path / "publisher.toml")
