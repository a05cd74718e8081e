"""Three sentences and one chart: what is kept, and how well an attacker guesses."""

from __future__ import annotations

import math

import pytest
from reported import FINDINGS, STUDY, made

from zealous.study.grid.result_table import Results, Spread, as_table
from zealous.study.report import first_screen
from zealous.study.report.first_screen import best_guess, note, sentences, tally, tradeoff
from zealous.study.report.results_view import Entry, ResultsView


@pytest.fixture(scope="module")
def view() -> ResultsView:
    return ResultsView(results=made(), study=STUDY.as_object())


def test_the_sentences_name_a_method_why_not_the_other_and_the_price(view: ResultsView) -> None:
    choice, alternative, price = sentences(view)
    assert choice.startswith("Choose zealous: with epsilon = ")
    assert "of the 1,000 most frequent queries" in choice
    assert alternative.startswith("k-query is no safe alternative: with k = 10 it keeps ")
    assert alternative.endswith("an attacker with 9 accounts of his own is right every time.")
    assert price.startswith("With epsilon = 5 zealous answers ")
    assert "of the keywords from a cache (k-query " in price


@pytest.mark.parametrize(
    ("kept", "advice"),
    [(0.9, "Choose zealous: "), (0.02, "Choose zealous, and expect"), (0, "Publish no queries")],
)
def test_the_advice_follows_from_what_is_kept(
    kept: float, advice: str, view: ResultsView, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = Spread(mean=kept, low=kept, high=kept, draws=1)
    monkeypatch.setattr(first_screen, "kept_share", lambda *_: share)
    assert sentences(view)[0].startswith(advice)


def test_findings_are_counted_by_verdict() -> None:
    assert tally(FINDINGS) == (
        "1 of 3 are as in the paper, 1 differ, and for 1 this log has too little data."
    )
    assert tally(()) == ""


def test_a_log_of_which_nothing_is_left_is_not_recommended() -> None:
    nothing = made(kinds=("keywords", "query-pairs"))
    assert not any(
        "Choose" in each
        for each in sentences(ResultsView(results=nothing, study=STUDY.as_object()))
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
    assert all([point.x for point in line.points] == [100] for line in others)


def test_the_chart_has_mechanisms_too_and_says_which_methods_it_lacks(view: ResultsView) -> None:
    rows = [
        row if row["method"] != "k-session" else row | {"method": "gaussian", "epsilon": 2.0}
        for row in view.results.table.to_pylist()
        if row["method"] != "k-keyword" or row["kind"] != "queries"
    ]
    for row in rows:
        if row["method"] == "gaussian":
            row.update(k=None, m=1)
    changed = ResultsView(
        results=Results(table=as_table([list(row.values()) for row in rows])), study=view.study
    )
    ((panel,),) = tradeoff(changed).rows
    points = {line.label: [point.x for point in line.points] for line in panel.lines}
    assert points["gaussian, epsilon = 2, m = 1"] == [pytest.approx(88.08, abs=0.01)]
    assert note(changed).endswith("k-keyword.")
    assert "Not in the chart" not in note(view)


def test_the_epsilons_of_the_text_have_ticks_and_no_limit_is_rounded_down(
    view: ResultsView,
) -> None:
    names = tradeoff(view).rows[0][0].x.names
    told = {name.partition("(")[2].rstrip(")"): (place, name) for place, name in names}
    assert {"2", "5"} <= set(told)
    for place, name in names:
        assert place <= float(name.split()[0])


def test_histograms_whose_epsilons_add_up_are_named(view: ResultsView) -> None:
    choice, _, price = sentences(view)
    assert "guesses from this histogram" in choice
    assert "right at most 88.1 % of the time" in choice
    assert "separate histograms" in price
    assert price.endswith("their epsilons add up.")


def test_no_attacker_guesses_better_than_epsilon_allows() -> None:
    """Odds of 1 to 1 become exp(epsilon) to 1 at most."""
    guess = best_guess(Entry(method="zealous", epsilon=math.log(3)))
    assert guess == pytest.approx(3 / 4)
    assert best_guess(Entry(method="mine", epsilon=1.0)) is None
