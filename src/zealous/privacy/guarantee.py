"""The claim as a value: what is promised, about whom, with which numbers, under which assumptions.

Two definitions, each a class; with delta = 0 both are epsilon-differential privacy. Numbers are
exact rationals: `delta="1e-6"` is one millionth, not the binary float nearest to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact
from fractions import Fraction
from typing import ClassVar, Literal, Self, TypeVar, get_args

from zealous.errors import UsageError
from zealous.privacy.units import PRIVACY_UNITS
from zealous.privacy.units import UNIT_PLURALS as UNIT_PLURALS
from zealous.privacy.units import UNITS as UNITS
from zealous.privacy.units import WHOEVER as WHOEVER
from zealous.privacy.units import Neighbors as Neighbors
from zealous.privacy.units import Unit as Unit

Number = int | str | Fraction | Decimal | float
Definition = Literal["probabilistic", "indistinguishable"]

ONE_EACH = "Whoever has several is protected once for each."
ONLY_THIS = "Only this release leaves; other releases from the same people add to the budget."
SESSION_GAP = 30  # minutes without a query end a session
_YEAR = 525_600  # minutes
PURE = "epsilon-differential privacy (delta = 0)"

_UNNAMED = re.compile(r"unnamed_column_(\d+)")
_NEIGHBORS_IN_WORDS: dict[Neighbors, str] = {
    "replace": "logs that differ in {whole}, possibly from something to nothing",
    "add-remove": "logs of which one has {one} more",
}

_MOST_DIGITS = 305
SMALLEST = Fraction(1, 10**_MOST_DIGITS)  # and its inverse the largest: what a float can print


G = TypeVar("G", bound="Guarantee")


def exact_fraction(value: Number, name: str) -> Fraction:
    """Read a number as the decimal that was written: 0.1 is one tenth.

    >>> exact_fraction("1e-6", "delta"), exact_fraction(0.1, "epsilon")
    (Fraction(1, 1000000), Fraction(1, 10))
    """
    try:
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, float) or (isinstance(value, str) and "/" not in value):
            value = Decimal(str(value))
        if isinstance(value, Decimal) and value and abs(value.adjusted()) > _MOST_DIGITS:
            raise ValueError  # before it becomes an integer with a million digits
        number = Fraction(value)
        if number and not SMALLEST <= abs(number) <= 1 / SMALLEST:
            raise ValueError
    except (ValueError, ArithmeticError, TypeError):
        raise UsageError(f"{name} must be a number such as 1, 0.5 or 1e-6") from None
    return number


def format_number(value: Fraction | float, *, up: bool = True) -> str:
    """A number for people: exact where twelve digits do, else rounded against us.

    >>> share = Fraction(2, 3)
    >>> format_number(Fraction(1, 10)), format_number(share), format_number(share, up=False)
    ('0.1', '0.666667', '0.666666')
    """
    value = exact_fraction(value, "value") if isinstance(value, float) else value
    try:
        precise = Context(prec=12, traps=[Inexact])
        number = precise.divide(Decimal(value.numerator), Decimal(value.denominator))
    except Inexact:
        rounded = Context(prec=6, rounding=ROUND_CEILING if up else ROUND_FLOOR)
        number = rounded.divide(Decimal(value.numerator), Decimal(value.denominator))
    return _decimal_text(number)


def format_bound(value: Fraction | Decimal | float, digits: int = 3) -> str:
    """An upper bound in few digits, rounded up: never a stronger promise than holds.

    >>> format_bound(3.41e-9, 1), format_bound(0.8808), format_bound(Fraction(1, 1000))
    ('4e-9', '0.881', '0.001')
    """
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal) and not value.is_finite():
        return f"{value}"
    context = Context(prec=digits, rounding=ROUND_CEILING)
    if isinstance(value, Decimal):
        return _decimal_text(context.plus(value))
    value = Fraction(value)
    return _decimal_text(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _decimal_text(number: Decimal) -> str:
    if number == 0 or -5 < number.adjusted() < 12:
        text = f"{number:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{number.normalize():e}"


def _as_typed(value: Fraction) -> str:
    """A number as Python reads it back, exactly."""
    text = format_number(value)
    return text if exact_fraction(text, "value") == value else f"'{value}'"


def positive_integer(value: object, name: str) -> int:
    """Check a count that must be at least one."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{name} must be a whole number of at least 1")
    return value


def check_session_gap(minutes: object) -> None:
    """Check how many minutes without a query end a session."""
    if positive_integer(minutes, "session_gap") > _YEAR:
        raise UsageError(f"session_gap must be at most a year, which is {_YEAR} minutes")


def unnamed_column(place: int) -> str:
    """The name of a column of a log without a header, by its place; it tells nothing of it."""
    return f"unnamed_column_{place}"


def is_unnamed(column: str | None) -> bool:
    """Whether a column has no other name than its place."""
    return _UNNAMED.fullmatch(column or "") is not None


def person_in_words(column: str | None, shown: str | None = None) -> str:
    """Who is one person, by the column that tells it.

    Args:
        column: Its name.
        shown: The name as it is to be shown, such as with marks around it.

    >>> person_in_words("SessionID")
    'One person is one value of the column SessionID.'
    >>> person_in_words("Member No.")
    'One person is one value of the column Member No.'
    >>> person_in_words(unnamed_column(1))
    'One person is one value of column 1 of the log, which has no header.'
    """
    if column is None:
        return "One person is one id of the log."
    if place := _UNNAMED.fullmatch(column):
        return f"One person is one value of column {place[1]} of the log, which has no header."
    name = shown or column
    return f"One person is one value of the column {name}{'' if name.endswith('.') else '.'}"


def moved_counts(items_per_user: int, neighbors: Neighbors) -> int:
    """M: how many counts one neighbouring step can move, each by one."""
    return items_per_user * (2 if neighbors == "replace" else 1)


class CannotGive(UsageError):
    """A mechanism cannot give the guarantee that was asked for; it can give the other one."""


@dataclass(frozen=True, init=False, repr=False)
class Guarantee:
    """What a release promises about each user.

    Attributes:
        epsilon: How far anybody's odds can move: by a factor of at most exp(epsilon).
        delta: The chance or mass that epsilon does not cover; each definition says which. With 0
            both definitions say the same: seeing the output never moves odds by more.
        users: A public upper bound on the number of users, declared and never counted; of
            users' days or of sessions where these are the unit.
        neighbors: Which two logs must be hard to tell apart.
        unit: Whose data is protected as a whole.
    """

    epsilon: Fraction
    delta: Fraction
    users: int | None
    neighbors: Neighbors
    unit: Unit

    definition: ClassVar[Definition]
    full_title: ClassVar[str]
    proof_page: ClassVar[str]
    needs_users: ClassVar[bool] = False
    composes: ClassVar[bool] = False
    """Whether the losses of several histograms may be less together than their sum."""
    delta_per_person: ClassVar[bool] = False
    """Whether delta bounds what happens to one person, so that many can be breached."""

    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        users: int | None = None,
        neighbors: Neighbors = "replace",
        unit: Unit = "user",
    ) -> None:
        if users is None and self.needs_users:
            raise UsageError(
                f"the {self.definition} guarantee needs users: a public upper bound on the number "
                "of people in the log, known without counting it (being generous is cheap)"
            )
        epsilon, delta = exact_fraction(epsilon, "epsilon"), exact_fraction(delta, "delta")
        if epsilon <= 0:
            raise UsageError("epsilon must be above 0: try a value between 0.1 and 10")
        if not 0 <= delta < 1:
            raise UsageError(
                "delta must be at least 0 and below 1: try 0.001 or 1e-6, or 0 over a public domain"
            )
        if users is not None:
            users = positive_integer(users, "users")
        if neighbors not in get_args(Neighbors):
            raise UsageError("neighbors must be 'replace' or 'add-remove'")
        if unit not in get_args(Unit):
            raise UsageError(f"unit must be one of {', '.join(get_args(Unit))}")
        for name, value in (
            ("epsilon", epsilon),
            ("delta", delta),
            ("users", users),
            ("neighbors", neighbors),
            ("unit", unit),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        said = [f"epsilon={_as_typed(self.epsilon)}", f"delta={_as_typed(self.delta)}"]
        usual = {"users": None, "neighbors": "replace", "unit": "user"}
        given = {name: getattr(self, name) for name in usual}
        said += [f"{name}={value!r}" for name, value in given.items() if value != usual[name]]
        return f"{type(self).__name__}({', '.join(said)})"

    @property
    def pure(self) -> bool:
        """Whether epsilon covers everything."""
        return self.delta == 0

    @property
    def title(self) -> str:
        """What recipients see it called."""
        return PURE if self.pure else self.full_title

    @property
    def theorem(self) -> str:
        """Where it is proved."""
        return "docs/proofs/domain.md" if self.pure else self.proof_page

    def share(self, part: Fraction, delta_part: Fraction | None = None) -> Self:
        """The part of this budget that one of several histograms may spend.

        Epsilons add and deltas add over the histograms of one log (docs/proofs/composition.md), so
        shares that sum to one compose to the whole. Those of delta may be others than those of
        epsilon.
        """
        of_delta = part if delta_part is None else delta_part
        return self.with_budget(
            type(self), epsilon=self.epsilon * part, delta=self.delta * of_delta
        )

    def with_budget(self, definition: type[G], *, epsilon: Fraction, delta: Fraction) -> G:
        """Other numbers, of this or another definition, for the same unit, neighbours and users."""
        return definition(
            epsilon=epsilon,
            delta=delta,
            users=self.users,
            neighbors=self.neighbors,
            unit=self.unit,
        )

    def units(self) -> str:
        """What is counted, in the plural."""
        return UNIT_PLURALS[self.unit]

    def moved_counts(self, items_per_user: int) -> int:
        """How many counts one neighbouring step can move, each by one."""
        return moved_counts(items_per_user, self.neighbors)

    def assumptions(self, person: str | None = None) -> list[str]:
        """What must be true outside the program for the claim to hold.

        Args:
            person: The column that tells whose an entry is, where it is known.
        """
        neighbors, unit = _NEIGHBORS_IN_WORDS[self.neighbors], PRIVACY_UNITS[self.unit]
        return [
            f"Neighbours are {neighbors.format(whole=unit.whole, one=unit.one)}.",
            f"{person_in_words(person)} {ONE_EACH}",
            *([unit.assumed] if unit.assumed else []),
            ONLY_THIS,
        ]


class ProbabilisticDP(Guarantee):
    """(epsilon, delta)-probabilistic differential privacy, the paper's own guarantee.

    Guarantee:
        Except for outputs of total probability at most delta, seeing the output moves the odds
        between any two neighbouring logs by a factor of at most exp(epsilon). The exceptional
        outputs are the same for all users, so delta bounds the chance that *anybody* is exposed.

    Attributes:
        epsilon: The odds change by a factor of at most exp(epsilon).
        delta: The chance that the promise fails for anybody at all.
        users: A public upper bound on the number of users, known without counting the log; on
            their days, sessions or queries if these are the unit.
        neighbors: Which two logs must be hard to tell apart: `replace` (one person has another
            history) or `add-remove` (one person is missing).
        unit: What is protected as a whole: `user`, `user-day`, `session`, `query` or `keyword`.
    """

    users: int
    definition = "probabilistic"
    full_title = "(epsilon, delta)-probabilistic differential privacy"
    proof_page = "docs/proofs/probabilistic.md"
    needs_users = True

    def assumptions(self, person: str | None = None) -> list[str]:
        """What must be true outside the program for the claim to hold."""
        if self.pure:  # for any number of users, and for every key, known or not
            return super().assumptions(person)
        return [
            f"The log holds at most {self.users:,} {self.units()}, a bound known without counting "
            "it.",
            "The key that selects each user's items is published with the release.",
            *super().assumptions(person),
        ]


class Indistinguishability(Guarantee):
    """(epsilon', delta')-indistinguishability, elsewhere called approximate differential privacy.

    Guarantee:
        For neighbouring logs S and S' and every set O of outputs,
        P(A(S) in O) <= exp(epsilon') P(A(S') in O) + delta'. delta' is per person: with many users
        some may be exposed unless delta' is well below one over their number.

    Attributes:
        epsilon: The factor is at most exp(epsilon).
        delta: The chance per person that the promise fails; at most 1/(10 x users), unless
            `accept_delta` of `plan` confirms more.
        users: As for `ProbabilisticDP`, but optional.
        neighbors: As for `ProbabilisticDP`.
        unit: As for `ProbabilisticDP`.
    """

    definition = "indistinguishable"
    full_title = "(epsilon', delta')-indistinguishability"
    proof_page = "docs/proofs/indistinguishable.md"
    composes = True
    delta_per_person = True


DEFINITIONS: dict[str, type[Guarantee]] = {
    each.definition: each for each in (ProbabilisticDP, Indistinguishability)
}
