"""What stands in pages of the documentation."""

from __future__ import annotations

import re
from pathlib import Path


def blocks(path: Path, language: str) -> list[str]:
    """The code of one language that stands in a page."""
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), re.DOTALL)
