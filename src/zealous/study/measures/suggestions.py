"""What to ask instead of a query, from what somebody published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from zealous.errors import UsageError
from zealous.logs.values import BLANKS
from zealous.release.bundle import read_release
from zealous.release.table import Table
from zealous.study.anonymity.output import ABOUT, read_bundle
from zealous.study.measures.phrases import words
from zealous.study.measures.substitution import learn

LEARNED_FROM = ("phrase-pairs", "query-pairs")  # the first that there is
CUT_BY = "queries"  # which tells apart the phrases of a pair, where it is there too


class Suggestion(NamedTuple):
    """One query to ask instead.

    Attributes:
        instead: The query.
        score: The log-likelihood ratio of the change.
    """

    instead: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Suggestions:
    """What was found for some queries.

    Attributes:
        kind: What they were learned from.
        found: For each query, in the order in which they were asked, the best first.
    """

    kind: str
    found: Sequence[Sequence[Suggestion]]


def suggest(directory: str | Path, queries: Sequence[str], most: int = 5) -> Suggestions:
    """Learn query substitutions from a release alone and apply them.

    Args:
        directory: A release, or the output of an anonymity method.
        queries: What to find substitutes for. They are normalised as the release's are.
        most: How many for each at most.

    Raises:
        UsageError: There are no pairs in it to learn from.
    """
    tables, folded_kinds = _read_pairs(Path(directory))
    kinds = [kind for kind in LEARNED_FROM if kind in tables]
    if not kinds:
        raise UsageError(
            f"{directory} has neither query pairs nor phrase pairs, from which suggestions are "
            "learned: publish with --items query-pairs or --items phrase-pairs"
        )
    kind, folded = kinds[0], kinds[0] in folded_kinds
    cut_by = None
    asked_before = tables.get(CUT_BY)
    if asked_before is not None and (CUT_BY in folded_kinds) == folded:
        cut_by = asked_before.arrow
    asked = _normalize(queries, folded)
    ranked = learn(tables[kind].arrow, cut_by).top(asked, most)
    found: list[list[Suggestion]] = [[] for _ in queries]
    for row in ranked.table.to_pylist():
        found[row["place"]].append(Suggestion(row["candidate"], row["score"]))
    return Suggestions(kind=kind, found=found)


def _read_pairs(path: Path) -> tuple[Mapping[str, Table], set[str]]:
    """The tables of a release by kind, and the kinds in which the order of words was given up."""
    if (path / ABOUT).is_file():
        bundle = read_bundle(path)
        return {kind: bundle[kind] for kind in bundle.record.gives}, set()
    release = read_release(path)
    return release.tables, {part.kind for part in release.record.plan if part.settings.get("fold")}


def _normalize(queries: Sequence[str], folded: bool) -> pa.Array:
    """Queries as the kinds of items have them."""
    texts = pa.array(queries, pa.string())
    if folded:
        cut = words(texts)
        each = (
            cut.flat[low:high].to_pylist()
            for low, high in zip(cut.start[:-1].tolist(), cut.start[1:].tolist(), strict=True)
        )
        return pa.array([" ".join(sorted(set(found))) for found in each], pa.string())
    spaced = pc.replace_substring_regex(pc.utf8_lower(texts), pattern=BLANKS, replacement=" ")
    return pc.utf8_trim(spaced, characters=" ")
