"""Words and phrases once more, by their definitions."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from itertools import pairwise

from zealous.study.measures.phrases import KAPPA

Histogram = list[tuple[str, int]]


def words_slowly(text: str) -> list[str]:
    """The rule once more: runs of letters, marks and digits."""
    spaced = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text.lower())
    return spaced.split()


def joined_slowly(histogram: Histogram) -> set[tuple[str, str]]:
    """The neighbours that belong together, by the definition."""
    single: Counter[str] = Counter()
    double: Counter[tuple[str, str]] = Counter()
    for text, count in histogram:
        if count > 0:
            found = words_slowly(text)
            for word in found:
                single[word] += count
            for two in pairwise(found):
                double[two] += count
    ones, twos = sum(single.values()), sum(double.values())
    return {
        (a, b)
        for (a, b), often in double.items()
        if math.log2(often / twos / ((single[a] / ones) * (single[b] / ones))) > KAPPA
    }


def cut_slowly(text: str, joined: set[tuple[str, str]]) -> list[str]:
    """The phrases of a text."""
    phrases: list[list[str]] = []
    for word in words_slowly(text):
        if phrases and (phrases[-1][-1], word) in joined:
            phrases[-1].append(word)
        else:
            phrases.append([word])
    return [" ".join(phrase) for phrase in phrases]
