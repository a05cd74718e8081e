"""Bugs to plant in the ledger: what losses come to, what a cap limits, who may pass it by."""

from __future__ import annotations

from mutations import TESTS, Change, Mutation

_BUDGETS, _STANDING = "ledger/budgets.py", "ledger/cap_spending.py"
_OF, _PROMISES = "test_composed.py::test_", "test_promises.py::test_"

MUTATIONS = (
    Mutation(
        "ledger: composed losses told as probabilistic",
        TESTS,
        f"{_PROMISES}composed_losses_are_indistinguishable_only",
        (Change(_BUDGETS, "probabilistic = not composed and all(", "probabilistic = all("),),
    ),
    Mutation(
        "ledger: a period that nobody declared taken for all days",
        TESTS,
        f"{_PROMISES}a_period_cap_holds_for_periods_that_nobody_declared",
        (
            Change(
                _BUDGETS,
                'return self if within is not None else replace(self, neighbors="replace")',
                "return self",
            ),
        ),
    ),
    Mutation(
        "ledger: what caps limit changed in silence",
        TESTS,
        f"{_PROMISES}what_caps_limit_is_not_changed_in_silence",
        (Change("ledger/cap_changes.py", "if was not in (None, caps.compose):", "if False:"),),
    ),
    Mutation(
        "ledger: the period that leads in sums alone composed",
        TESTS,
        f"{_PROMISES}the_worst_period_of_composed_losses_is_told",
        (
            Change(
                "ledger/book.py",
                "            for each in self._periods(within)\n",
                "            for each in [spent.within]\n",
            ),
        ),
    ),
    Mutation(
        "ledger: replace counted as add-remove",
        TESTS,
        f"{_OF}what_changes_decides_which_loss_counts",
        (
            Change(
                _BUDGETS,
                'return "add-remove" if whole else "replace"',
                'return "add-remove" if whole else charge.neighbors',
            ),
            Change(
                _BUDGETS,
                "charge.losses.for_neighbors(self.relation(charge, change))",
                'charge.losses.for_neighbors("add-remove")',
            ),
        ),
    ),
    Mutation(
        "ledger: an add-remove release counts once where a history changes",
        TESTS,
        f"{_OF}add_remove_is_recomputed_for_a_ledger_of_replace",
        (
            Change(
                _BUDGETS,
                "epsilon = 2 * epsilon if charge.replaced is None else charge.replaced",
                "epsilon = 2 * epsilon if charge.replaced is None else epsilon",
            ),
        ),
    ),
    Mutation(
        "ledger: probabilistic charges recomputed",
        TESTS,
        f"{_OF}probabilistic_charges_are_doubled",
        (
            Change(
                _BUDGETS,
                ' and goal.definition == "indistinguishable"',
                "",
            ),
        ),
    ),
    Mutation(
        "ledger: the exposure of old entries forgotten",
        TESTS,
        f"{_OF}old_entries_enter_as_what_they_stated",
        (
            Change(
                _BUDGETS,
                "Loss.stated(epsilon=cost.epsilon, delta=cost.delta)",
                "Loss.stated(epsilon=cost.epsilon, delta=Fraction(0))",
            ),
        ),
    ),
    Mutation(
        "ledger: releases of everybody left out of a label",
        TESTS,
        f"{_OF}a_person_is_in_the_releases_of_her_label_and_of_everybody",
        (Change(_BUDGETS, "across_releases([*everybody, *each])", "across_releases(each)"),),
    ),
    Mutation(
        "ledger: a period composes other periods away",
        TESTS,
        f"{_OF}a_period_has_the_releases_of_its_days",
        (
            Change(
                _BUDGETS,
                "        by_label: dict[str | None, list[Loss]] = defaultdict(list)\n"
                "        for charge in charges:\n"
                "            if periods_overlap(charge.period, change):",
                "        by_label: dict[str | None, list[Loss]] = defaultdict(list)\n"
                "        for charge in charges:\n"
                "            if charge.period == change:",
            ),
        ),
    ),
    Mutation(
        "ledger: the cap looks at noise alone",
        TESTS,
        f"{_OF}the_last_admissible_release_and_no_other_is_granted",
        (
            Change(
                _STANDING,
                "fits=all(each.fits for each in found),",
                "fits=all(each.epsilon is None or each.epsilon <= limit.epsilon for each in found),",
            ),
        ),
    ),
    Mutation(
        "ledger: whichever currency still has room",
        TESTS,
        f"{_OF}one_currency_alone_decides",
        (
            Change(
                _STANDING,
                "fits=all(each.fits for each in found),",
                "fits=all(each.fits for each in found)\n"
                "        or cap.allows(measure.loss(charges, change)),",
            ),
        ),
    ),
    Mutation(
        "ledger: what was charged is not looked at again",
        TESTS,
        f"{_OF}a_charge_past_a_cap_is_found",
        (
            Change(
                "ledger/consistency.py",
                "if charged:\n        fits = fits and book.fits_caps()",
                "pass",
            ),
        ),
    ),
    Mutation(
        "ledger: a kind of a release left out",
        TESTS,
        "test_account.py::test_each_kind_of_a_release_is_in_its_entry",
        (
            Change(
                "release/charging.py",
                'replace=losses(planned.parts, "replace"),',
                'replace=losses(planned.parts[:1], "replace"),',
            ),
        ),
    ),
    Mutation(
        "ledger: passed by in silence where another is charged",
        TESTS,
        "test_bypass.py::test_a_capped_ledger_is_not_passed_by_in_silence",
        (
            Change(
                "release/charging.py",
                "if not (charged_to and goes_on_in(each, charged_to))",
                "if charged_to is None",
            ),
        ),
    ),
    Mutation(
        "ledger: a copy taken for the ledger",
        TESTS,
        "test_bypass.py::test_a_copy_of_a_capped_ledger_is_another",
        (
            Change(
                "ledger/copies.py",
                "while not here.path.samefile(file):",
                "while here.id != Ledger.open(file).id:",
            ),
        ),
    ),
    Mutation(
        "ledger: one with approvers and no caps passed by",
        TESTS,
        "test_bypass.py::test_a_ledger_with_approvers_is_not_passed_by",
        (
            Change(
                "ledger/book.py",
                "return self.capped() or self.approvers is not None",
                "return self.capped()",
            ),
        ),
    ),
    Mutation(
        "ledger: any signature will do",
        TESTS,
        "test_signatures.py::test_caps_and_voids_need_a_signature",
        (
            Change(
                "ledger/signatures.py",
                "        for name in names:\n            if not _run(",
                "        for name in names or ['anybody']:\n            if name == 'anybody' or not _run(",
            ),
        ),
    ),
    Mutation(
        "ledger: a signature of another plan",
        TESTS,
        "test_signatures.py::test_what_is_signed_is_verified_as_ssh_keygen_does",
        (
            Change(
                "ledger/signatures.py",
                "*files], message).returncode",
                "*files], b'a plan').returncode",
            ),
        ),
    ),
    Mutation(
        "ledger: without ssh-keygen releases are not compared",
        TESTS,
        "test_signatures.py::test_without_the_program_all_but_signatures_is_compared",
        (
            Change(
                "ledger/consistency.py",
                "if unverified is not None and not problems:",
                "if unverified is not None:",
            ),
        ),
    ),
    Mutation(
        "ledger: a copy of a log stops a run",
        TESTS,
        "test_recognition.py::test_a_copy_is_told_and_stops_nothing",
        (
            Change(
                "release/doubts.py",
                "    warn(recognition.doubts(source), say)",
                "    stop_or_tell(recognition.doubts(source), False, say)",
            ),
        ),
    ),
    Mutation(
        "ledger: anybody reads the sketches of logs",
        TESTS,
        "test_recognition.py::test_nothing_of_it_leaves",
        (
            Change(
                "release/known_logs.py",
                "os.open(file, flags, 0o600)",
                "os.open(file, flags, 0o644)",
            ),
            Change("release/known_logs.py", "if found.st_mode & 0o077:", "if False:"),
        ),
    ),
    Mutation(
        "series: the charge of another folder of drafts is gone on with",
        TESTS,
        "test_drafts.py::test_another_charge_or_another_folder_is_charged_anew",
        (
            Change(
                "ledger/book.py",
                "found = charge_as_json(entry.charge), entry.plan, entry.drafts",
                "found = charge_as_json(entry.charge), entry.plan, drafts",
            ),
        ),
    ),
    Mutation(
        "series: what was drawn whole is drawn again",
        TESTS,
        "test_drafts.py::test_a_run_that_ends_anywhere_is_gone_on_with",
        (
            Change(
                "series/drafts.py",
                'if entry.state != "reserved":  # it is in place',
                "if True:  # it is in place",
            ),
        ),
    ),
    Mutation(
        "series: an older copy of the ledger lets a release be drawn twice for one charge",
        TESTS,
        "test_drafts.py::test_what_has_left_is_not_drawn_again_for_an_older_copy_of_the_ledger",
        (Change("series/drafts.py", "        self._forget_id(draft.name)\n", ""),),
    ),
    Mutation(
        "changes: what else was found explains nothing",
        TESTS,
        "test_found_items.py::test_few_of_the_told_changes_of_found_items_are_by_chance",
        (Change("series/comparable.py", "if not self.after.listed:", "if True:"),),
    ),
    Mutation(
        "ledger: the first of several releases is taken for the place of ledgers",
        TESTS,
        "test_ledger_commands.py::test_the_ledger_of_this_folder_is_verified_where_none_is_named",
        (
            Change(
                "cli/ledger/verify.py",
                "if releases and (where / RELEASE).is_file():",
                "if False:",
            ),
        ),
    ),
    Mutation(
        "ledger: to verify one its place must be named",
        TESTS,
        "test_ledger_commands.py::test_the_ledger_of_this_folder_is_verified_where_none_is_named",
        (Change("cli/ledger/place.py", 'type=PLACE, default=".")', "type=PLACE)"),),
    ),
    Mutation(
        "changes: noise too unlikely to be summed explains nothing",
        TESTS,
        "test_p_values.py::test_no_fall_is_impossible",
        (
            Change(
                "series/p_values.py",
                "np.minimum(found + UNLIKELY, 1.0)\n    found =",
                "np.minimum(found, 1.0)\n    found =",
            ),
            Change(
                "series/p_values.py",
                "found[rows] = np.maximum(found[rows], here)\n"
                "    return np.minimum(found + UNLIKELY, 1.0)",
                "found[rows] = np.maximum(found[rows], here)\n    return np.minimum(found, 1.0)",
            ),
        ),
    ),
)
