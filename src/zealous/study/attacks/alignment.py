"""Attack 3: tokens turned back into words with the help of another log, after Kumar et al.

Whoever hashes words keeps how often each is asked and which stand beside which. In another log of
the same language the words do much the same, and the two can be laid over each other. (Kumar,
Novak, Pang and Tomkins, On anonymizing query logs via token-based hashing, WWW 2007.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from zealous.engines.duckdb import DuckDB
from zealous.engines.sql import Step
from zealous.errors import UsageError
from zealous.items import has_word, words
from zealous.logs.log import Columns, Log, read_log
from zealous.logs.open_log import open_log
from zealous.logs.source import Source
from zealous.study.anonymity.method import METHODS
from zealous.study.anonymity.output import Bundle
from zealous.study.attacks.rate import Rate
from zealous.synthetic.chance import Ints

Matrix: TypeAlias = npt.NDArray[np.float32]

BY_FREQUENCY = "by frequency"
BY_COMPANY = "by frequency and what stands beside"
TOPS = (100, 1000, None)

# Found by trial on one generated log. There half or twice a weight, the drift, the shape or the
# first anchors moved what is recovered of the first 1,000 tokens by 5 points at most; new tokens
# for the same log moved it by 3. Half the rounds, or a growth of 1.25, recover far less (52 and
# 67 % in place of 83 %): the anchors have no time to spread.
_DRIFT = 0.1  # by how much a word's frequency may differ between two logs besides chance
_SHAPE = 100  # how many neighbours make the shape of a word's company
_SHAPE_WEIGHT, _FREQUENCY_WEIGHT, _COMPANY_WEIGHT = 0.3, 0.5, 10.0
_START_WEIGHT = 0.1  # of the first likeness, in the later rounds
_ANCHORS, _GROWTH, _ROUNDS = 50, 1.5, 12


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """How many tokens were turned back into their words.

    Attributes:
        how: What the attacker goes by.
        top: Among how many of the tokens that most users asked; None for all tokens.
        recovered: Right guesses, of the tokens whose word the scorer knows.
        weighted: The share of these tokens' occurrences that can be read; None without any.
    """

    how: str
    top: int | None
    recovered: Rate
    weighted: float | None


@dataclass(frozen=True, kw_only=True)
class _Words:
    """The words, or tokens, of a log, those of most users first.

    Attributes:
        texts: The words.
        users: By how many users each was asked.
        times: How often each was asked.
        population: How many users the log has.
        company: Of the first words, how many users asked one with the other: in one query, right
            before it, right after it.
    """

    texts: list[str]
    users: Ints
    times: Ints
    population: int
    company: tuple[Matrix, Matrix, Matrix]


def align_tokens(
    original: Log,
    bundle: Bundle,
    reference: Log,
    *,
    most: int = 2000,
    engine: DuckDB | None = None,
) -> list[Alignment]:
    """Turn the tokens of a token-hashed log back into words, and count how many are right.

    The attacker has the output and the reference, and guesses in two ways. By frequency: the
    token of the n-th most users is the n-th word of the reference. By what stands beside: see
    `match`. The original log serves to score alone: a moment at which it has one entry, and the
    output too, tells which words that entry's tokens stand for, in order.

    Args:
        original: The log the output was made of, with times.
        bundle: The output of token-hash.
        reference: Any other log.
        most: How many tokens and words to match by what stands beside them; time and memory grow
            with its square. Tokens beyond them are not recovered.
        engine: Where to run; an embedded DuckDB where not given.
    """
    method = METHODS.get(bundle.record.method)
    if method is None or method.shows != "tokens":
        raise UsageError("alignment reads tokens back: give it the output of token-hash")
    if "time" not in bundle.log_file().columns:
        raise UsageError("the output has no times, by which guesses are scored")
    if most < 2:
        raise UsageError("most must be at least 2: how many tokens to match")
    published = read_log(bundle.directory / bundle.log_file().file, columns=Columns(user="id"))
    with engine or DuckDB() as running:
        hashed = _read_words(published, most, running)
        known = _read_words(reference, most, running)
        truth = _true_words(original, published, running)
    right = [truth.get(token) for token in hashed.texts]
    guesses = {
        BY_FREQUENCY: known.texts[: len(right)],
        BY_COMPANY: [known.texts[place] for place in match(hashed, known)],
    }
    return [_score(how, top, guesses[how], right, hashed) for how in guesses for top in TOPS]


def _score(
    how: str, top: int | None, guesses: Sequence[str], right: Sequence[str | None], hashed: _Words
) -> Alignment:
    known = np.array([word is not None for word in right[:top]], bool)
    hit = np.zeros(len(known), bool)
    pairs = zip(guesses, right[:top], strict=False)  # a token without a guess is a miss
    hit[: min(len(guesses), len(hit))] = [guess == word for guess, word in pairs]
    times = hashed.times[:top]
    all_times = int(times[known].sum())
    return Alignment(
        how=how,
        top=top,
        recovered=Rate(successes=int(hit.sum()), trials=int(known.sum())),
        weighted=int(times[hit].sum()) / all_times if all_times else None,
    )


def match(hashed: _Words, known: _Words) -> Ints:
    """For each of the first tokens, the place of the word it most likely stands for.

    The first likeness needs no pair to be known: how near the frequencies are, given chance, and
    how alike the shapes of the company are (the sorted counts of what stands beside, whatever that
    is). Pairs that choose each other by the widest margin become anchors. Then, round by round,
    tokens and words are compared by how often each stands beside the anchors (the cosine of the
    logarithms), more pairs become anchors, and wrong ones are dropped.
    """
    scale = np.float32(hashed.population / known.population)
    theirs = [np.log1p(each * scale) for each in known.company]
    ours = [np.log1p(each) for each in hashed.company]
    frequency = _FREQUENCY_WEIGHT * _frequency_likelihood(hashed, known)
    start = frequency - _SHAPE_WEIGHT * sum(
        _squared_distances(_shape_profile(our), _shape_profile(their))
        for our, their in zip(ours, theirs, strict=True)
    )
    likeness = start
    for turn in range(_ROUNDS):
        token, word = _anchors(likeness, int(_ANCHORS * _GROWTH**turn))
        likeness = frequency + _START_WEIGHT * start
        for our, their in zip(ours, theirs, strict=True):
            likeness += _COMPANY_WEIGHT * (_unit_rows(our[:, token]) @ _unit_rows(their[:, word]).T)
    best: Ints = likeness.argmax(axis=1)
    return best


def _frequency_likelihood(hashed: _Words, known: _Words) -> Matrix:
    """The logarithm of how likely two frequencies are one, up to a constant; counts are Poisson."""
    ours = hashed.users[: len(hashed.company[0])].astype(np.float32)
    theirs = known.users[: len(known.company[0])].astype(np.float32)
    apart = np.log(ours / hashed.population)[:, None] - np.log(theirs / known.population)[None]
    spread = (1 / ours)[:, None] + (1 / theirs)[None] + np.float32(_DRIFT**2)
    return np.asarray(-(apart**2) / spread, np.float32)


def _shape_profile(company: Matrix) -> Matrix:
    """The largest counts of each row, sorted; zeros fill up what a small log lacks."""
    shape = np.zeros((len(company), _SHAPE), np.float32)
    largest = -np.sort(-company, axis=1)[:, :_SHAPE]
    shape[:, : largest.shape[1]] = largest
    return shape


def _squared_distances(one: Matrix, other: Matrix) -> Matrix:
    """The squared distance of every row of one to every row of the other."""
    both: Matrix = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None] - 2 * one @ other.T
    return np.maximum(both, 0)


def _unit_rows(rows: Matrix) -> Matrix:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Matrix = rows / np.maximum(length, np.float32(1e-9))
    return units


def _anchors(likeness: Matrix, number: int) -> tuple[Ints, Ints]:
    """The pairs that choose each other, those of the widest margin to the second choice first."""
    token = np.arange(len(likeness))
    word = likeness.argmax(axis=1)
    mutual = likeness.argmax(axis=0)[word] == token
    best = likeness[token, word]
    second = np.partition(likeness, -2, axis=1)[:, -2] if likeness.shape[1] > 1 else best
    order = np.argsort(np.where(mutual, second - best, np.inf), kind="stable")
    chosen = order[: min(number, int(mutual.sum()))]
    return chosen, word[chosen]


def _read_words(log: Log, most: int, engine: DuckDB) -> _Words:
    """The words of a log, and the company of its first ones."""
    source = open_log(log, engine)
    split = f"select user, {words('query')} as list from entries where {has_word('query')}"
    numbered = "select user, list, row_number() over () as entry from split"
    places = "select entry, user, unnest(list) as word, generate_subscripts(list, 1) as place"
    steps = [Step("split", split), Step("numbered", numbered)]
    engine.drop("places")
    engine.append_rows(
        "places", [*source.entries, *steps, Step("places", f"{places} from numbered")]
    )
    counted = "select word, count(distinct user) as users, count(*) as times from places group by 1"
    ordered = Step("words", f"{counted} order by users desc, times desc, word")
    table = pa.Table.from_batches(engine.batches([ordered]))
    population = engine.rows([Step("there", "select count(distinct user) from places")])[0][0]
    return _Words(
        texts=table["word"].to_pylist(),
        users=table["users"].to_numpy(),
        times=table["times"].to_numpy(),
        population=population,
        company=_co_occurrences(table["word"].slice(0, most), engine),
    )


def _co_occurrences(top: pa.ChunkedArray, engine: DuckDB) -> tuple[Matrix, Matrix, Matrix]:
    """By how many users each of these words was asked in one query with, before, after another."""
    engine.add_table("top", pa.table({"word": top, "number": np.arange(len(top))}))
    near = Step("near", "select entry, user, place, number from places join top using (word)")
    pairs = (
        "select one.number, other.number, count(distinct one.user) from near one join near other"
    )
    ways = {
        "together": "one.number <> other.number",
        "before": "other.place = one.place + 1",
    }
    found = []
    for way, which in ways.items():
        beside = f"{pairs} on one.entry = other.entry and {which} group by 1, 2"
        counts = np.zeros((len(top), len(top)), np.float32)
        for batch in engine.batches([near, Step(way, beside)]):
            one, other, users = (column.to_numpy() for column in batch.columns)
            counts[one, other] = users
        found.append(counts)
    together, before = found
    return together, before, np.ascontiguousarray(before.T)


def _true_words(original: Log, published: Log, engine: DuckDB) -> dict[str, str]:
    """The word of each token, from moments of which both logs have one entry."""

    def alone(source: Source) -> list[Step]:
        each = f"select time, {words('query')} as list from entries where {has_word('query')}"
        once = "select time, any_value(list) as list from each group by time having count(*) = 1"
        return [*source.entries, Step("each", each), Step("once", once)]

    for name, log in (("original", original), ("published", published)):
        engine.append_rows(name, alone(open_log(log, engine)))
    paired = (
        "select unnest(published.list) as token, unnest(original.list) as word "
        "from published join original using (time) "
        "where len(published.list) = len(original.list)"
    )
    words_of = "select token, min(word) from paired group by token"
    return dict(engine.rows([Step("paired", paired), Step("words_of", words_of)]))
