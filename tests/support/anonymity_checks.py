"""Whether an output has the property its method promises: plain Python, apart from the methods.

Rows carry the user whose they are, which only the owner knows. Users are counted, never rows.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import pairwise, takewhile
from typing import TypeVar
from urllib.parse import unquote_plus

from zealous.items.personal import fold_text, looks_personal
from zealous.study.anonymity.names import AREAS, GIVEN, PLACES, SURNAMES

_NAMES = GIVEN | SURNAMES
_YEARS = [f"{unit}{s}" for unit in ("year", "yr", "y", "month", "mo") for s in ("", "s", " s")]
_OF_AGE = {f"{unit}{old}" for unit in _YEARS for old in ("old", "olds", " old", " olds")}
_OF_AGE |= {"yo", "y o", "years of age", "yrs of age"}
_TRACEABLE = 8  # a shorter id of a user is found in random ids by chance

Holder = TypeVar("Holder", bound=Hashable)


def is_k_query_anonymous(rows: Iterable[tuple[Hashable, str]], k: int) -> bool:
    """Whether each query is that of at least k users.

    >>> is_k_query_anonymous([("ann", "tea"), ("bob", "tea")], k=2)
    True
    >>> is_k_query_anonymous([("ann", "tea"), ("ann", "tea")], k=2)
    False

    Args:
        rows: (user, query) for each published query.
        k: How many different users there must be.
    """
    return all(len(users) >= k for users in _holders(rows).values())


def is_k_keyword_anonymous(rows: Iterable[tuple[Hashable, str]], k: int) -> bool:
    """Whether each keyword, whole or shortened, is held by at least k users, and none is empty.

    >>> is_k_keyword_anonymous([("ann", "tea"), ("bob", "tea")], k=2)
    True
    >>> is_k_keyword_anonymous([("ann", ""), ("bob", "")], k=2)
    False

    Args:
        rows: (user, keyword) for each published keyword.
        k: How many different users there must be.
    """
    return all(len(users) >= k and keyword for keyword, users in _holders(rows).items())


def is_k_session_anonymous(rows: Iterable[tuple[Hashable, str, Iterable[str]]], k: int) -> bool:
    """Whether each session's set of keywords is that of sessions of at least k users.

    >>> is_k_session_anonymous([("ann", "x", ["tea", "pot"]), ("bob", "y", ["pot", "tea"])], k=2)
    True
    >>> is_k_session_anonymous([("ann", "x", ["tea", "pot"]), ("bob", "y", ["tea"])], k=2)
    False

    Args:
        rows: (user, id, keywords) for each session; an id that comes twice fails.
        k: How many different users there must be.
    """
    ids: set[str] = set()
    users = defaultdict(set)
    for user, session, keywords in rows:
        if session in ids:
            return False
        ids.add(session)
        users[frozenset(keywords)].add(user)
    return all(len(same) >= k for same in users.values())


def has_similar_histories(
    rows: Iterable[tuple[Hashable, str]], k: int, tolerance: str | float | Fraction
) -> bool:
    """Whether each user's set of queries is close to that of at least k - 1 other users.

    The distance of two sets is Jaccard's: the share of their union that they do not have in common.

    >>> rows = [("ann", "tea"), ("ann", "pot"), ("bob", "tea"), ("bob", "pot"), ("bob", "cup")]
    >>> has_similar_histories(rows, k=2, tolerance="0.34")
    True
    >>> has_similar_histories(rows, k=2, tolerance="0.33")
    False

    Args:
        rows: (user, query) for each published query.
        k: How many users must be close, the user herself among them.
        tolerance: The largest distance that is close; a float is the decimal that it prints.
    """
    alike = 1 - Fraction(str(tolerance))
    histories = defaultdict(set)
    for user, query in rows:
        histories[user].add(query)
    # Users with equal histories need no comparison, and often these are nearly all users.
    sizes = Counter(frozenset(history) for history in histories.values())
    if alike <= 0:
        return not sizes or sizes.total() >= k
    having = _holders((history, query) for history in sizes for query in history)
    return all(
        users >= k or _close(history, sizes, having, alike) >= k for history, users in sizes.items()
    )


def is_token_hashed(pairs: Iterable[tuple[str, str]]) -> bool:
    """Whether word by word each is replaced by a token of its own, and none by itself.

    >>> is_token_hashed([("Green tea", "x1 y2"), ("tea pot", "y2 z3")])
    True
    >>> is_token_hashed([("green tea", "x1 y2"), ("tea pot", "x1 z3")])
    False

    Args:
        pairs: Each query of the log, with what was published in its place: tokens and blanks.
    """
    token_of: dict[str, str] = {}
    word_of: dict[str, str] = {}
    for query, published in pairs:
        words, tokens = _words(query), published.split()
        if len(words) != len(tokens):
            return False
        for word, token in zip(words, tokens, strict=True):
            if word == token or token_of.setdefault(word, token) != token:
                return False
            if word_of.setdefault(token, word) != word:
                return False
    return True


def is_scrubbed(queries: Iterable[str]) -> bool:
    """Whether none of the queries looks like personal data, or has an age, postal code or name.

    Of names those count that are always cut; after a word as in San Jose they are places.

    >>> is_scrubbed(["green tea"]), is_scrubbed(["green tea", "anna.kern@mail.example"])
    (True, False)
    >>> is_scrubbed(["smith's bakery"]), is_scrubbed(["34-year-old"]), is_scrubbed(["tea 90210"])
    (False, False, False)

    Args:
        queries: The published queries.
    """
    return not any(map(_identifies, set(queries)))


def is_pseudonymous(rows: Iterable[tuple[Hashable, str]]) -> bool:
    """Whether each user has one id, each id one user, and no id tells the user's own.

    An id tells the user's own where it equals it, or where it contains one of eight characters or
    more; a shorter one is found in random ids by chance.

    >>> is_pseudonymous([("ann", "x1"), ("bob", "y2"), ("ann", "x1")])
    True
    >>> is_pseudonymous([("ann", "x1"), ("bob", "x1")])
    False

    Args:
        rows: (user, id) for each published row.
    """
    id_of: dict[Hashable, str] = {}
    user_of: dict[str, Hashable] = {}
    for user, new in set(rows):
        if id_of.setdefault(user, new) != new or user_of.setdefault(new, user) != user:
            return False
        old = str(user)
        if old == new or (len(old) >= _TRACEABLE and old in new):
            return False
    return True


def _holders(rows: Iterable[tuple[Holder, str]]) -> dict[str, set[Holder]]:
    """Who holds each value."""
    found = defaultdict(set)
    for holder, value in rows:
        found[value].add(holder)
    return found


def _close(
    history: frozenset[str],
    sizes: Counter[frozenset[str]],
    having: dict[str, set[frozenset[str]]],
    alike: Fraction,
) -> int:
    """How many users have a history of which at least this share is in common with the given."""
    common = Counter(other for query in history for other in having[query])
    return sum(
        sizes[other]
        for other, shared in common.items()
        if shared >= alike * (len(history) + len(other) - shared)
    )


def _words(text: str) -> list[str]:
    """The runs of letters, marks and digits, each character lower-cased by itself."""
    # Only one character has two as its lower case (a dotted capital I); the first is the letter.
    lowered = (each.lower()[0] for each in text)
    return "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in lowered).split()


def _identifies(query: str) -> bool:
    """Whether a query, as typed or as a link would be read, has what must not be in it."""
    if looks_personal(query):
        return True
    forms = map(_bare_words, {query, unquote_plus(query)})
    return any(_has_age(each) or _has_postal_code(each) or _has_name(each) for each in forms)


def _bare_words(text: str) -> list[str]:
    """The runs of letters and digits, with the apostrophes within them, as they are compared."""
    typed = fold_text(text).replace("\u2019", "'").replace("\u02bc", "'")
    spaced = "".join(each if each.isalnum() or each == "'" else " " for each in typed)
    words = (word.strip("'") for word in spaced.replace("''", " ").split())
    return list(filter(None, words))


def _has_age(words: list[str]) -> bool:
    """34 years old, 34yo, 34 years of age, aged 34, age of 34."""
    words = " ".join(words).replace("'", " ").split()
    for at, word in enumerate(words):
        digits = "".join(takewhile(str.isdecimal, word))
        if not 1 <= len(digits) <= 3:
            continue
        glued = word[len(digits) :]
        after = [glued, *words[at + 1 : at + 4]] if glued else words[at + 1 : at + 4]
        if any(" ".join(after[:length]) in _OF_AGE for length in range(1, 5)):
            return True
        before = words[max(0, at - 2) : at]
        if before[-1:] == ["of"]:
            before.pop()
        if not glued and before and before[-1] in ("age", "aged", "ages"):
            return True
    return False


def _has_postal_code(words: list[str]) -> bool:
    """Five digits; or, as one word or two, those of the United Kingdom and of Canada."""
    if any(len(word) == 5 and word.isdecimal() for word in words):
        return True
    halves = (first + second for first, second in pairwise(words) if len(second) == 3)
    return any(map(_is_postcode, [*words, *halves]))


def _is_postcode(word: str) -> bool:
    if not (5 <= len(word) <= 7 and word.isascii() and word.isalnum()):
        return False
    shape = "".join("9" if each.isdigit() else "a" for each in word)
    if shape == "a9a9a9" and word[0] not in "dfioquwz":
        return True  # of Canada
    area = "".join(takewhile(str.isalpha, word))
    district = shape[len(area) : -3]
    return (
        area in AREAS
        and district in ("9", "99", "9a")
        and shape.endswith("9aa")
        and not set(word[-2:]) & set("cikmov")
    )


def _has_name(words: list[str]) -> bool:
    """A name that is always cut and not part of a place; smith's and john'll have one too."""
    typed = [_unaccented(word) for word in words]
    whole = [word.removesuffix("'s").replace("'", "") for word in typed]
    places = {at for at, pair in enumerate(pairwise(whole)) if pair in PLACES}
    return any(
        not _NAMES.isdisjoint((word, *typed[at].split("'"))) and places.isdisjoint((at - 1, at))
        for at, word in enumerate(whole)
    )


def _unaccented(word: str) -> str:
    return "".join(
        each for each in unicodedata.normalize("NFKD", word) if not unicodedata.combining(each)
    )
