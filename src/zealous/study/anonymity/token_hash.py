"""Every word replaced by a token: Kumar, Novak, Pang and Tomkins' token-based hashing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zealous.engines.sql import literal
from zealous.items import words
from zealous.logs.source import Source
from zealous.study.anonymity.method import Changed, Method, Say, Shows, new_secret, register
from zealous.study.anonymity.pseudonym import count_suppressed, replace_user_ids


@register
@dataclass(frozen=True, kw_only=True)
class TokenHash(Method):
    """Replace each word by a token that is the same wherever the word is, and each user's id.

    The words are those of the query's text, in their order. A log that has lists of keywords and
    no query is refused.
    """

    name: ClassVar[str] = "token-hash"
    summary: ClassVar[str] = "words replaced by tokens (Kumar et al.)"
    shows: ClassVar[Shows | None] = "tokens"
    promises: ClassVar[str] = (
        "the tokens of the output cannot be computed from words, nor words from tokens, by anybody "
        "without the secret, which is forgotten; nor can its ids be traced back to those of the "
        "log."
    )
    lacks: ClassVar[str] = (
        "a token is as frequent as its word, and stands beside the same other tokens: whoever has "
        "another log, or knows some of the queries, reads the frequent words by their frequency "
        "and the rest by what stands beside them. All queries of a person are under one id."
    )
    origin: ClassVar[str] = (
        "Kumar, Novak, Pang and Tomkins, On anonymizing query logs via token-based hashing, "
        "WWW 2007"
    )
    counting: ClassVar[bool] = True

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store (user, id, time, query), a query being its tokens in order."""
        # Each occurrence is hashed: to look up the words in a table of the distinct ones is no
        # faster, and takes memory.
        tokens = f"list_transform({words('query')}, lambda word: {token(new_secret())})"
        replace_user_ids(source, [], f"array_to_string({tokens}, ' ')")
        return count_suppressed(source)


def token(secret: str) -> str:
    """SQL: what stands for `word`.

    64 bits: among ten million words, two share a token with a chance of 3 in a million. The secret
    has one length, so it is clear where the word begins.
    """
    return f"left(sha256({literal(secret)} || word), 16)"
