"""Neighbouring logs that were chosen to betray somebody, and the plans that must prevent it.

A log is written as its lines, `user,query`, with a time where the unit needs one. Each is a tiny
world of its own: `@` stands for the number of the copy, so that thousands of copies fit into one
log without touching each other, and what is published of each copy is one independent run. An item
is `q`, two digits, `@`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zealous.bound import Select
from zealous.guarantee import Guarantee, Indistinguishability, ProbabilisticDP
from zealous.items import queries
from zealous.plan import Plan, plan

Lines = tuple[str, ...]
VICTIM = "v@"


class Pair(NamedTuple):
    """Two neighbouring logs, and what of their output is looked at.

    Attributes:
        name: What the pair is about.
        left: The lines of one log.
        right: The lines of its neighbour; None where what is looked at could not appear there.
        watch: Groups of items. A single item is looked at with its noisy count, of a larger group
            it is counted how many appear.
        same: Whether both logs give everybody the same items, so that nothing at all may differ.
        pure: Whether no item stands at exactly tau, so that no delta is needed.
    """

    name: str
    left: Lines
    right: Lines | None
    watch: tuple[tuple[int, ...], ...]
    same: bool = False
    pure: bool = False


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A plan, and the pairs of logs that are published under it together."""

    name: str
    planned: Plan
    select: Select
    pairs: tuple[Pair, ...]

    @property
    def header(self) -> str:
        """The columns of its logs."""
        return "user,query" if self.planned.goal.unit == "user" else "user,query,time"


class Shape(NamedTuple):
    """What the pairs are built around: the numbers of a plan."""

    m: int
    tau: int
    tau_prime: int
    users: int


Builder = Callable[[Shape], Pair]


def settings() -> list[Setting]:
    """Everything that is tried: small m and small noise, where a fault shows soonest."""
    return [
        _setting(
            "indistinguishable, m = 1",
            Indistinguishability(epsilon=3, delta="0.05"),
            1,
            "random",
            [_arrives, _replaced, _unique, _alone, _repeats, _ids, _quotes, _permuted, _many,
             _swayed],
        ),
        _setting(
            "indistinguishable, m = 1, user-day",
            Indistinguishability(epsilon=3, delta="0.05", unit="user-day"),
            1,
            "random",
            [_replaced, _many],
        ),
        _setting(
            "indistinguishable, m = 2",
            Indistinguishability(epsilon=4, delta="0.2"),
            2,
            "random",
            [_replaced, _unique, _alone, _spellings, _many],
        ),
        _setting(
            "indistinguishable, m = 2, add-remove",
            Indistinguishability(epsilon=2, delta="0.2", neighbors="add-remove"),
            2,
            "random",
            [_arrives, _joins],
        ),
        _setting(
            "probabilistic, m = 1",
            ProbabilisticDP(epsilon=1, delta="0.3", users=14),
            1,
            "random",
            [_replaced, _reaches_tau, _crowd, _below_tau],
        ),
        _setting(
            "probabilistic, m = 2",
            ProbabilisticDP(epsilon=2, delta="0.4", users=15),
            2,
            "random",
            [_replaced, _reaches_tau, _crowd],
        ),
        _setting(
            "probabilistic, m = 1, add-remove",
            ProbabilisticDP(epsilon="0.5", delta="0.3", users=8, neighbors="add-remove"),
            1,
            "frequent",
            [_rare_beside_frequent, _joins, _crowd],
        ),
    ]  # fmt: skip


def _setting(
    name: str, goal: Guarantee, m: int, select: Select, builders: Sequence[Builder]
) -> Setting:
    planned = plan(goal, [queries(m)])
    mechanism = planned.parts[0].mechanism
    shape = Shape(m, mechanism.tau, mechanism.tau_prime or 0, goal.users or 0)
    pairs = tuple(build(shape) for build in builders)
    if goal.unit == "user-day":
        pairs = tuple(_dated(pair) for pair in pairs)
    return Setting(name=name, planned=planned, select=select, pairs=pairs)


def _dated(pair: Pair) -> Pair:
    """The same on one day, minute by minute; what the victim does on another day stays."""

    def day(lines: Lines) -> Lines:
        minutes = (f"{i // 60:02d}:{i % 60:02d}" for i in range(len(lines)))
        dated = (f"{line},2026-03-01 {at}" for line, at in zip(lines, minutes, strict=True))
        return (f"{VICTIM},{_item(99)},2026-03-02 00:00", *dated)

    right = None if pair.right is None else day(pair.right)
    return pair._replace(left=day(pair.left), right=right)


def _item(number: int) -> str:
    return f"q{number:02d}@"


def _holds(items: Sequence[int], user: str = VICTIM, rows: int = 1) -> Lines:
    return tuple(f"{user},{_item(item)}" for item in items for _ in range(rows))


def _others(items: Sequence[int], number: int) -> Lines:
    """So many people who hold these items, and nothing else."""
    return tuple(
        line for i in range(number) for line in _holds(items, f"o{items[0]:02d}-{i:02d}-@")
    )


def _each(items: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    return tuple((item,) for item in items)


def _split(m: int) -> tuple[range, range]:
    return range(m), range(m, 2 * m)


def _arrives(shape: Shape) -> Pair:
    one, _ = _split(shape.m)
    return Pair("empty log against one user", (), _holds(one), _each(one))


def _unique(shape: Shape) -> Pair:
    one, other = _split(shape.m)
    return Pair("m unique items for m others", _holds(one), _holds(other), _each([*one, *other]))


def _replaced(shape: Shape) -> Pair:
    """At tau' the noise alone decides who appears: every coordinate tells all that it can."""
    one, other = _split(shape.m)
    rest = _others(one, shape.tau_prime) + _others(other, shape.tau_prime)
    return Pair(
        "m popular items for m others",
        rest + _holds(one),
        rest + _holds(other),
        _each([*one, *other]),
        pure=True,
    )


def _joins(shape: Shape) -> Pair:
    one, _ = _split(shape.m)
    rest = _others(one, shape.tau_prime)
    return Pair("m popular items more", rest, rest + _holds(one), _each(one), pure=True)


def _reaches_tau(shape: Shape) -> Pair:
    one, other = _split(shape.m)
    rest = _others(one, shape.tau - 1) + _others(other, shape.tau - 1)
    return Pair(
        "counts tau - 1 against tau",
        rest + _holds(one),
        rest + _holds(other),
        _each([*one, *other]),
    )


def _repeats(shape: Shape) -> Pair:
    rest = _others([0], shape.tau_prime - 1)
    return Pair("half the rows", rest + _holds([0], rows=4), rest + _holds([0], rows=2), ((0,),),
                same=True)  # fmt: skip


def _ids(shape: Shape) -> Pair:
    """One id written in four ways is one user, and lines without an id are nobody's."""
    rest = _others([0], shape.tau_prime - 1) + _others([1], shape.tau_prime)
    ways = ("v@,q00@", " v@,q00@", '"v@",q00@', 'v@ ,"q00@"')
    nobody = (",q01@", "  ,q01@", '"",q01@', "\u00a0,q01@")
    return Pair("missing, empty, duplicate ids", rest + ways + nobody, rest + ways[:1],
                _each([0, 1]), same=True)  # fmt: skip


def _quotes(shape: Shape) -> Pair:
    """Lines that cannot be understood, before, between and after those of others."""
    rest = _others([0], shape.tau_prime)
    broken = ('v@,"q01@', '"v@,q01@', "v@")
    left = broken[:1] + rest[:1] + broken[1:] + rest[1:]
    return Pair("lines with broken quotes", left, rest, _each([0, 1]), same=True)


def _permuted(shape: Shape) -> Pair:
    lines = tuple(line for i in range(shape.tau_prime + 1) for line in _holds([0, 1, 2], f"o{i}-@"))
    return Pair("permuted rows", lines, lines[::-1], _each([0, 1, 2]), same=True)


def _many(shape: Shape) -> Pair:
    items = range(10 * shape.m)
    return Pair("one user with 10 m items, alone", _holds(items), None, (tuple(items),))


def _alone(shape: Shape) -> Pair:
    """Without her none of her items could appear: each that does is a breach."""
    items = range(shape.m)
    return Pair("one user with m items, alone", _holds(items), None, (tuple(items),))


def _spellings(shape: Shape) -> Pair:
    """Two spellings of an item are one item: who holds both counts once."""
    ways = ("v@,q00@", "v@,Q00@", "v@,  q00@", "v@,q00@\u00a0", "v@,Q00@ ")
    return Pair("one item in five spellings, alone", ways, None, ((0,),))


def _rare_beside_frequent(shape: Shape) -> Pair:
    """Users who prefer a rare item keep it, whether or not others make it less rare."""
    undecided = tuple(
        line
        for i in range(shape.tau - 1)
        for line in (*_holds([0], f"w{i}-@", rows=2), *_holds([1], f"w{i}-@"))
    )
    rest = undecided + _others([1], shape.tau_prime - shape.tau + 3)
    return Pair("rare items beside frequent ones", rest, rest + _holds([0]), _each([0, 1]))


def _swayed(shape: Shape) -> Pair:
    """One user decides which of two items more people hold; nobody's choice may follow it."""
    undecided = tuple(line for i in range(6) for line in _holds([0, 1], f"w{i}-@"))
    rest = undecided + _others([0], shape.tau) + _others([1], shape.tau)
    left, right = rest + _holds([0]), rest + _holds([1])
    return Pair("one user tips which item is popular", left, right, _each([0, 1]), pure=True)


def _crowd(shape: Shape) -> Pair:
    """As many items at exactly tau as the users can hold: each that appears is a breach."""
    items = shape.users * shape.m // shape.tau
    slots = range(items * shape.tau)
    lines = tuple(f"o{slot % shape.users}-@,{_item(slot // shape.tau)}" for slot in slots)
    return Pair("every item at exactly tau", lines, None, (tuple(range(items)),))


def _below_tau(shape: Shape) -> Pair:
    """What has fewer than tau users never appears, not even rarely."""
    items = range(4)
    lines = tuple(line for item in items for line in _others([item], shape.tau - 1))
    return Pair("items below tau", lines, None, (tuple(items),), pure=True)
