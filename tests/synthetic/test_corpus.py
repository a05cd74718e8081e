"""The invented corpus: no crawl, but a language's shape, and the same in every run."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from zealous.synthetic import corpus, document_frequencies, words
from zealous.synthetic.chance import Ints
from zealous.synthetic.corpus import PAGES

GIGABYTE = 10**9


def frequencies(*keywords: str) -> Ints:
    return document_frequencies(pa.array(keywords, pa.string()))


def spelled(first: int, size: int) -> Ints:
    return document_frequencies(words.spell(first + np.arange(size)))


def test_it_is_the_same_in_every_process() -> None:
    keywords = ["the", "weather", "google", "2006", "123456", "weatehr", "é"]
    program = (
        "import pyarrow as pa; from zealous.synthetic import document_frequencies as f;"
        f"print(f(pa.array({keywords})).tolist())"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert said == f"{frequencies(*keywords).tolist()}\n"


@examples(100)
@given(keywords=st.lists(st.text(min_size=1), max_size=20))
def test_a_word_alone_decides_and_has_at_least_one_page(keywords: list[str]) -> None:
    together = frequencies(*keywords)
    assert together.dtype == np.int64
    assert ((together >= 1) & (together <= PAGES)).all()
    assert together.tolist() == [int(frequencies(word)[0]) for word in keywords]
    sliced = pa.array(["before", *keywords, "after"]).slice(1, len(keywords))
    assert document_frequencies(sliced).tolist() == together.tolist()


def test_words_without_which_there_is_no_sentence_come_first() -> None:
    assert (np.diff(frequencies("the", "of", "and", "for", "free", "people", "family")) < 0).all()
    assert frequencies("the")[0] > 0.9 * PAGES
    assert frequencies("previous")[0] > 1_000_000


def test_everyday_words_are_on_many_pages_and_unknown_ones_on_few() -> None:
    everyday = document_frequencies(pa.array(sorted(set(corpus._everyday_words()))))
    assert everyday.min() > 20_000
    tail, brands = spelled(words.TAIL, 10_000), spelled(words.BRAND, 10_000)
    rare, people = spelled(words.TAIL + 1_000_000, 10_000), spelled(words.FAMILY, 10_000)
    misspelled = spelled(words.TYPO, 100)
    medians = [np.median(each) for each in (everyday, tail, rare)]
    assert medians[0] > 10 * medians[1] > 100 * medians[2]
    assert 0.5 < np.median(tail) / np.median(brands) < 2
    for few in (rare, people, misspelled):
        assert np.median(few) < 100
        assert np.quantile(few, 0.99) < 10_000


def test_longer_numbers_are_rarer() -> None:
    medians = [
        np.median(frequencies(*(str(10**digits + i) for i in range(9)))) for digits in range(7)
    ]
    assert medians == sorted(medians, reverse=True)
    assert frequencies("100000007")[0] <= 3
    assert frequencies("9" * 400)[0] == 1


def test_the_tail_follows_its_rank_loosely() -> None:
    found = np.log(spelled(words.TAIL, 100_000).astype(float))
    medians = [np.median(found[low : low + 10_000]) for low in range(0, 100_000, 10_000)]
    assert medians == sorted(medians, reverse=True)
    related = np.corrcoef(found, np.log(1000 + np.arange(100_000)))[0, 1]
    assert -0.9 < related < -0.3


def test_the_law_is_zipfs_and_then_steeper() -> None:
    rank = np.array([10.0, 100, 1000, 20_000, 200_000])
    share = corpus._share(rank)
    assert share[2] / share[1] == pytest.approx(0.1, rel=0.05)
    assert share[4] / share[3] == pytest.approx(10**-1.77, rel=0.01)
    assert corpus._share(np.array([1.0]))[0] == pytest.approx(0.0922 / 3.7)
    joint = corpus._share(np.array([7872.0, 7873, 7874]))
    assert joint == pytest.approx(joint[1], rel=0.001)
    assert 0.8 < corpus._share(np.arange(1, 1e6)).sum() < 1


def test_what_the_module_says_of_its_size() -> None:
    often = 500 * corpus._share(np.arange(1, 3e6))
    pages = PAGES * often / (1 + often)
    assert 5_600 < (pages > 200_000).sum() < 5_800
    assert round(8 * pages.sum() / GIGABYTE) == 59
    assert round(8 * np.minimum(pages, 200_000).sum() / GIGABYTE) == 24


def test_the_common_words_are_listed_once() -> None:
    listed = corpus._COMMON.split()
    assert len(listed) == len(set(listed)) > 150
