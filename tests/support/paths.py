"""Where the project's folders are."""

from pathlib import Path

SUPPORT = Path(__file__).parent
TESTS = SUPPORT.parent
ROOT = TESTS.parent
DOCS = ROOT / "docs"
TOOLS = ROOT / "tools"  # which make pages and pictures
FIXTURES = TESTS / "fixtures"
