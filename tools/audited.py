"""Audit this version, and keep the figures that its releases state: `python tools/audited.py`.

The figures name the build that was tried. Run it last, on the commit that becomes the version.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime

import audit_page
import review

from zealous.audit.audit import Audit, audit
from zealous.release.build import AUDITED, build_hash
from zealous.version import VERSION

RUNS = 20_000  # of each log


def text(found: Audit) -> str:
    """The content of the file.

    Raises:
        SystemExit: A violation was found: no release may say that there was none.
    """
    if not found.passed:
        raise SystemExit("\n".join(["VIOLATION", *found.failures()]))
    figures = {
        "build": build_hash(),
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "pairs": len(found.measurements),
        "runs": found.trials,
    }
    return json.dumps({"version": VERSION, "figures": figures}, indent=2) + "\n"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    found = audit(RUNS, say=lambda told: print(told, file=sys.stderr))
    AUDITED.write_text(text(found))
    audit_page.write(found)
    review.main()  # its page has the figures too
