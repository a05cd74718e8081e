"""What a mechanism is, and what it is given to count with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeVar

from zealous.engines.engine import Stored
from zealous.errors import UsageError
from zealous.items import Kind
from zealous.mechanisms.descriptions import Words
from zealous.noise import RandomBytes
from zealous.privacy.accounting.exact import Thresholded
from zealous.privacy.accounting.intervals import Interval
from zealous.privacy.guarantee import Guarantee
from zealous.registry import Registry

if TYPE_CHECKING:
    import pyarrow as pa

    from zealous.record.record import PartRecord


Order = Sequence["Stored | pa.Table"]
Needs = Literal["domain", "prior", "results"]


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
        weights: Sequence[int] | None = None,
        only: pa.Table | None = None,
        without: pa.Table | None = None,
        made_of: pa.Table | None = None,
        order: Order = (),
    ) -> Iterable[pa.RecordBatch]:
        """Count once.

        Args:
            bound: The most items that each user keeps.
            at_least: Items of a lower count are left out; with 0 even those are listed that
                somebody has and nobody kept.
            weights: What a kept item counts for, by how many its user keeps: weights[0] for one
                who keeps a single item. Each counts for 1 where not given.
            only: Items, public or already released: nobody has any other.
            without: Items, public or already released, that nobody has any longer.
            made_of: Keywords, public or already released: nobody has a query that is not one to
                three of them, with single spaces between.
            order: Tables of (item..., count), public, released, or stored with their noise: each
                user keeps those of her items that have the largest count in the first, then those
                that it does not list by the next, then by chance.
        """
        ...


class Mechanism(Protocol):
    """A way to publish counts, ZEALOUS or one's own.

    It may also have `goal`, a `Guarantee`: what it claims for the release of one histogram, which
    `audit.audit.audit_mechanism` tries to refute; and `independent = False`, where the items of a
    release share randomness, as with one random threshold for all.
    """

    @property
    def name(self) -> str:
        """What it is called in tables and reports."""
        ...

    @property
    def items_per_user(self) -> int:
        """m: the most items of one user that it lets count, and so the largest `bound`."""
        ...

    def release(self, count: Count, random_bytes: RandomBytes) -> Iterable[pa.RecordBatch]:
        """Publish: what is yielded, with all columns of what was counted, and nothing else.

        Args:
            count: Counts the log, as often as it is called; each count may see the same users.
            random_bytes: Where randomness comes from: the operating system, or in an experiment
                a source that repeats itself.
        """
        ...


class CalibratedMechanism(Mechanism, Protocol):
    """A mechanism of this package: its parameters follow from a guarantee, and give it back."""

    name: ClassVar[str]
    noise: ClassVar[str]
    theorem: ClassVar[str]
    pure: ClassVar[bool]
    """Whether it needs no delta."""
    needs: ClassVar[Needs | None]
    """The public file that it uses."""
    words: ClassVar[Words]
    """What a release says of the tables that it made."""
    follows: ClassVar[str | None]
    """The kind that must have been published before, of the same log."""
    family: ClassVar[str | None]
    """For items that are made of others: the mechanism that is usual for them."""

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on published counts: lambda, or a standard deviation."""
        ...

    @property
    def tau(self) -> int:
        """No item with fewer users is published."""
        ...

    @property
    def tau_prime(self) -> int | None:
        """No published count is at or below it; None where there is no such threshold."""
        ...

    @classmethod
    def calibrate(cls, goal: Guarantee, items_per_user: int) -> Self:
        """The parameters that publish the most under a guarantee.

        Raises:
            UsageError: This mechanism cannot give such a guarantee.
        """
        ...

    @classmethod
    def from_record(cls, part: PartRecord) -> Self:
        """Made anew from what release.json says of it.

        Raises:
            UsageError: It says what no such mechanism can have.
        """
        ...

    def delta(self, goal: Guarantee) -> Fraction:
        """The delta that is proven for these parameters at the goal's epsilon and neighbours.

        An upper bound, rounded up; 1 where nothing is proven.
        """
        ...

    def publication_probability(self, count: int) -> float:
        """The chance that an item of this many users (after bounding) is published."""
        ...

    def noise_quantile(self, confidence: float) -> int:
        """The noise on a count is at most this with such a probability."""
        ...

    def interval(
        self, confidence: float, *, lowest: int | None = None, candidates: int | None = None
    ) -> Interval:
        """Which numbers of users a published count can stand for, with such a probability.

        Args:
            confidence: The probability, given that the item is published.
            lowest: The smallest published count.
            candidates: At most so many items got noise. Both help where the threshold follows from
                what was published before, so that release.json does not tell it. Where neither is
                given the largest threshold that there can be is taken.
        """
        ...

    def expected_unique_items_per_user(self) -> float:
        """Of one user's items that nobody else has, at most so many are published on average."""
        ...

    def thresholds(self) -> str:
        """What an item must pass, in a few words."""
        ...

    def parameters(self) -> dict[str, Any]:
        """What release.json must say beside scale and thresholds for `from_record`."""
        ...

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """Why it publishes most of all that use the same public file; None where it does not."""
        ...

    @classmethod
    def check_kinds(cls, kind: Kind, before: Mapping[str, Kind]) -> None:
        """Refuse a kind of items that it does not serve, given those published before it.

        Raises:
            UsageError: It does not.
        """
        ...

    def check_roles(self, roles: Collection[str]) -> None:
        """Refuse a log by the columns that it has.

        Raises:
            UsageError: They void the guarantee.
        """
        ...

    def with_inputs(
        self, listed: Any = None, released: Mapping[str, pa.Table] | None = None
    ) -> Self:
        """The same with what it needs besides counts.

        Args:
            listed: The rows of its public file, or all items that there can be.
            released: What was published before, by name of kind.
        """
        ...

    def proof(self, goal: Guarantee) -> str:
        """Where it is proved that it gives such a guarantee."""
        ...

    def other_guarantee(self, goal: Guarantee) -> Guarantee | None:
        """What these parameters promise under the other definition, where anything is proven."""
        ...

    def other_losses(self) -> Thresholded | None:
        """What other losses follow from: at any epsilon, and of people with several accounts.

        None where the theorems speak of the loss alone that was planned.
        """
        ...

    def delta_if_replaced(self, goal: Guarantee) -> Fraction:
        """The delta at twice the epsilon of an add-remove goal, where a history is replaced."""
        ...

    def expected_unique_items(self, users: int) -> float:
        """Of items that one user alone has, at most so many are published on average."""
        ...

    def check_rows(self, rows: pa.Table, first: pa.Table | None, *, whole: bool) -> None:
        """Refuse rows that it could not have published from what was published before.

        Args:
            rows: The items as they are counted, with their published counts.
            first: The published table that it follows; None for a mechanism that follows none.
            whole: Whether no row was taken out since.

        Raises:
            ReleaseError: It could not. The message quotes no row.
        """
        ...


class MechanismDefaults:
    """What a mechanism says of itself where it has nothing special to say."""

    name: ClassVar[str]
    theorem: ClassVar[str]
    follows: ClassVar[str | None] = None
    family: ClassVar[str | None] = None

    @classmethod
    def best_for(cls, goal: Guarantee, items_per_user: int) -> str | None:
        """It is used where it is asked for."""
        del goal, items_per_user
        return None

    @classmethod
    def check_kinds(cls, kind: Kind, before: Mapping[str, Kind]) -> None:
        """It serves all kinds of items."""

    def check_roles(self, roles: Collection[str]) -> None:
        """It takes whatever log there is."""

    def with_inputs(
        self, listed: Any = None, released: Mapping[str, pa.Table] | None = None
    ) -> Self:
        """It needs none."""
        del released
        if listed is not None:
            raise UsageError(f"the {self.name} mechanism uses no public file")
        return self

    def proof(self, goal: Guarantee) -> str:
        """One proof for every guarantee that it gives."""
        del goal
        return self.theorem

    def other_guarantee(self, goal: Guarantee) -> Guarantee | None:
        """It gives the one that it was calibrated for."""
        del goal
        return None

    def other_losses(self) -> Thresholded | None:
        """None is proven."""
        return None

    def delta_if_replaced(self: CalibratedMechanism, goal: Guarantee) -> Fraction:
        """Looked at: where delta is large, two moved counts can tell more than twice one."""
        return self.delta(replace(goal, neighbors="replace", epsilon=2 * goal.epsilon))

    def expected_unique_items(self: CalibratedMechanism, users: int) -> float:
        """Those of each user, added up."""
        return users * self.expected_unique_items_per_user()


MECHANISMS: Registry[type[CalibratedMechanism]] = Registry(
    "zealous.mechanisms",
    lambda mechanism: mechanism.name,
    first=(
        *("zealous", "laplace", "gaussian", "selection", "set-union", "sips", "rounds", "prior"),
        *("domain", "results", "of-keywords", "of-smaller", "of-smaller-gaussian", "listed"),
    ),
)
C = TypeVar("C", bound=CalibratedMechanism)


def register(mechanism: type[C]) -> type[C]:
    """Make a mechanism known by its name: to plans, releases, the command line; a decorator."""
    MECHANISMS.register(mechanism)
    return mechanism


def check_only_bound_and_threshold(asked: Mapping[str, Any]) -> None:
    """Refuse what cannot be asked for where counts were made before.

    Raises:
        UsageError: More than a bound and a threshold is asked for.
    """
    if any(value is not None for value in asked.values()):
        raise UsageError(
            "here counts were made before: a mechanism can say bound and at_least, and nothing else"
        )
