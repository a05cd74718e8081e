"""What somebody chose on the plan screen, and the plan that follows from it. No data is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from starlette.datastructures import QueryParams

from zealous.errors import LogError, UsageError
from zealous.items import KINDS, Kind, default_items_per_user
from zealous.logs.log import Columns
from zealous.owner.draft import Draft, default_delta
from zealous.owner.start import FoundLog, command_line, default_offer, offers, with_values
from zealous.planning.parameter_source import PARAMETERS_FROM, UNSTATED
from zealous.planning.plan import Plan
from zealous.privacy.guarantee import DEFINITIONS, Guarantee, Unit, exact_fraction, format_number
from zealous.privacy.levels import LEVELS
from zealous.web.bench import Bench, number
from zealous.web.log_reading import Reading, columns_from_fields, newly_chosen_item

CUSTOM = "custom"
SYNTHETIC = "*synthetic"  # no release has such a name
LEAST, MOST = Fraction(1, 10), Fraction(20)  # epsilon
UNITS: Mapping[Unit, str] = {
    "user": "everything a person ever did",
    "user-day": "one day of a person",
    "session": "one session of a person",
}
GUARANTEES: Mapping[str, str] = {
    "probabilistic": "for everybody together: delta is the chance that anybody at all is exposed",
    "indistinguishable": "for each person alone: delta is the chance that epsilon does not cover",
}
_COLUMN = "columns:"
_OFFERED = 8  # kinds of items
_NO_LOG = "choose the log: a plan says which of its columns is the person"
_USERS = 100_000


@dataclass(frozen=True, kw_only=True)
class OfferedKind:
    """A kind of items that can be chosen.

    Attributes:
        name: As --items takes it.
        most: How many of a person count.
        chosen: Whether it is published.
    """

    name: str
    most: int
    chosen: bool


@dataclass(frozen=True, kw_only=True)
class PlanChoice:
    """Everything on the plan screen.

    Attributes:
        log: The name of the log's file; None while it is not known.
        reading: What was said of how to read it.
        found: What its first lines show; None while it is not known or cannot be read.
        problem: What stands in the way of a plan for the log, if anything does.
        kinds: What can be published.
        level: strict, moderate, permissive or custom.
        goal: The guarantee; its neighbours are the usual ones.
        usual_delta: Whether its delta is the usual one, because none was chosen.
        ledger: The name of the ledger that will be charged, if any.
        like: The name of an earlier release to expect by, or SYNTHETIC, if any.
        parameters_from: How the numbers were chosen.
    """

    log: str | None
    reading: Reading
    found: FoundLog | None
    problem: str | None
    kinds: tuple[OfferedKind, ...]
    level: str
    goal: Guarantee
    usual_delta: bool
    ledger: str | None
    like: str | None
    parameters_from: str

    @property
    def items(self) -> dict[str, int]:
        """What is published, and how many of a person count."""
        return {each.name: each.most for each in self.kinds if each.chosen}

    @property
    def draft(self) -> Draft:
        """What is to be published at which guarantee."""
        return Draft(goal=self.goal, items=self.items)

    def plan(self) -> Plan:
        """The plan, planned once for the same choice."""
        return _plan_for(self.goal, tuple(self.items.items()))

    def bound_plan(self, dataset: str | None) -> Plan:
        """The plan for the chosen log and for the people of a ledger, to be written."""
        if self.problem or self.found is None:
            raise UsageError(self.problem or _NO_LOG)
        roles = self.found.roles()
        planned = replace(self.plan(), parameters_from=self.parameters_from)
        planned = planned.for_log(Columns(**roles)).for_people(dataset)
        planned.check_possible(roles)
        return planned

    def command(self, dataset: str | None, output: str) -> str:
        """The command that writes the same plan."""
        said = with_values(self.draft.options())
        if self.found is not None:
            for role, column in self.found.roles().items():
                said += with_values([f"--{role}", column])
        said += ["--parameters-from", self.parameters_from]
        said += with_values(["--dataset", dataset]) if dataset else []
        return command_line(["zealous", "plan", *said, "-o", output])

    def python(self, dataset: str | None, output: str) -> str:
        """The Python that writes the same plan, or prints it while no log is known."""
        made = [
            f"z.{name.replace('-', '_')}({most})"
            if ":" not in name
            else f"z.columns({', '.join(map(repr, name.partition(':')[2].split('+')))}, "
            f"items_per_user={most})"
            for name, most in self.items.items()
        ]
        said = [
            f"goal = z.{self.goal!r}",
            f"kinds = [{', '.join(made)}]",
            f"plan = z.plan(goal, kinds, parameters_from={self.parameters_from!r})",
        ]
        if self.found is None:
            return "\n".join(["import zealous as z", "", *said, "print(plan)"])
        roles = [f"{role}={column!r}" for role, column in self.found.roles().items()]
        return "\n".join(
            [
                "from pathlib import Path\n",
                "import zealous as z",
                "from zealous.planning.plan_file import write_plan\n",
                *said,
                f"plan = plan.for_log(z.Columns({', '.join(roles)})).for_people({dataset!r})",
                f"write_plan(plan, Path({output!r}))",
            ]
        )


@lru_cache(maxsize=4096)
def _plan_for(goal: Guarantee, items: tuple[tuple[str, int], ...]) -> Plan:
    return Draft(goal=goal, items=dict(items)).planned


def choice_from(
    bench: Bench, asked: QueryParams | Mapping[str, str], kinds: Sequence[str]
) -> PlanChoice:
    """What an address or a form says, with the usual where it says nothing.

    Args:
        bench: The workbench.
        asked: The fields.
        kinds: Those of the kinds that are ticked; what is most likely wanted where none is.
    """
    log = asked.get("log") or None
    reading = Reading.from_fields(asked, log or "")
    found, problem = _look(bench, log, reading, asked)
    if problem and reading.names:  # which may have been those of another way to read it
        reading = replace(reading, names=())
        found, problem = _look(bench, log, reading, asked)
    level = asked.get("level", "moderate")
    if level not in (*LEVELS, CUSTOM):
        raise UsageError(f"the protection is one of {', '.join(LEVELS)} or {CUSTOM}")
    epsilon = LEVELS[level] if level in LEVELS else _epsilon(asked.get("epsilon"))
    unit = next((each for each in UNITS if each == asked.get("unit", "user")), None)
    if unit is None:
        raise UsageError(f"what is protected as one is one of {', '.join(UNITS)}")
    users = number(asked.get("users"), "the number of people", least=2, most=10**12, usual=_USERS)
    source = asked.get("parameters_from", UNSTATED)  # somebody has to say it
    if source not in PARAMETERS_FROM:
        raise UsageError(f"the parameters are from one of {', '.join(PARAMETERS_FROM)}")
    definition = asked.get("guarantee", "probabilistic")
    if definition not in GUARANTEES:
        raise UsageError(f"the guarantee is one of {', '.join(GUARANTEES)}")
    stated = asked.get("delta", "").strip()
    delta = _exact(stated, "delta") if stated else default_delta(definition, users)
    made = DEFINITIONS[definition]
    return PlanChoice(
        log=log,
        reading=reading,
        found=found,
        problem=problem or (_problem(found, unit) if found else None),
        kinds=_offered_items(found, asked, newly_chosen_item(asked) or kinds),
        level=level,
        goal=made(epsilon=epsilon, delta=delta, users=users, unit=unit),
        usual_delta=not stated,
        ledger=asked.get("ledger", _only(bench.folders.look().ledgers)) or None,
        like=asked.get("like") or None,
        parameters_from=source,
    )


def _look(
    bench: Bench, log: str | None, reading: Reading, asked: QueryParams | Mapping[str, str]
) -> tuple[FoundLog | None, str | None]:
    """What the first lines of a log show, or why they show nothing."""
    if log is None:
        return None, None
    path = bench.folders.path(log)
    try:
        columns = reading.look(path, {}).format.columns
        return reading.look(path, columns_from_fields(asked, columns, log)), None
    except (LogError, UsageError) as error:
        return None, str(error)


def _problem(found: FoundLog, unit: Unit) -> str | None:
    """What is still to be said of a log."""
    if found.column("user") is None:
        return "No name tells which column is the person: choose it."
    if not offers(found):
        return "No column looks like something to publish: choose one."
    if unit not in found.units():
        return f"To protect {UNITS[unit]}, choose the column with the time (with its date)."
    return None


def _only(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ""


def _epsilon(text: str | None) -> Fraction:
    found = _exact(text or "2", "epsilon")
    if not LEAST <= found <= MOST:
        raise UsageError(
            f"epsilon is between {format_number(LEAST)} and {format_number(MOST)} here: use the "
            "command for another one"
        )
    return found


def _exact(text: str, name: str) -> Fraction:
    """A number that a command can repeat as it is."""
    found = exact_fraction(text, name)
    if exact_fraction(format_number(found), name) != found:
        raise UsageError(f"{name} has too many digits: twelve are enough")
    return found


def _offered_items(
    found: FoundLog | None, asked: QueryParams | Mapping[str, str], ticked: Sequence[str]
) -> tuple[OfferedKind, ...]:
    """What the header allows, or searches where no log is known."""
    if found is None:
        names = [kind.label for kind in KINDS.values() if kind.usage == Kind.usage]
    else:
        usual = default_offer(found)
        offered = [*([usual] if usual else []), *offers(found)]
        names = [each.items for each in offered if each.basket is None]
        names = [each for each in names if not each.startswith("itemsets:")]
        names = names or [f"{_COLUMN}{found.format.columns[0]}"]  # until one is chosen
    names = list(dict.fromkeys(names))[:_OFFERED]
    wanted = [name for name in names if name in ticked] or names[:1]
    return tuple(
        OfferedKind(
            name=name,
            most=number(
                asked.get(f"most {name}"),
                f"the number of {name} of a person",
                least=1,
                most=1000,
                usual=default_items_per_user(name),
            ),
            chosen=name in wanted,
        )
        for name in names
    )
