"""Three sentences and one chart: what is kept, and how well an attacker guesses."""

from __future__ import annotations

import math

import pytest
from reported import FINDINGS, STUDY, made

from zealous.study.report.first_screen import best_guess, sentences, tradeoff
from zealous.study.report.results_view import Entry, ResultsView


@pytest.fixture(scope="module")
def view() -> ResultsView:
    return ResultsView(results=made(), study=STUDY.as_object())


def test_the_sentences_name_a_method_its_promise_and_its_price(view: ResultsView) -> None:
    choice, price, findings = sentences(view, FINDINGS)
    assert choice.startswith("Choose zealous with m = 1 and a small epsilon: at epsilon = ")
    assert "of the 1,000 most frequent queries" in choice
    assert choice.endswith("and who has 9 accounts guesses right every time.")
    assert "hit probability" in price
    assert findings == (
        "Of 3 findings of the paper, 1 are as in the paper on this log, 1 differ, and for 1 it has "
        "too little data."
    )


def test_a_log_of_which_nothing_is_left_is_not_recommended() -> None:
    nothing = made(kinds=("keywords", "query-pairs"))
    assert not sentences(ResultsView(results=nothing, study=STUDY.as_object()), ())[0].startswith(
        "Choose"
    )


def test_the_chart_has_a_curve_for_zealous_and_a_point_for_each_other_method(
    view: ResultsView,
) -> None:
    ((panel,),) = tradeoff(view).rows
    ours, *others = panel.lines
    assert ours.label == f"zealous, epsilon = {min(STUDY.epsilons):g} to {max(STUDY.epsilons):g}"
    guesses = [point.x for point in ours.points]
    assert guesses == sorted(guesses)
    assert 50 < guesses[0] < guesses[-1] < 100
    assert [line.label.partition(",")[0] for line in others] == list(STUDY.methods)
    assert all([point.x for point in line.points] in ([100], []) for line in others)


def test_no_attacker_guesses_better_than_epsilon_allows() -> None:
    """Odds of 1 to 1 become exp(epsilon) to 1 at most."""
    guess = best_guess(Entry(method="zealous", epsilon=math.log(3)))
    assert guess == pytest.approx(3 / 4)
    assert best_guess(Entry(method="mine", epsilon=1.0)) is None
