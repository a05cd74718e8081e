"""Made-up results of a study, plausible and quick: what the tests of the report draw."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from zealous.study.claims.claim import Finding
from zealous.study.claims.paper import printed_values
from zealous.study.grid.result_table import Results, as_table
from zealous.study.grid.study import Study
from zealous.study.report.report import ReportContext, write_report
from zealous.study.theory.tables import privacy, thresholds
from zealous.study.theory.theory_table import TableParameters

STUDY = Study(draws=3)
SMALL = Study(
    epsilons=(1, 5), items_per_user=(1, 6), top=(10, 100), k=(5, 10), methods=("k-query",), draws=1
)
SIZES = {"keywords": 9e5, "queries": 3e6, "clicks": 4.5e6, "query-pairs": 3e6, "phrase-pairs": 2e6}
HELD = {"keywords": 6e3, "queries": 3e3, "clicks": 2.5e3, "query-pairs": 330, "phrase-pairs": 900}
ITEMS = {"keywords": 56, "queries": 20, "clicks": 14, "query-pairs": 7, "phrase-pairs": 7}


EVIL = "<script>alert(1)</script>\"'&$x$"
UNEVEN = "_odd $ measure of mine that is infinite, no number or vast here and there"
_DRAWN: list[Path] = []


class Run(NamedTuple):
    """A method at one setting."""

    name: str
    epsilon: float | None = None
    k: int | None = None
    m: int | None = None


def finding(
    name: str, claim: str, paper: str | None, measured: str, holds: bool | None, why: str = ""
) -> Finding:
    return Finding(
        name=name,
        claim=claim,
        paper=paper,
        measured=measured,
        holds=holds,
        margin=0.125,
        margin_of="the items at m = 1",
        judged_on="m = 1 and 40",
        why=why,
    )


FINDINGS = (
    finding(
        "coverage",
        "Fewer items are released as m grows, most of all of query pairs.",
        "55 % fewer keywords, 96 % fewer query pairs",
        "52 % and 94 % fewer.",
        True,
    ),
    finding(
        "difference",
        "The average difference falls as epsilon grows.",
        None,
        "It rises from 2.1 to 2.4.",
        False,
        "Noise outweighs what is regained.",
    ),
    finding("clicks", "Clicks lose more than queries.", None, "No clicks in this log.", None),
)


def made(
    study: Study = STUDY,
    kinds: Sequence[str] = tuple(SIZES),
    own: Sequence[Run] = (),
    measures: Sequence[str] = (),
    nothing: Sequence[Run] = (),
) -> Results:
    """Results of a study.

    Args:
        study: Its grid.
        kinds: What was counted.
        own: Methods of one's own.
        measures: Of one's own.
        nothing: Methods at settings at which nothing is published.
    """
    rows = list(_rows(study, kinds, own, measures, nothing))
    return Results(table=as_table(rows))


def drawn(factory: pytest.TempPathFactory) -> Path:
    """The folder of a report of everything, drawn once for all tests: that takes most of the time.

    It has methods and measures of one's own, at several settings, and nasty names.
    """
    if not _DRAWN:
        folder = factory.mktemp("whole")
        own = [
            Run(EVIL, 3.0, m=2),
            Run("plain-own"),
            Run("both", 1.0, m=1),
            Run("both", 5.0, m=1),
            Run("both", 5.0, m=4),
        ]
        results = made(SMALL, tuple(SIZES), own, ["my-measure", UNEVEN])
        audits = [
            {
                "method": EVIL,
                "epsilon": 3.0,
                "delta": 1e-6,
                "proven": 2.5,
                "seen_from": None,
                "failures": ["it shows"],
            }
        ]
        about = context(
            SMALL,
            audits=audits,
            promises={"plain-own": f"nobody is named {EVIL}."},
            own=[f"{EVIL} (method)", "my-measure (measure)"],
            left_out=[f"k-session: {EVIL}"],
            documents=f"Documents of {EVIL}.",
            documents_fit=False,
        )
        findings = [*FINDINGS, finding(EVIL, EVIL, EVIL, EVIL, False, EVIL)]
        _DRAWN.append(write_report(folder, results, findings, about))
    return _DRAWN[0].parent


def context(study: Study = STUDY, **more: Any) -> ReportContext:
    """What the report says besides."""
    return ReportContext(
        study=study.as_object(),
        users=500_000,
        synthetic=True,
        log={"name": "log.parquet"},
        tables=[privacy(TableParameters()), thresholds(TableParameters())],
        paper=printed_values(),
        **more,
    )


def _rows(
    study: Study,
    kinds: Sequence[str],
    own: Sequence[Run],
    measures: Sequence[str],
    nothing: Sequence[Run],
) -> Iterator[tuple[Any, ...]]:
    settings = [Run("original")]
    settings += [
        Run("zealous", float(epsilon), m=m)
        for m in study.items_per_user
        for epsilon in study.epsilons
    ]
    settings += [Run(name, k=k) for name in study.methods for k in study.k]
    for each in (*settings, *own):
        loss = 0.0 if each.name == "original" else (each.m or 1) / (each.epsilon or 6)
        if each.k:
            loss = each.k / 60
        for draw in range(study.draws if each.name == "zealous" else 1):
            for kind in kinds:
                for measure, at, value in _figures(study, kind, each.name, loss, each.m, measures):
                    shaken = value * (1 + 0.03 * math.sin(7 * draw + 13 * loss + (at or 0)))
                    if measure == "distinct" and each in nothing:
                        shaken = 0.0
                    yield *each, draw, kind, measure, at, shaken


def _figures(
    study: Study, kind: str, method: str, loss: float, m: int | None, measures: Sequence[str]
) -> Iterator[tuple[str, float | None, float]]:
    kept = HELD[kind] / (1 + loss) if loss else SIZES[kind]
    yield "distinct", None, kept
    yield "total", None, 40 * kept * min(m or 1, ITEMS[kind]) if loss else 20 * kept
    for j in study.top:
        lost = max(0.0, j - kept)
        yield "missing", j, lost
        yield "missing-share", j, lost / j
        yield "l1", j, 0.1 * (loss / (m or 1) + lost / j + 0.02) / j
        yield "kl", j, 0.05 * loss / (m or 1) + 2 * lost / j + 0.01 * (m or 1)
    yield "average-difference", None, 2 + loss
    yield "rms-difference", None, 30 + 10 * loss
    yield "total-variation", None, 1 - 1 / (2 + loss)
    for power in range(30):
        count = 10 ** (power / 6)
        if not loss or count > 8:
            yield "items-with-count", count, (SIZES[kind] if not loss else 6e5) / count**2
    if method == "original":
        yield "average-items", None, ITEMS[kind]
        yield "average-distinct-items", None, 0.8 * ITEMS[kind]
    if method == "zealous":
        for times in (0, 1, 2, 4):
            for half in ("retain", "filter"):
                for suffix in ("-exact", ""):
                    value = 60 * math.exp(-times) if half == "retain" else 0.0
                    yield f"inaccuracy-{half}{suffix}", 0.4 * (m or 1) * times, value
    if kind == "keywords":
        hits = 0.42 - 0.01 * loss - (0.04 if m == 1 else 0)
        yield "hit-probability", None, hits
        yield "whole-queries", None, 0.4 * hits
        yield "lists", None, 90 + 5 * loss
        yield "lists-for-most-hits", None, 50 + 5 * loss
    if kind.endswith("-pairs") and m in (None, 1, 2, 6):
        for j in (2, 5):
            for place, name in enumerate(
                ("precision", "recall", "map-printed", "average-precision", "ndcg")
            ):
                yield name, j, (1 - 0.02 * loss - 0.03 * place - 0.02 * j) * (1 if loss else 1.1)
            yield "coverage", j, (0.02 if kind == "query-pairs" else 0.06) / (0.2 + loss) + 0.01
    for place, name in enumerate(measures):
        odd = {1.0: math.inf, 0.2: math.nan, 6.0: 1e308} if name == UNEVEN else {}
        yield name, None, odd.get(loss, 1 + place + loss)
