"""What the methods share: their shape, what they report to the owner, and ids that lead nowhere."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeVar

from zealous.engines.engine import Engine, require_local
from zealous.engines.sql import literal
from zealous.errors import UsageError
from zealous.logs.source import Source
from zealous.privacy.guarantee import SESSION_GAP, check_session_gap, positive_integer
from zealous.registry import Registry
from zealous.study.curve_look import Look

Say = Callable[[str], None]
Shows = Literal[
    "words", "tokens", "frequent queries", "frequent words", "similar sessions", "similar histories"
]


@dataclass(frozen=True, kw_only=True)
class Changed:
    """Internal: how much of the log a method has suppressed, shortened, deleted or added.

    Attributes:
        what: What was changed, as in "users suppressed".
        number: How many.
        of: Of how many there were.
    """

    what: str
    number: int
    of: int

    @property
    def share(self) -> float:
        """The share that was changed."""
        return self.number / self.of if self.of else 0.0


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to anonymise a log, which is not differentially private.

    A method leaves the table `anonymous` on the engine. Its column `user` tells whose each row is
    and never leaves; the columns of `published` do.
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    """What it does, in a few words."""
    promises: ClassVar[str]
    lacks: ClassVar[str]
    origin: ClassVar[str]
    session_ids: ClassVar[bool] = False
    """Whether an id of the output stands for a session; else it stands for a user."""
    counting: ClassVar[bool] = False
    """Whether its steps yield the same rows each time they are run: such a method can be counted on
    an engine that runs them whenever they are read."""

    shows: ClassVar[Shows | None] = None
    """What an output shows of a log, which decides how it is attacked; None where nothing fits."""

    look: ClassVar[Look | None] = None
    """How its curves look; like one of the spare looks of a study where not given."""

    def published_columns(self, roles: Collection[str]) -> tuple[str, ...]:
        """The columns of the log it gives; none where it gives a histogram of keywords alone."""
        return ("id", *(["time"] if "time" in roles else []), "query")

    def check(self, roles: Collection[str]) -> None:
        """Refuse a log whose columns do not allow the method."""
        if "query" not in roles:
            raise UsageError(f"{self.name} needs a column with the query: say --query COLUMN")

    def check_users(self, users: int) -> None:
        """Refuse a log with so few users."""

    @classmethod
    def public_rule(cls) -> Callable[[str], str | None] | None:
        """What becomes of a query by rules that everybody knows: it stays, is changed, or is lost.

        None for a method that replaces words or adds queries: to hold a query says little there,
        and nobody could tell from the output whether the id found is hers.
        """
        return None

    def apply(self, source: Source, say: Say = lambda _: None) -> list[Changed]:
        """Store `anonymous` on the engine and tell the owner what was changed."""
        raise NotImplementedError

    def settings(self) -> Mapping[str, Any]:
        """The parameters, for the recipient to know."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


METHODS: Registry[type[Method]] = Registry(
    "zealous.study.anonymity",
    lambda method: method.name,
    first=("pseudonym", "scrub", "token-hash", "k-query", "k-session", "k-keyword"),
)
M = TypeVar("M", bound=Method)


def register(method: type[M]) -> type[M]:
    """Make a method known by its name: to `anonymize`, `compare` and `attack`; a decorator."""
    METHODS.register(method)
    return method


def check_engine(method: Method, engine: Engine) -> None:
    """Refuse a method that does more than an engine can."""
    if not method.counting:
        require_local(engine, f"{method.name} does more than count")


def check_k(k: int) -> None:
    """Refuse a k that hides nobody."""
    if positive_integer(k, "k") < 2:
        raise UsageError("k must be at least 2: among one, nobody is hidden")


@dataclass(frozen=True, kw_only=True)
class AmongK(Method):
    """A method that hides each among k.

    Attributes:
        k: How many different users there must be.
    """

    k: int

    def __post_init__(self) -> None:
        check_k(self.k)

    def check_users(self, users: int) -> None:
        """Refuse a log with fewer than k."""
        if self.k > users:
            raise UsageError(
                "k is larger than the number of users in the log: nobody can hide among so many; "
                "choose a smaller k"
            )


@dataclass(frozen=True, kw_only=True)
class BySession(AmongK):
    """A method that cuts the log into sessions, as publishing does, and gives each a new id.

    Attributes:
        session_gap: Minutes without a query that end a session, where the log has no session ids.
        by_similarity: Whether a query without a word in common with what the user asked the moment
            before ends it too.
    """

    session_gap: int = SESSION_GAP
    by_similarity: bool = False
    session_ids: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_session_gap(self.session_gap)

    def check(self, roles: Collection[str]) -> None:
        """Refuse a log whose columns do not allow the method."""
        super().check(roles)
        if not {"time", "session"} & set(roles):
            raise UsageError(
                f"{self.name} works on sessions, and the log has neither times nor session ids: "
                "say --time COLUMN or --session COLUMN"
            )


def new_secret() -> str:
    """192 random bits, to be forgotten; short, so that most ids take one block of the hash."""
    return secrets.token_urlsafe(24)


def new_id(secret: str, *parts: str) -> str:
    """SQL: an id that nobody without the secret, which is forgotten, can trace back.

    Args:
        secret: What `new_secret` gave.
        parts: Expressions that say what the id stands for.
    """
    # Lengths tell where each part ends, so that no two lists of parts are joined to the same text.
    joined = " || ".join(f"length({p}::varchar)::varchar || ':' || {p}::varchar" for p in parts)
    return f"left(sha256({literal(secret)} || {joined}), 16)"
