"""The verdicts of an audit, each with noise of its own, as often as `--times` asks for them.

What takes long and is drawn without regard to the number of a verdict is drawn for many verdicts at
once: pairs of logs are packed as an audit packs its runs, and each log of the whole releases is
published a tenth as often as it is compared, every time beside other releases of its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest
from conftest import COMMAND, Forks
from mutations import LEAST
from pages import blocks
from paths import ROOT

from zealous.audit import other_mechanisms as others
from zealous.audit import small_releases as small
from zealous.audit import whole_releases as bundle
from zealous.audit.audit import (
    FALSE_ALARMS,
    alpha_per_test,
    audit,
    audit_mechanism,
    measure_pair,
)
from zealous.audit.measurement import BY_ACCIDENT
from zealous.audit.runs import Run, publish_arguments
from zealous.audit.setting import settings
from zealous.audit.trials import outcomes, tally_outcomes

PLANS = settings()
SHARED = 10  # verdicts, of which each compares releases in another combination


@pytest.fixture
def times(pytestconfig: pytest.Config) -> int:
    return int(pytestconfig.getoption("--times"))


@pytest.fixture
def number(request: pytest.FixtureRequest) -> int:
    """Which of the repetitions this is."""
    repeated = getattr(request.node, "callspec", None)
    return int(repeated.params.get("time_", 0)) if repeated else 0


@cache
def packed(audits: int) -> Sequence[Sequence[npt.NDArray[np.intp]]]:
    return [outcomes(plan, audits * LEAST) for plan in PLANS]


@pytest.mark.false_alarm(FALSE_ALARMS, "the bounds of one audit on pairs of logs")
def test_a_verdict_on_pairs_of_logs(times: int, number: int) -> None:
    alpha = alpha_per_test(PLANS)
    for plan, drawn in zip(PLANS, packed(times), strict=True):
        for pair, outcome in zip(plan.pairs, drawn, strict=True):
            each = LEAST // pair.every // 2 * 2
            mine = tally_outcomes(plan, pair, outcome[:, number * each : (number + 1) * each])
            assert measure_pair(plan, pair, mine, alpha).passed, (plan.name, pair.name)


@pytest.mark.false_alarm(FALSE_ALARMS, "the bounds of one audit on small releases")
def test_a_verdict_on_small_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer of them than an audit draws: its bounds hold for every number."""
    monkeypatch.setattr(small, "RUNS", 50)
    monkeypatch.setattr(small, "_SETS_RUNS", 20)
    assert audit(LEAST, parts=["small"]).failures() == []


@pytest.mark.false_alarm(FALSE_ALARMS, "the bounds of one audit of a mechanism")
def test_a_verdict_on_a_mechanism_of_ones_own() -> None:
    names: dict[str, object] = {}
    page = ROOT / "docs" / "extending" / "quick.md"
    exec("\n\n".join(blocks(page, "python")[:2]), names)
    assert audit_mechanism(names["Tens"](), trials=1_000).passed  # type: ignore[operator]


Publish = Callable[[ModuleType, Sequence[str], Path], Mapping[str, Run]]


@pytest.fixture
def publish(commands: Forks) -> Publish:
    """Publish the logs of a module one after another, by forks that have loaded the command."""

    def run(module: ModuleType, options: Sequence[str], folder: Path) -> Mapping[str, Run]:
        return {
            name: _run(commands, log, options) for name, log in module.write_logs(folder).items()
        }

    return run


def _run(commands: Forks, log: Path, options: Sequence[str]) -> Run:
    arguments = publish_arguments(log, options)
    state = str(log.parent.with_name("state"))
    done = commands(COMMAND, *arguments, folder=log.parent, XDG_STATE_HOME=state)
    return Run(log=log, code=done.code, stdout=done.stdout, directory=log.with_name("release"))


MADE: dict[tuple[str, int], Mapping[str, Run]] = {}


@pytest.mark.soak
@pytest.mark.false_alarm(BY_ACCIDENT, "draws of whole releases that agree by accident")
@pytest.mark.parametrize(
    ("module", "options"),
    [(bundle, bundle._options(bundle.DECLARED)), (others, others._options())],
    ids=["zealous", "others"],
)
def test_a_verdict_on_whole_releases(
    module: ModuleType,
    options: Sequence[str],
    times: int,
    number: int,
    publish: Publish,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rounds = -(-times // SHARED)
    chosen: dict[str, Run] = {}
    for place, name in enumerate(("with", "without", "again", "broken")):
        of = (number + place * (number // rounds)) % rounds
        if (module.__name__, of) not in MADE:
            folder = tmp_path_factory.mktemp("whole")
            MADE[module.__name__, of] = publish(module, options, folder)
        made = MADE[module.__name__, of]
        if name in made:
            chosen[name] = made[name]
    checks = bundle.run_checks(chosen, module.CHECKS)
    assert [each.name for each in checks if not each.passed] == []
