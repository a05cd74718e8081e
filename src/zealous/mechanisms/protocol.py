"""What a mechanism is, and what it is given to count with.

Guarantee:
    What a mechanism yields is all that is published of the log. It sees the log only through
    `Count`, `Kept` and (`selection-twice`) `Chosen`, and its own delta and loss are upper bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

from zealous.counting.restriction import InTable, Restriction
from zealous.engines.engine import Each
from zealous.errors import UsageError
from zealous.items import Kind
from zealous.items.kind import missing_kind_message
from zealous.mechanisms.descriptions import Description
from zealous.mechanisms.public_files import PublicInput
from zealous.noise import RandomBytes
from zealous.privacy.accounting.exact import ThresholdParameters
from zealous.privacy.accounting.intervals import Interval
from zealous.privacy.composition import Loss
from zealous.privacy.guarantee import Guarantee, Neighbors
from zealous.registry import Registry

if TYPE_CHECKING:
    import pyarrow as pa

    from zealous.record.record import PartRecord


class Count(Protocol):
    """Runs bounding and counting on the engine.

    Yields (item..., count) batches: for each item the number of users who kept it when each keeps
    at most `bound` items, where that is at least `at_least`.
    """

    def __call__(
        self,
        *,
        bound: int,
        at_least: int,
        only: Sequence[Restriction] = (),
    ) -> Iterable[pa.RecordBatch]:
        """Count once.

        Args:
            bound: The most items that each user keeps.
            at_least: Items of a lower count are left out.
            only: What each user's items must meet to count, such as `InTable` of public or
                published items: all others are left out before bounding.
        """


class Kept(Protocol):
    """Which items each user keeps: a set that is the same in all rounds.

    Items are numbers here; `counting.kept.KeptTables` says what is guaranteed.
    """

    def weigh(self, length: int, draw: Each) -> Iterable[pa.RecordBatch]:
        """One round: each user spreads a weight over what she keeps, and `draw` adds noise, once.

        Args:
            length: The most that the vector of one user's weights is long.
            draw: Is given rows of (item, listed, evidence, strength, weight). It replaces the
                weight, which is true, by a noisy one, and gives evidence and strength anew: what
                users give in proportion to in the next round. An item of strength 0 is a key.

        Returns:
            The new keys: rows of (item...), as they are counted.
        """


@runtime_checkable
class CountsKept(Protocol):
    """A count that can also say who keeps what, which one made before cannot."""

    def kept_items(
        self, bound: int, listed: pa.Table | None = None
    ) -> AbstractContextManager[Kept]:
        """Which items each user keeps when each keeps at most `bound`, until the block is left.

        Args:
            bound: The most that each user keeps, D.
            listed: A public list of items, each once, that are weighed also where nobody keeps
                them.
        """


class Mechanism(Protocol):
    """A way to publish counts: ZEALOUS, or a custom one.

    It may also have `goal`, a `Guarantee`: what it claims for the release of one histogram, which
    `audit.audit.audit_mechanism` tries to refute; and `independent = False`, where the items of a
    release share randomness, as with one random threshold for all.
    """

    @property
    def name(self) -> str:
        """What it is called in tables and reports."""

    @property
    def items_per_user(self) -> int:
        """m: the most items of one user that count, and so the largest `bound` of a `Count`."""

    def release(self, count: Count, random_bytes: RandomBytes) -> Iterable[pa.RecordBatch]:
        """Publish: what is yielded, with all columns of what was counted, and nothing else.

        Args:
            count: Counts the log each time it is called; each count may see the same users.
            random_bytes: Where randomness comes from: the operating system, or in an experiment
                a source that repeats itself.
        """


class CalibratedMechanism(Mechanism, Protocol):
    """A mechanism that plans and releases can use: it describes itself completely.

    Nobody asks which one it is. To write one begin with a class that is near (`ThresholdsByLaw`,
    `KnownListMechanism`), or with `MechanismDefaults`, which has all that most leave as it is. Then
    `release`, `calibrate`, `delta` and `loss` are what a proof is about.
    """

    name: ClassVar[str]

    # What it promises, and where that is proved

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> Self:
        """The parameters that publish the most under a guarantee.

        Raises:
            UsageError: This mechanism cannot give such a guarantee.
        """

    def delta(self, goal: Guarantee) -> Fraction:
        """The delta that is proven for these parameters at the goal's epsilon and neighbours.

        An upper bound, rounded up; 1 where nothing is proven.
        """

    def loss(self, neighbors: Neighbors) -> Loss:
        """What it reveals of one person given anything published before: what releases compose.

        It says `items` only where, by itself, it lets no output decide which of one person's items
        can be exposed. Whether those of its kind are steered, `planning.together.losses` knows.
        """

    pure: ClassVar[bool]
    """Whether it needs no delta."""

    def theorem(self, goal: Guarantee) -> str:
        """Where it is proved that it gives such a guarantee."""

    def other_guarantee(self, goal: Guarantee) -> Guarantee | None:
        """What these parameters promise under the other definition, where anything is proven."""

    def delta_if_replaced(self, goal: Guarantee) -> Fraction:
        """The delta at twice the epsilon of an add-remove goal, where a history is replaced."""

    def exact_parameters(self) -> ThresholdParameters | None:
        """Its parameters, where the noise is discrete Laplace between two thresholds; else None.

        More is proven of such: at any epsilon, and for people with several accounts.
        """

    # What it needs besides counts, and which kinds and logs it serves

    public_input: ClassVar[PublicInput | None]
    """The public file that it needs, which makes an option and an argument of that name."""

    @classmethod
    def required_kind(cls, kind: Kind) -> str | None:
        """The name of the kind whose table it needs, published before one of this kind."""

    def with_inputs(self, item_list: Any = None, first: pa.Table | None = None) -> Self:
        """The same with what it needs besides counts, which may change its parameters.

        Args:
            item_list: The rows of its public file, or all possible items.
            first: The published table of its `required_kind`.
        """

    family: ClassVar[str | None]
    """It serves only kinds whose default mechanism is this one; None: all other kinds."""

    @classmethod
    def check_kinds(cls, kind: Kind, before: Mapping[str, Kind]) -> None:
        """Refuse a kind of items that it does not serve, given those published before it.

        Raises:
            UsageError: It does not serve it, or the required kind is not among them.
        """

    def check_roles(self, roles: Collection[str]) -> None:
        """Refuse a log by the columns that it has.

        Raises:
            UsageError: They void the guarantee.
        """

    def deciding_items_per_user(self) -> int | None:
        """How many items of one user have a part in what is published, at most.

        They follow from her own history and what is public. None where an item that nobody has may
        be published, or where nothing is proven.
        """

    # What a table that follows this one must know of it

    def decides_who_kept_what(self) -> bool:
        """Whether what it published decides which items each user kept.

        A table that is counted for those users alone who kept an item of this one, such as click
        rates, is then steered by an output, and composes with less in common.
        """

    chooses_by_noise: ClassVar[bool]
    """Whether noise decides for which of her items a user counts, and nothing published tells.

    Then its counts cannot be set beside others: those of another release, or of what the same users
    clicked.
    """

    def restrictions(self, published: pa.Table) -> Sequence[Restriction]:
        """What items had to meet to count; nothing where users kept some of all that they had.

        Args:
            published: What it published, with its inputs.
        """

    # What release.json says of it, and how that is checked

    @property
    def noise_law(self) -> str:
        """What release.json calls the law of its noise."""

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on published counts: lambda, or a standard deviation."""

    @property
    def tau(self) -> int:
        """No item with fewer users is published, unless a public list has it."""

    @property
    def tau_prime(self) -> int | None:
        """No published count is at or below it; None where there is no such threshold."""

    def parameters(self) -> dict[str, Any]:
        """What release.json must say beside scale and thresholds for `from_record`.

        Under `parameters`: texts, whole numbers, and lists of objects of these, by name. `longer`
        has a key of its own, since 0.1.0 wrote it so.
        """

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        """Made anew from what release.json says of it.

        Raises:
            UsageError: It says what no such mechanism can have.
        """

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """Refuse rows that it could not have published from what was published before.

        Args:
            rows: The items as they are counted, with their published counts.
            first: The published table that it follows; None for a mechanism that follows none.
            whole: Whether no row was taken out since.

        Raises:
            ReleaseError: It could not. The message quotes no row.
        """

    def check_derived(self, first: pa.Table | None) -> None:
        """Refuse parameters that this version would not derive from the table that it follows.

        Asked only of what this version planned: another may derive others, whose delta is checked
        all the same.

        Raises:
            ReleaseError: They are others.
        """

    # What to expect, and in which words

    def publication_probability(self, count: int) -> float:
        """The chance that an item of this many users (after bounding) is published."""

    def noise_quantile(self, confidence: float) -> int:
        """The noise on a count is at most this with such a probability."""

    def interval(
        self, confidence: float, *, lowest: int | None = None, candidates: int | None = None
    ) -> Interval:
        """Which numbers of users a published count can stand for, with such a probability.

        Args:
            confidence: The probability, given that the item is published.
            lowest: The smallest published count.
            candidates: The most items that got noise. Both help where the threshold follows from
                what was published before, so that release.json does not tell it. Where neither is
                given the largest possible threshold is taken.
        """

    def expected_unique_items(self, users: int) -> float:
        """At most how many items that one of these users alone has are published on average."""

    def threshold_text(self) -> str:
        """What an item must pass, in a few words."""

    description: ClassVar[Description]
    """What a release says of the tables that it made."""

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """Why it publishes most of all that use the same public file; None where it does not."""


class MechanismDefaults:
    """What a mechanism says of itself where it has nothing special to say."""

    name: ClassVar[str]
    proof_page: ClassVar[str]
    """Where it is proved that it gives what it was calibrated for; see `theorem`."""

    pure: ClassVar[bool] = False

    def theorem(self, goal: Guarantee) -> str:
        """One proof for every guarantee that it gives."""
        return self.proof_page

    def other_guarantee(self, goal: Guarantee) -> Guarantee | None:
        """It gives the one that it was calibrated for."""
        return None

    def delta_if_replaced(self: CalibratedMechanism, goal: Guarantee) -> Fraction:
        """The delta at twice the epsilon where a user is replaced: two sets of counts move."""
        return self.delta(replace(goal, neighbors="replace", epsilon=2 * goal.epsilon))

    def exact_parameters(self) -> ThresholdParameters | None:
        """It is no Laplace noise between two thresholds."""
        return None

    public_input: ClassVar[PublicInput | None] = None

    @classmethod
    def required_kind(cls, kind: Kind) -> str | None:
        """It needs no other table."""
        return None

    def with_inputs(self, item_list: Any = None, first: pa.Table | None = None) -> Self:
        """It needs nothing besides counts, and refuses a public file."""
        if item_list is not None:
            raise UsageError(f"the {self.name} mechanism uses no public file")
        return self

    family: ClassVar[str | None] = None

    @classmethod
    def check_kinds(cls, kind: Kind, before: Mapping[str, Kind]) -> None:
        """It serves all kinds of items, once the one that it requires is published."""
        required = cls.required_kind(kind)
        if required == kind.name():
            raise UsageError(
                f"the {cls.name} mechanism starts from published {required} and cannot publish "
                f"them: say for which kinds it is, such as --mechanism queries={cls.name}"
            )
        if required is not None and required not in before:
            raise UsageError(missing_kind_message(kind.name(), required))

    def check_roles(self, roles: Collection[str]) -> None:
        """It takes any log."""

    def deciding_items_per_user(self) -> int | None:
        """Nothing is known of it."""
        return None

    chooses_by_noise: ClassVar[bool] = False

    def decides_who_kept_what(self: CalibratedMechanism) -> bool:
        """True without a second threshold: then users kept items of a list that was found first."""
        return self.tau_prime is None

    def restrictions(self: CalibratedMechanism, published: pa.Table) -> Sequence[Restriction]:
        """Without a second threshold it was the published items alone."""
        return [InTable(published)] if self.tau_prime is None else []

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """Whatever people have can be published: there is no list to compare with."""

    def check_derived(self, first: pa.Table | None) -> None:
        """No parameter of it follows from a table."""

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """It is used where it is asked for."""
        return None


MECHANISMS: Registry[type[CalibratedMechanism]] = Registry(
    "zealous.mechanisms",
    lambda mechanism: mechanism.name,
    first=(
        *("zealous", "laplace", "gaussian", "after-look", "selection", "selection-twice"),
        *(
            "pooled",
            "prior",
            "domain",
            "results",
            "of-keywords",
            "of-smaller",
            "of-smaller-gaussian",
            "listed",
        ),
    ),
)
C = TypeVar("C", bound=CalibratedMechanism)


def register(mechanism: type[C]) -> type[C]:
    """Make a mechanism known by its name: to plans, releases, the command line; a decorator."""
    MECHANISMS.register(mechanism)
    return mechanism


def public_inputs() -> dict[str, PublicInput]:
    """The public files that mechanisms need, by name."""
    found = (each.public_input for each in MECHANISMS.values())
    by_name = {each.name: each for each in found if each is not None}
    return dict(sorted(by_name.items()))


def public_input_name(mechanism: CalibratedMechanism | type[CalibratedMechanism]) -> str | None:
    """What the public file of a mechanism is for, where it needs one."""
    return None if mechanism.public_input is None else mechanism.public_input.name


def check_only_bound_and_threshold(asked: Mapping[str, Any]) -> None:
    """Refuse what cannot be asked for where counts were made before.

    Raises:
        UsageError: More than a bound and a threshold is asked for.
    """
    if any(value is not None for value in asked.values()):
        raise UsageError(
            "here counts were made before: a mechanism can say bound and at_least, and nothing else"
        )
