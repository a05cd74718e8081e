"""Association rules between things that were published together, from the release alone.

A family is all sizes of one kind: `itemsets-1:product`, `itemsets-2:product` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from zealous.libraries import np, pa
from zealous.mechanisms.protocol import CalibratedMechanism
from zealous.mechanisms.retired import recorded_class
from zealous.planning.from_record import kind_from_record
from zealous.privacy.guarantee import UNIT_PLURALS
from zealous.record.record import Record
from zealous.release.columns import Column
from zealous.release.derived.derived import Derived
from zealous.release.text.markdown import code

if TYPE_CHECKING:
    import numpy.typing as npt

Numbers: TypeAlias = "npt.NDArray[np.float64]"

_MISSED = 0.05  # shared out over the counts of a measure: all intervals hold but for this
_ENDS = {"": 0, "_low": -1, "_high": 1}
_FIGURES = tuple(f"{each}{end}" for each in ("support", "confidence", "lift") for end in _ENDS)
_DIGITS = 6


@dataclass(frozen=True, eq=False)
class _Count:
    """Noisy counts, one for each rule, and what drew their noise.

    Attributes:
        noisy: The counts.
        drawn: What drew their noise.
        passed: There are rules only where these counts were above this, or above something less;
            None where there are rules whatever these counts are.
    """

    noisy: Numbers
    drawn: CalibratedMechanism
    passed: int | None
    known: dict[int, tuple[Numbers, Numbers]] = field(default_factory=dict)

    def bound(self, sign: int, of: int) -> Numbers:
        """As they are (0), or the fewest (-1) or most (1) that one of so many can stand for."""
        if sign == 0 or not len(self.noisy):
            return np.maximum(self.noisy, 0)
        return self._bounds(of)[0 if sign < 0 else 1]

    def _bounds(self, of: int) -> tuple[Numbers, Numbers]:
        if of not in self.known:
            lowest = int(self.noisy.min())
            interval = self.drawn.interval(1 - _MISSED / of, lowest=lowest)
            if self.passed is not None:
                interval = interval.conditioned_on_above(min(self.passed, lowest - 1))
            self.known[of] = interval.endpoints(self.noisy)
        return self.known[of]


class Family(NamedTuple):
    """All sizes of one kind.

    Attributes:
        name: What it is called.
        kinds: The kinds by size, from single things on.
        ordered: Whether rules lead to the last thing alone.
        everyone: The kind that tells how many people there are.
    """

    name: str
    kinds: tuple[str, ...]
    ordered: bool
    everyone: str


def rule_families(record: Record) -> dict[str, Family]:
    """The families that have rules, by name.

    Those of a release that tells the number of people, with sizes 1, 2 and so on.
    """
    kinds = {
        part.kind: kind_from_record(part, record.files[part.kind].columns).combination()
        for part in record.plan
    }
    found: dict[str, Family] = {}
    sized = ((made.size, kind, made) for kind, made in kinds.items() if made is not None)
    for size, kind, made in sorted(sized, key=itemgetter(0)):
        known = found.setdefault(made.family, Family(made.family, (), made.ordered, made.everyone))
        if size == len(known.kinds) + 1 and made.everyone in kinds:
            found[made.family] = known._replace(kinds=(*known.kinds, kind))
    return {name: family for name, family in found.items() if len(family.kinds) > 1}


def association_files(record: Record) -> dict[str, str]:
    """The file of each family: `associations.csv`, or where there are several one by its name."""
    families = rule_families(record)
    if len(families) == 1:
        return dict.fromkeys(families, "associations.csv")
    singles = {name: record.files[family.kinds[0]].csv for name, family in families.items()}
    return {name: f"associations-{csv.replace('-1-', '-', 1)}" for name, csv in singles.items()}


def derive(record: Record) -> list[Derived]:
    """The rules of each family."""
    families = rule_families(record)
    return [
        Derived(
            file=file,
            make=partial(associations, record, family=name),
            readme=_readme(families[name], file, UNIT_PLURALS[record.guarantee.unit]),
            columns=_columns(families[name], UNIT_PLURALS[record.guarantee.unit]),
        )
        for name, file in association_files(record).items()
    ]


def associations(record: Record, tables: Mapping[str, pa.Table], family: str) -> pa.Table:
    """Rows of (if_1, ..., then, count_if, count_then, count_both, each measure, its low and high).

    Of a set of two or more each member is `then` once, and the others are `if`; of a sequence
    `then` is the last. `if_2` and so on are empty where a rule has fewer. Rules come by `lift_low`
    from the top, then by `confidence_low`, then by text. A rule is left out where a review took
    one of its counts away.

        support     count_both / people
        confidence  count_both / count_if
        lift        (count_both / count_if) / (count_then / people)

    Nobody has all without its parts: shares are cut at 1, and lift at people over the larger of
    count_if and count_then. A count below 0 is 0, and what is divided by 0 is null. `low` and
    `high` are the least and the most that a measure can be if each count lies in its `Interval`,
    rounded outwards; `lift_high` is null where that has no bound.

    They hold for 95 of 100 rules of the table, since all counts of a measure lie in their intervals
    at once in 95 of 100 cases, whatever they share. That a rule is there because its counts were
    high is taken into account: close to the smallest counts intervals are wide. They cover the
    noise and nothing else. People with more than they may keep gave up what has the smallest
    published counts, so support is a low estimate, and confidence and lift may be off either way;
    of sequences of three and more also which rules are there depends on that. And the strongest of
    many rules are the lucky ones too.
    """
    known = rule_families(record)[family]
    most, thresholds = len(known.kinds), _thresholds(record, tables, known)
    texts = [*(f"if_{n}" for n in range(1, most)), "then"]
    found = []
    for size in range(2, most + 1):
        rules = _rules(tables, known, size)
        figures = _measures(record, known, size, rules, thresholds)
        empty = pa.array([""] * rules.num_rows, pa.string())
        given = [rules[f"if_{n}"] if n < size else empty for n in range(1, most)]
        counts = {name: rules[name] for name in ("count_if", "count_then", "count_both")}
        columns = [*given, rules["then"], *counts.values(), *figures.values()]
        found.append(pa.table(columns, names=[*texts, *counts, *figures]))
    strongest = [("lift_low", "descending"), ("confidence_low", "descending")]
    order = [*strongest, *((name, "ascending") for name in texts)]
    return pa.concat_tables(found).sort_by(order).combine_chunks()


def rule_text(rule: Mapping[str, Any], *, ordered: bool) -> str:
    """A rule in one line.

    >>> rule = {"if_1": "bread", "if_2": "butter", "if_3": "", "then": "jam"}
    >>> rule_text(rule, ordered=False), rule_text(rule, ordered=True)
    ('bread + butter → jam', 'bread → butter → jam')
    """
    given = [rule[name] for name in rule if name.startswith("if_") and rule[name]]
    between = " → " if ordered else " + "
    return f"{between.join(given)} → {rule['then']}"


def _rules(tables: Mapping[str, pa.Table], family: Family, size: int) -> pa.Table:
    """Rows of (if_1, ..., then, count_both, count_if, count_then, people) of sets of one size."""
    members = [f"item_{n}" for n in range(1, size + 1)]
    given = [f"if_{n}" for n in range(1, size)]

    def select_renamed(of: int, names: Sequence[str], to: Sequence[str]) -> pa.Table:
        return tables[family.kinds[of - 1]].select([*names, "count"]).rename_columns(to)

    rules = pa.concat_tables(
        select_renamed(
            size,
            [*(each for each in members if each != then), then],
            [*given, "then", "count_both"],
        )
        for then in (members[-1:] if family.ordered else members)
    )
    rules = rules.join(
        select_renamed(size - 1, members[:-1], [*given, "count_if"]), given, join_type="inner"
    )
    rules = rules.join(
        select_renamed(1, members[:1], ["then", "count_then"]), "then", join_type="inner"
    )
    everyone = tables[family.everyone]["count"].to_pylist()[:1]
    if not everyone:
        rules = rules.slice(0, 0)
    return rules.append_column("people", pa.array(everyone * rules.num_rows, pa.int64()))


def _thresholds(
    record: Record, tables: Mapping[str, pa.Table], family: Family
) -> dict[int, int | None]:
    """What the counts of sets of each size had to pass, at most, and those of their parts too.

    It follows from how many candidates there were: no more than published ones of one thing less
    times things. A review may have taken some of these away since.
    """
    published = {}
    for size, kind in enumerate(family.kinds, 1):
        published[size] = tables[kind].num_rows
        published[size] += sum(each.removed[kind] for each in record.reviews())
    found: dict[int, int | None] = {}
    for size, kind in enumerate(family.kinds[1:], 2):
        drawn = _mechanism_of(record, kind)
        candidates = published[size - 1] * published[1]
        found[size] = drawn.interval(1 - _MISSED, candidates=candidates).threshold
    return found


def _largest_threshold(thresholds: Mapping[int, int | None], *sizes: int) -> int | None:
    """The largest threshold of some sizes; there is none for single things."""
    known = [thresholds.get(size) for size in sizes]
    return max((each for each in known if each is not None), default=None)


def _mechanism_of(record: Record, kind: str) -> CalibratedMechanism:
    """What drew the noise of a table."""
    (part,) = (part for part in record.plan if part.kind == kind)
    return recorded_class(part).from_record(part)


def _measures(
    record: Record,
    family: Family,
    size: int,
    rules: pa.Table,
    thresholds: Mapping[int, int | None],
) -> dict[str, pa.Array]:
    """The measures of rules, each with its low and its high."""

    def count(column: str, kind: str, passed: int | None) -> _Count:
        return _Count(rules[column].to_numpy().astype(float), _mechanism_of(record, kind), passed)

    people = count("people", family.everyone, None)
    both = count("count_both", family.kinds[size - 1], thresholds[size])
    # What is made of them is looked at only where their own counts are above its threshold.
    given = count(
        "count_if", family.kinds[size - 2], _largest_threshold(thresholds, size - 1, size)
    )
    then = count("count_then", family.kinds[0], thresholds[2])
    found = {}
    for end, sign in _ENDS.items():
        found[f"support{end}"] = _share(both, people, sign)
        found[f"confidence{end}"] = _share(both, given, sign)
        found[f"lift{end}"] = _lift(both, people, given, then, sign)
    return {name: pa.array(found[name], mask=~np.isfinite(found[name])) for name in _FIGURES}


def _share(part: _Count, whole: _Count, sign: int) -> Numbers:
    """One count over another; nobody is in the part and not in the whole."""
    share = _quotient(part.bound(sign, 2), whole.bound(-sign, 2), sign)
    return _round_significant(np.minimum(share, 1), sign)


def _lift(both: _Count, people: _Count, given: _Count, then: _Count, sign: int) -> Numbers:
    """How many times as many have both as by chance; nobody has both and not each of them."""
    everyone, one, other = people.bound(sign, 4), given.bound(-sign, 4), then.bound(-sign, 4)
    lift = _quotient(both.bound(sign, 4) * everyone, one * other, sign)
    most = _quotient(everyone, np.maximum(one, other), sign)
    return _round_significant(np.minimum(lift, most), sign)


def _quotient(over: Numbers, under: Numbers, sign: int) -> Numbers:
    """A quotient; where there is none it is unknown, and may be as little or much as there is."""
    unknown = {-1: 0.0, 0: np.nan, 1: np.inf}[sign]
    return np.divide(over, under, out=np.full_like(over, unknown), where=under > 0)


def _round_significant(values: Numbers, towards: int) -> Numbers:
    """To six digits, down (-1), up (1) or to the nearest (0); alike on every machine."""
    tens = np.array([float(f"1e{power}") for power in range(_DIGITS - 22, _DIGITS + 1)])
    exact = np.array([float(10**power) for power in range(23)])  # a float holds no higher one
    scale = exact[np.clip(22 - np.searchsorted(tens, values, side="right"), 0, 22)]
    slack = 1e-6 * -towards  # so that 0.3, which no float is, stays 0.3
    whole = (np.floor, np.rint, np.ceil)[towards + 1](values * scale + slack)
    return np.asarray(whole / scale + 0.0, dtype=np.float64)  # there is a -0.0


def _columns(family: Family, units: str) -> list[Column]:
    most = len(family.kinds)
    texts = {f"if_{n}": "a thing that the rule begins with" for n in range(1, most)}
    counts = {
        "count_if": f"the count of all that the rule begins with: {units}, plus noise",
        "count_then": f"the count of then: {units}, plus noise",
        "count_both": f"the count of all of them: {units}, plus noise",
    }
    measures = {
        "support": f"count_both over all {units}",
        "confidence": "count_both over count_if",
        "lift": f"the confidence over the share of all {units} that hold then",
    }
    ends = {"": "", "_low": "the least that it can be, with 95 % certainty: "}
    ends["_high"] = ends["_low"].replace("least", "most")
    unknown = {"": "it would be divided by 0", "lift_high": "it has no bound"}
    return [
        *(
            Column(
                name=name,
                type="string",
                meaning=meaning,
                empty="never" if name == "if_1" else "the rule begins with fewer things",
            )
            for name, meaning in texts.items()
        ),
        Column(name="then", type="string", meaning="the thing that the rule leads to"),
        *(Column(name=name, type="integer", meaning=counts[name], unit=units) for name in counts),
        *(
            Column(
                name=f"{name}{end}",
                type="number",
                meaning=f"{ends[end]}{meaning}",
                empty=unknown.get(end, unknown.get(f"{name}{end}", "never")),
            )
            for name, meaning in measures.items()
            for end in _ENDS
        ),
    ]


def _readme(family: Family, file: str, units: str) -> str:
    ifs = ", ".join(f"`if_{n}`" for n in range(1, len(family.kinds)))
    what, then = "hold all of", "hold `then` too"
    if family.ordered:
        what, then = "had, one after the other,", "had `then` next"
    return "\n".join(
        [
            f"### Association rules in {code(family.name)}: `{file}`",
            "",
            f"Computed from the tables above alone: of the {units} that {what} {ifs} (empty where "
            f"a rule has fewer), how many {then}. Rows are sorted by `lift_low`, strongest first.",
            "",
            f"- `support` is `count_both` over all {units}, `confidence` is `count_both` over "
            f"`count_if`, and `lift` is the confidence over the share of all {units} that hold "
            "`then`: 1 if the two are unrelated. Nobody holds a combination without its parts, so "
            "a share is at most 1. A measure is empty where it would be divided by a count of 0 or "
            "less.",
            "- `low` and `high` of a measure are its 95 % interval: it covers the noise for 95 of "
            "100 rules, and is wide where a count is just above its threshold. An empty "
            "`lift_high` means that there is no upper bound. Among rules that were picked because "
            "they look strong, it covers fewer.",
            f"- The interval covers the noise only. {units.capitalize()} with more things than "
            "they may contribute left out those with the smallest published counts, so `support` "
            "is a low estimate, and `confidence` and `lift` may be too low or too high. No rule "
            "says that one thing causes another.",
        ]
    )
