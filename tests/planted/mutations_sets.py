"""Bugs to plant where tables are made of published ones, and what must notice each.

Some are noticed by the audit. Others need no chance to be seen, or logs that do not fit into packed
ones: for them a test of tests/mechanisms/test_enumeration_sets.py or of tests/mechanisms/test_of_smaller.py must fail.
The last ones are no bugs of sets: they lose what was paid for, leave a log behind, or run a file
that lies beside it.

Two are planted though no promise of privacy breaks, since counts would not be what they are said to
be: `>=` for `>` at the threshold, which may be any function of what was published; and the cut to a
few things of each person left out, since sets are bounded once more when they are counted. Not
planted: that second bound left out for itemsets, while the cut is there; things of two baskets that
make a set; a user's queries bounded before the published ones are taken away.
"""

from __future__ import annotations

from mutations import LEAST, ROWS_COUNTED, TESTS, Change, Mutation
from mutations_mechanisms import THEOREMS

SETS, GAUSSIAN = "of-smaller, 2 things", "of-smaller-gaussian, 4 things, add-remove"
SMALL_SETS = "small releases of sets"

_MECHANISM, _SETS, _TAIL = "mechanisms/of_smaller.py", "items/sets.py", "items/rare_queries.py"
_PURE = "mechanisms/over_known_list.py"
_LIST, _OF_KEYWORDS = "mechanisms/known_list.py", "mechanisms/of_keywords.py"
_KEPT = "np.flatnonzero(noisy > above)\n        published"
_COUNTED = "counted = count(bound=self.items_per_user, at_least=1)\n"
_NOISY = "noisy = some + noise.sample(len(some), random_bytes)"
_ABOVE = "above = self.threshold(len(known))"
_INTERVALS, _CERTAIN = "privacy/accounting/intervals.py", "if count >= self.certain_from:"
_AFTER = "kind = part.kind.with_inputs(released)"
_COUNT = "        first = kind.restricting_kind()\n"
_ALL = """\
        if part.name().startswith('things:'):
            every[part.name()] = pa.Table.from_batches(count(bound=2, at_least=1))
"""
_EACH = 'Step("each_thing", f"select distinct user, item_1, {_CODE}, {_WORTH} from coded"),'
_CUT = "qualify {best} <= {self.things}"
_MOST = "qualify {position} <= {choice.most}"
_ALL_FACTS = (
    "qualify {position} <= {choice.most if kind.kept_columns() == kind.counted_columns() else 1000}"
)
_RARE = """\
f"select all_asked.* from all_asked anti join {table} as known "
                "on all_asked.query = known.query","""
_RARE_BY_LOG = """\
"select * from all_asked where query not in (select query from all_asked group by query "
                "having count(distinct user) >= 7)","""
_BEST = """\
best = f"max({identifier(worth)}) as {identifier(worth)}"
        distinct = f"select user, {item}, {best} from items group by user, {item}\""""
_BEST_BY_LOG = """\
best = f"count(*) over (partition by {item}) as {identifier(worth)}"
        distinct = f"select user, {item}, {best} from (select distinct user, {item} from items)\""""

MUTATIONS = [
    Mutation(
        "sets: those that nobody has get no noise",
        SMALL_SETS,
        "sets that nobody has",
        (
            Change(
                _LIST,
                _KEPT,
                _KEPT.replace("noisy > above", "(noisy > above) & (some > 0)"),
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "sets: the threshold is for counts before noise",
        SMALL_SETS,
        "sets that nobody has",
        (Change(_LIST, _KEPT, _KEPT.replace("noisy > above", "some > above")),),
        trials=LEAST,
    ),
    Mutation(
        "sets: noise a third low",
        SETS,
        "a popular set for another",
        (
            Change(
                "mechanisms/laws.py",
                "DiscreteLaplace(scale=scale)",
                "DiscreteLaplace(scale=scale * 2 / 3)",
            ),
        ),
        trials=18_000,
    ),
    Mutation(
        "sets: the factor 2 forgotten",
        SETS,
        THEOREMS,
        (
            Change(_PURE, "scale=scale_for(goal, m)", "scale=scale_for(goal, m) / 2"),
            Change(
                _PURE,
                "covered = goal.moved_counts(self.items_per_user) <=",
                "covered = self.items_per_user <=",
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "sets: one counts as often as baskets have it",
        SETS,
        "a set in many baskets",
        ROWS_COUNTED,
        trials=4_000,
    ),
    Mutation(
        "sets: Gaussian noise for things instead of the sets that they make",
        GAUSSIAN,
        THEOREMS,
        (
            Change(
                _MECHANISM,
                "gaussian.least_scale(goal, items_per_user)",
                "gaussian.least_scale(goal, 4)",
            ),
            Change(
                _MECHANISM,
                "moved = goal.moved_counts(self.items_per_user)",
                "moved = goal.moved_counts(4)",
            ),
        ),
        trials=LEAST,
    ),
    Mutation(
        "sets: a third of the Gaussian noise",
        GAUSSIAN,
        "four things",
        (
            Change(
                "mechanisms/laws.py",
                "DiscreteGaussian(scale=scale)",
                "DiscreteGaussian(scale=scale / 3)",
            ),
        ),
        trials=10_000,
    ),
    Mutation(
        "sets: the threshold follows from how many somebody has",
        TESTS,
        "test_of_smaller.py::test_the_threshold_does_not_follow_from_who_holds_what",
        (
            Change(
                _MECHANISM,
                _ABOVE,
                "counted = list(counted)\n        "
                + _ABOVE.replace("len(known)", "sum(len(each) for each in counted)"),
            ),
        ),
    ),
    Mutation(
        "sets: no noise beyond the first piece",
        TESTS,
        "test_of_smaller.py::test_noise_is_drawn_in_pieces",
        (Change(_LIST, _NOISY, f"{_NOISY} * (first == 0)"),),
    ),
    Mutation(
        "sets: >= for >",
        TESTS,
        "test_of_smaller.py::test_only_what_is_above_the_threshold_is_published",
        (Change(_LIST, _KEPT, _KEPT.replace("noisy > above", "noisy >= above")),),
    ),
    Mutation(
        "sets: made of what the log has instead of what was published",
        TESTS,
        "test_enumeration_sets.py::test_everybody_counts_with_her_best_published_things",
        (
            Change(
                "release/drawing.py",
                _AFTER,
                "kind = part.kind.with_inputs({**released, **every})",
            ),
            Change(
                "release/drawing.py",
                _COUNT,
                _ALL + _COUNT,
            ),
            Change(
                "release/drawing.py",
                "    tables: dict[str, Table] = {}\n",
                "    tables: dict[str, Table] = {}\n    every: dict[str, pa.Table] = {}\n",
            ),
        ),
    ),
    Mutation(
        "sets: the log decides between things of the same count",
        TESTS,
        "test_enumeration_sets.py::test_the_same_count_is_an_order_too",
        (
            Change(
                _SETS,
                'order by {_WORTH} desc, {_CODE})"\n        steps',
                'order by {_WORTH} desc, item_count desc, {_CODE})"\n        steps',
            ),
            Change(
                _SETS,
                _EACH,
                'Step("each_thing", f"select *, count(*) over (partition by item_1) as item_count '
                'from (select distinct user, item_1, {_CODE}, {_WORTH} from coded)"),',
            ),
        ),
    ),
    Mutation(
        "sets: a person's things are not cut",
        TESTS,
        "test_enumeration_sets.py::test_everybody_counts_with_her_best_published_things",
        (Change(_SETS, _CUT, "qualify {best} <= 1000"),),
    ),
    Mutation(
        "sets: every set of a person counts",
        TESTS,
        "test_enumeration_sets.py::test_one_person_moves_as_many_counts_as_she_may",
        (
            Change(_SETS, _CUT, "qualify {best} <= 1000"),
            Change(_MECHANISM, _COUNTED, _COUNTED.replace("self.items_per_user", "10_000")),
        ),
    ),
    Mutation(
        "sequences: chosen by how many have them",
        TESTS,
        "test_enumeration_sets.py::test_one_person_moves_as_many_counts_as_she_may",
        (Change("counting/bound.py", _BEST, _BEST_BY_LOG),),
    ),
    Mutation(
        "facts: all queries of a person count",
        TESTS,
        "test_enumeration_sets.py::test_nobody_counts_for_more_than_one_fact",
        (Change("counting/bound.py", _MOST, _ALL_FACTS),),
    ),
    Mutation(
        "tail: the log says which queries are rare",
        TESTS,
        "test_enumeration_sets.py::test_one_person_moves_as_many_counts_as_she_may",
        (Change(_TAIL, _RARE, _RARE_BY_LOG),),
    ),
    Mutation(
        "thresholds: what absence tells is left out of the probabilistic plan",
        TESTS,
        "test_calibrate.py::test_is_the_least_of_all",
        (
            Change(
                "privacy/calibrate.py",
                "if isinstance(goal, ProbabilisticDP) and not covers_absence(scale, t):",
                "if False:",
            ),
            Change(
                "privacy/calibrate.py",
                "        if isinstance(goal, ProbabilisticDP):\n            self.log_most",
                "        if False:\n            self.log_most",
            ),
        ),
    ),
    Mutation(
        "thresholds: what absence tells is left out of the probabilistic claim",
        TESTS,
        "test_enumeration.py::test_what_given_parameters_guarantee_is_true",
        (
            Change(
                "privacy/calibrate.py",
                "if kind is ProbabilisticDP and not covers_absence(scale, t):",
                "if False:",
            ),
        ),
    ),
    Mutation(
        "units: the name of a session does not tell where the user's id ends",
        TESTS,
        "test_unit.py::test_names_of_units_are_one_to_one",
        (Change("logs/sessions.py", "length(user::varchar)::varchar || ':' || user", "user"),),
    ),
    Mutation(
        "units: nothing between the user's id and the time",
        TESTS,
        "test_unit.py::test_names_of_units_are_one_to_one",
        (
            Change(
                "logs/sessions.py", "user::varchar || ' ' || epoch_us", "user::varchar || epoch_us"
            ),
        ),
    ),
    Mutation(
        "ids: a number with .0 is somebody else",
        TESTS,
        "test_log.py::test_a_whole_number_is_one_id_with_and_without_a_point",
        (Change("logs/values.py", "return _id_of_text(name)", 'return f"trim({name})"'),),
    ),
    Mutation(
        "ids: a number with .0 is not left out",
        TESTS,
        "test_log.py::test_a_person_is_one_in_files_that_write_her_number_differently",
        (
            Change(
                "logs/values.py",
                "return user_id(user, kind)",
                'return f"trim({user}::varchar)"',
            ),
        ),
    ),
    Mutation(
        "verify: any mechanism for any kind",
        TESTS,
        "test_forgeries.py::test_raw_queries_agree_with_all_but_the_plan",
        (
            Change(
                "planning/plan.py",
                "        choose_mechanisms(\n            self",
                "        lambda: choose_mechanisms(\n            self",
            ),
        ),
    ),
    Mutation(
        "verify: parameters are not planned again",
        TESTS,
        "test_forgeries.py::test_parameters_that_planning_would_not_choose",
        (
            Change(
                "verification/claimed_guarantee.py",
                "        if part != other:",
                "        if not other:",
            ),
        ),
    ),
    Mutation(
        "verify: a review may claim another guarantee",
        TESTS,
        "test_forgeries.py::test_a_review_that_removed_nothing_gives_no_other_guarantee",
        (
            Change(
                "verification/claimed_guarantee.py",
                "if claim.definition not in allowed:",
                "if not allowed:",
            ),
        ),
    ),
    Mutation(
        "verify: shares are not planned again",
        TESTS,
        "test_forgeries.py::test_parameters_that_planning_would_not_choose",
        (
            Change(
                "verification/claimed_guarantee.py",
                "if part.goal != other.goal:",
                "if not other.goal:",
            ),
        ),
    ),
    Mutation(
        "verify: the planner can be left out",
        TESTS,
        "test_forgeries.py::test_a_release_of_ours_names_our_planner",
        (
            Change(
                "verification/claimed_guarantee.py",
                ".version == VERSION and record",
                ".version != VERSION and record",
            ),
        ),
    ),
    Mutation(
        "verify: what can be made of smaller sets is not looked at",
        TESTS,
        "test_forgeries.py::test_a_forgery_that_names_an_earlier_version",
        (
            Change(
                _MECHANISM,
                "(known.places(rows) < 0).any()",
                "(known.places(rows) < -1).any()",
            ),
        ),
    ),
    Mutation(
        "verify: a count at the threshold of sets passes",
        TESTS,
        "test_forgeries.py::test_the_threshold_of_sequences_follows_from_the_candidates",
        (
            Change(
                _MECHANISM,
                'rows["count"].to_numpy() <= self.threshold',
                'rows["count"].to_numpy() < self.threshold',
            ),
        ),
    ),
    Mutation(
        "verify: a count at the threshold of queries passes",
        TESTS,
        "test_forgeries.py::test_the_threshold_of_queries_follows_from_the_keywords",
        (Change("mechanisms/of_keywords.py", "any(count <= above", "any(count < above"),),
    ),
    Mutation(
        "verify: of a known list rows may be missing",
        TESTS,
        "test_forgeries.py::test_a_forgery_that_names_an_earlier_version",
        (
            Change(
                "mechanisms/domain.py",
                "if whole and rows.num_rows < items.num_rows:",
                "if whole and not rows.num_rows:",
            ),
        ),
    ),
    Mutation(
        "verify: rates and associations are not compared",
        TESTS,
        "test_forgeries.py::test_an_association_of_ours",
        (Change("verification/published_tables.py", "wanted == found if ours", "True if ours"),),
    ),
    Mutation(
        "verify: a child is judged by rows that a review took out",
        TESTS,
        "test_forgeries.py::test_a_child_is_judged_by_what_is_left",
        (
            Change(
                "verification/published_tables.py",
                "any(map(removed.get, _origin_kinds(part)))",
                "False",
            ),
        ),
    ),
    Mutation(
        "of-keywords: keywords from lists accepted",
        TESTS,
        "test_of_keywords.py::test_keywords_from_lists_are_refused_and_nothing_is_charged",
        (
            Change(
                "planning/part.py",
                "        self.mechanism.check_roles(roles)\n",
                "",
            ),
        ),
    ),
    Mutation(
        "of-keywords: keywords by an attribute accepted",
        TESTS,
        "test_of_keywords.py::test_keywords_that_could_be_listed_twice_cannot_be_planned",
        (Change(_OF_KEYWORDS, " and keywords.by is None", ""),),
    ),
    Mutation(
        "of-keywords: keywords with a space accepted",
        TESTS,
        "test_of_keywords.py::test_the_mechanism_refuses_what_was_not_planned_here",
        (Change(_OF_KEYWORDS, "or pc.any(blank).as_py() or", "or"),),
    ),
    Mutation(
        "of-keywords: a keyword twice accepted",
        TESTS,
        "test_of_keywords.py::test_the_mechanism_refuses_what_was_not_planned_here",
        (Change(_OF_KEYWORDS, "or len(words.unique()) < len(words):", "or False:"),),
    ),
    Mutation(
        "of-keywords: one that somebody asked may pass by two noises",
        TESTS,
        "test_known_list.py::test_both_ways_to_draw_are_the_same",
        (Change(_LIST, "lucky = np.setdiff1d(lucky, held)", "lucky = np.unique(lucky)"),),
    ),
    Mutation(
        "lists: nobody looks whether items are different",
        TESTS,
        "test_known_list.py::test_no_noise_is_drawn_for_a_list_with_an_item_twice",
        (Change(_LIST, "if (candidates.places(items) != places).any():", "if False:"),),
    ),
    Mutation(
        "lists: numbers for texts",
        TESTS,
        "test_known_list.py::test_items_are_texts",
        (
            Change(
                _LIST,
                "table.select(names).cast(pa.schema([(name, pa.string()) for name in names]))",
                "table.select(names)",
            ),
        ),
    ),
    Mutation(
        "sets: what was published twice is taken for two",
        TESTS,
        "test_grown.py::test_what_was_published_twice_is_refused",
        (Change("items/candidate_sets.py", "if (np.diff(level.keys) <= 0).any():", "if False:"),),
    ),
    Mutation(
        "modules of the working directory in the second process of a study",
        TESTS,
        "test_strange_files.py::test_the_second_process_of_a_study",
        (
            Change(
                "study/grid/second_process.py",
                'os.environ["PYTHONSAFEPATH"] = "1"',
                'os.environ["PYTHONSAFEPATH"] = ""',
            ),
        ),
    ),
    Mutation(
        "modules of the log's folder in the runs of an audit",
        TESTS,
        "test_strange_files.py::test_the_runs_of_an_audit",
        (Change("audit/runs.py", '"-P", "command.py"', '"command.py"'),),
    ),
    Mutation(
        "a plan is executed that promises more than it keeps",
        TESTS,
        "test_plan_file.py::test_a_plan_that_promises_more_than_it_keeps_is_refused",
        (Change("release/publish.py", "    plan.check_claim()", "    pass"),),
    ),
    Mutation(
        "another plan passes for the approved one",
        TESTS,
        "test_plan_file.py::test_no_other_plan_passes_for_the_approved_one",
        (Change("release/publish.py", "    check_approved(plan)\n", ""),),
    ),
    Mutation(
        "a public file is hashed, and read another time",
        TESTS,
        "test_plan_file.py::test_a_public_file_that_changes_while_it_is_read",
        (
            Change(
                "items/lists.py",
                "yield ListFile(name, place_of(copy), digest)",
                "yield ListFile(name, file, digest)",
            ),
        ),
    ),
    Mutation(
        "charged before it is seen whether it can be written",
        TESTS,
        "test_spent.py::test_what_cannot_be_written_fails_before_the_charge",
        (
            Change(
                "release/publish.py",
                "rehearse_writing(request, record, payment.preview())",
                "pass",
            ),
        ),
    ),
    Mutation(
        "charged before a run on a log of nobody",
        TESTS,
        "test_spent.py::test_a_mistake_in_a_mechanism_costs_nothing",
        (
            Change(
                "release/publish.py",
                "rehearse_counting(request, source, public, payment.preview())",
                "pass",
            ),
        ),
    ),
    Mutation(
        "spent, and said for one kind of error alone",
        TESTS,
        "test_spent.py::test_whatever_fails_after_the_charge_says_that_it_is_spent",
        (
            Change(
                "release/progress.py",
                "    except BaseException:\n        try:\n            entry = charged()",
                "    except ValueError:\n        try:\n            entry = charged()",
            ),
        ),
    ),
    Mutation(
        "spent, and not said where a signal came while it was charged",
        TESTS,
        "test_spent.py::test_a_signal_that_comes_while_it_is_charged",
        (Change("release/account.py", "self._entry = new[-1] if new else None", "del new"),),
    ),
    Mutation(
        "a terminal that is gone ends a run after the charge",
        TESTS,
        "test_spent.py::test_a_terminal_that_is_gone_or_full_loses_no_release",
        (
            Change(
                "release/progress.py",
                "with suppress(Exception):\n            say(text)",
                "say(text)",
            ),
            Change(
                "cli/show.py",
                "    with suppress(OSError, ValueError):\n        click.echo(_fit_stderr(text), err=True)",
                "    click.echo(text, err=True)",
            ),
        ),
    ),
    Mutation(
        "what a killed run left stays",
        TESTS,
        "test_scratch.py::test_the_next_run_removes_what_a_killed_one_left",
        (Change("files/scratch.py", "    _remove_abandoned(place)\n", ""),),
    ),
    Mutation(
        "what a living run works with is removed",
        TESTS,
        "test_scratch.py::test_two_runs_at_once_leave_each_other_alone",
        (
            Change(
                "files/scratch.py",
                "fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)\n            _remove(outer)",
                "_remove(outer)",
            ),
        ),
    ),
    Mutation(
        "what a link leads to is removed",
        TESTS,
        "test_scratch.py::test_what_is_not_certainly_an_abandoned_one_stays",
        (Change("files/scratch.py", "seen = outer.lstat()", "seen = outer.stat()"),),
    ),
    Mutation(
        "a log that others can read while it is counted",
        TESTS,
        "test_scratch.py::test_nobody_else_can_look",
        (Change("files/staging.py", "target.touch(mode=0o600)", "target.touch()"),),
    ),
    Mutation(
        "limits: whose entries are cut hangs on how many others have",
        TESTS,
        "test_limits.py::test_neither_other_people_nor_the_order_of_lines_choose",
        (
            Change(
                "logs/entry_limits.py",
                "sum({times}) over (partition by user order",
                "sum({times}) over (order",
            ),
        ),
    ),
    Mutation(
        "limits: entries of the same moment are chosen by their place in the file",
        TESTS,
        "test_limits.py::test_neither_other_people_nor_the_order_of_lines_choose",
        (
            Change(
                "logs/entry_limits.py",
                'ranked = f"select *, {engine.rank_key(key, columns)} as {rank} ',
                'ranked = f"select *, row_number() over () as {rank} ',
            ),
        ),
    ),
    Mutation(
        "limits: a late entry of the same hash takes the place of an early one",
        TESTS,
        "test_limits.py::test_looking_ahead_changes_nothing",
        (
            Change(
                "logs/entry_limits.py",
                'for each in ("user", *moment, rank)',
                'for each in ("user", rank)',
            ),
        ),
    ),
    Mutation(
        "limits: looking ahead misses the last of the first entries",
        TESTS,
        "test_limits.py::test_looking_ahead_changes_nothing",
        (Change("logs/entry_limits.py", "{place} <= {end}", "{place} < {end}"),),
    ),
    Mutation(
        "limits: looking ahead, entries without a moment come first",
        TESTS,
        "test_limits.py::test_looking_ahead_changes_nothing",
        (Change("logs/entry_limits.py", "{2**63 - 1})::hugeint", "{-2**62})::hugeint"),),
    ),
    Mutation(
        "limits: an extra column has none",
        TESTS,
        "test_limits.py::test_a_text_over_the_limit_is_as_if_it_were_not_there",
        (
            Change(
                "logs/open_log.py",
                'f"{text_value(identifier(name), types[name], log)} as',
                'f"{identifier(name)} as',
            ),
            Change(
                "files/limits.py",
                "rows |= long\n            column = without(column, long)",
                "rows |= long",
            ),
        ),
    ),
    Mutation(
        "limits: ids have none",
        TESTS,
        "test_limits.py::test_an_entry_with_an_id_over_the_limit_is_nobodys",
        (
            Change(
                "logs/open_log.py",
                "if kind not in TEXT:\n        return is",
                "if True:\n        return is",
            ),
            Change(
                "files/limits.py",
                "rows |= long\n            column = without(column, long)",
                "rows |= long",
            ),
        ),
    ),
    Mutation(
        "users are counted after some are left out",
        TESTS,
        "test_limits.py::test_users_are_counted_before_any_is_left_out",
        (
            Change(
                "release/checks.py",
                "if goal.users is not None and count_everyone(source) >",
                "from zealous.logs.source import count_users\n"
                "    if goal.users is not None and count_users(source) >",
            ),
        ),
    ),
    Mutation(
        "intervals: as if noise did not decide what is published",
        TESTS,
        "test_intervals.py::test_it_holds_for_every_number_of_users_if_published",
        (Change(_INTERVALS, _CERTAIN, "if True:"),),
    ),
    Mutation(
        "intervals: one count too early",
        TESTS,
        "test_intervals.py::test_it_holds_for_every_number_of_users_if_published",
        (Change(_INTERVALS, _CERTAIN, "if count >= self.certain_from - 1:"),),
    ),
    Mutation(
        "intervals: rules as if their parts had nothing to pass",
        TESTS,
        "test_associations.py::test_the_interval_holds_for_rules_near_the_threshold",
        (Change("release/derived/associations.py", "if self.passed is not None:", "if False:"),),
    ),
    Mutation(
        "logs: one person is two, with a blank and without",
        TESTS,
        "test_log.py::test_the_same_person_in_a_dictionary_and_as_text",
        (Change("files/parquet.py", "if pa.types.is_dictionary(found):", "if False:"),),
    ),
    Mutation(
        "logs: one time that is no number stops the release",
        TESTS,
        "test_log.py::test_a_time_that_is_no_number_stops_nobody",
        (Change("logs/times.py", "isfinite({number}) and {number} between", "{number} between"),),
    ),
]
