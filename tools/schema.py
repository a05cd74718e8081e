"""Write the JSON Schema of release.json: `python tools/schema.py`."""

from __future__ import annotations

import json
from pathlib import Path

from zealous.release.schema import json_schema

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "release.schema.json"


def text() -> str:
    """The content of the file."""
    return json.dumps(json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
