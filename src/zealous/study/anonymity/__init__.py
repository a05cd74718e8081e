"""The anonymity methods, one a file: what people did before, for comparison. None is private."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from zealous.errors import UsageError
from zealous.study.anonymity.anonymize import Anonymized, anonymize, check_users, histograms
from zealous.study.anonymity.k_keyword import KKeyword
from zealous.study.anonymity.k_query import KQuery
from zealous.study.anonymity.k_session import KSession
from zealous.study.anonymity.method import METHODS, AmongK, Changed, Method, check_engine, register
from zealous.study.anonymity.output import WARNING, Bundle, read_bundle
from zealous.study.anonymity.pseudonym import Pseudonym
from zealous.study.anonymity.scrub import Scrub
from zealous.study.anonymity.similar_histories import SimilarHistories
from zealous.study.anonymity.token_hash import TokenHash

__all__ = [
    "METHODS",
    "WARNING",
    "AmongK",
    "Anonymized",
    "Bundle",
    "Changed",
    "KKeyword",
    "KQuery",
    "KSession",
    "Method",
    "Pseudonym",
    "Scrub",
    "SimilarHistories",
    "TokenHash",
    "anonymize",
    "check_engine",
    "check_users",
    "histograms",
    "method_by_name",
    "read_bundle",
    "register",
]


def method_by_name(name: str, **settings: Any) -> Method:
    """The method that is called so; settings that it does not have are ignored.

    >>> method_by_name("pseudonym", k=10)
    Pseudonym()
    """
    if name not in METHODS:
        raise UsageError(f"the method must be one of {', '.join(METHODS)}")
    chosen = METHODS[name]
    own = {field.name for field in fields(chosen)}
    given = {key: value for key, value in settings.items() if key in own and value is not None}
    if "k" in own and "k" not in given:
        raise UsageError(f"{name} hides each among k users, and there is no default: say -k 10")
    return chosen(**given)
