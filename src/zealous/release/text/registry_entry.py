"""A draft entry for the OpenDP deployments registry: registry.yaml of a release.

The fields are those of the registry's schema (github.com/opendp/deployments-registry-data, commit
3e9c812 of 2026-07-15), and the entry is valid by it. What only the publisher can know comes from
publisher.toml, or says that it is to be filled in.
"""

from __future__ import annotations

import re
from typing import Any

from zealous.planning.parameter_source import PARAMETERS_FROM
from zealous.privacy.guarantee import UNIT_PLURALS, UNITS, format_number
from zealous.privacy.promise import promise
from zealous.record.record import Record
from zealous.release.text import method_wording as wording
from zealous.release.text.claims import deltas, leading_claim
from zealous.release.text.readme import (
    budget_spent_text,
    filtered_text,
    has_no_delta,
    parameter_source_text,
    prominent_notes,
    publisher_facts,
)
from zealous.release.text.yaml import yaml_lines

_TO_FILL = "to be filled in by the publisher"
_VARIANT = {"probabilistic": "Custom", "indistinguishable": "Approximate DP"}


def registry(record: Record) -> str:
    """The text of registry.yaml, made from release.json and nothing else."""
    head = [
        "# A draft entry for the OpenDP deployments registry, made by zealous.",
        f"# Search for '{_TO_FILL}' before you submit it.",
        *(f"# {each}" for each in prominent_notes(record)),
    ]
    entry = {
        "url_slug": _slug(record),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": _basic_fields(record),
            "dp_variant": _variant_fields(record),
            "privacy_loss": _privacy_loss(record),
            "deployment_model": _model(record),
            "accounting": _accounting(record),
            "implementation": _implementation(record),
            "administrative": {
                "notes": _notes(record),
                "registry_authors": [_stated_text(record, "publisher")],
            },
        },
    }
    return "\n".join([*head, *yaml_lines(entry)]) + "\n"


def _basic_fields(record: Record) -> dict[str, Any]:
    tables = ", ".join(f"{kind} ({each.rows:,} rows)" for kind, each in record.files.items())
    period = f" Period: {record.period}." if record.period else ""
    return {
        "name": _stated_text(record, "title"),
        "data_curators": [_stated_text(record, "publisher")],
        "description": "Frequent items with noisy counts of the "
        f"{UNIT_PLURALS[record.guarantee.unit]} that hold them: {tables}.{period}",
        "intended_use": _stated_text(record, "purpose"),
        "data_product_type": "Summary statistics",
        "data_product_region": _stated_text(record, "region"),
        "publication_date": record.created,
    }


def _variant_fields(record: Record) -> dict[str, Any]:
    unprotected = [
        "None of the published figures. The parameters, the declared number of "
        f"{UNIT_PLURALS[record.guarantee.unit]} and the selection key are public and do not depend "
        "on the data."
    ]
    if not PARAMETERS_FROM[record.parameters_from].covered:
        unprotected = [
            f"The parameters were chosen {parameter_source_text(record)}; what they reveal is not "
            "accounted for."
        ]
    if not record.private:
        unprotected.insert(0, "Everything: the noise was made with a fixed seed.")
    return {
        "variant_name": "Pure DP"
        if has_no_delta(record.guarantee)
        else _VARIANT[leading_claim(record).definition],
        "data_domain": "Logs of entries with a user id. From each "
        f"{record.guarantee.unit} at most a fixed number of distinct items is counted.",
        "unprotected_quantities": " ".join(unprotected),
    }


def _privacy_loss(record: Record) -> dict[str, Any]:
    goal = leading_claim(record)
    units = UNIT_PLURALS[goal.unit]
    custom = (
        " Probabilistic differential privacy: outside a set of outputs of probability at most "
        "delta, common to all neighbours, the odds move by at most exp(epsilon). It implies "
        "(epsilon, delta)-approximate differential privacy with the same numbers."
    )
    loss: dict[str, Any] = {
        "privacy_unit": f"{goal.unit.capitalize()}-level",
        "privacy_unit_details": f"Protected as a whole is {UNITS[goal.unit]}. "
        f"Neighbours: {goal.neighbors}. {' '.join(record.assumptions)}",
    }
    loss["privacy_parameters"] = {"epsilon": goal.epsilon}
    if not has_no_delta(goal):
        loss["privacy_parameters"]["delta"] = goal.delta
    loss["privacy_parameters_details"] = (
        f"{goal.title}. {promise(goal)} With these parameters {deltas(record)}"
        + (custom if goal.definition == "probabilistic" and not has_no_delta(goal) else "")
        + (
            f" At most {goal.users:,} {units}: a declared upper bound, never counted from the data."
            if goal.users is not None
            else ""
        )
    )
    return loss


def _model(record: Record) -> dict[str, Any]:
    entry = record.ledger
    many = bool(record.period) or bool(entry and entry.accounts.all.releases > 1)
    return {
        "model_name": "Central",
        "actors": "The publisher holds the log and is trusted with it and with the machine that "
        "adds the noise. Recipients are not trusted: anybody may hold the whole release.",
        "release_type": "Many releases" if many else "One release",
        "release_type_details": budget_spent_text(record),
        **({"data_source_type": "Dynamic"} if record.period else {}),
        "access_type": "Non-interactive",
    }


def _implementation(record: Record) -> dict[str, Any]:
    plan = record.plan
    parts = "; ".join(
        f"{part.kind}: at most {part.items_per_user} items, "
        f"epsilon {format_number(part.epsilon)}, delta {format_number(part.delta)}, "
        f"scale {format_number(part.scale)}, "
        + (
            wording.threshold(part)
            if part.tau_prime is None
            else f"tau {part.tau}, tau' {part.tau_prime}"
        )
        for part in plan
    )
    return {
        "preprocessing_and_hyperparameter_tuning": "The cleaning rules and the "
        f"parameters were chosen {parameter_source_text(record)}.",
        "mechanisms": " ".join(
            [
                *dict.fromkeys(map(wording.method, plan)),
                f"{parts}. zealous {record.software.version}.",
            ]
        ),
        "justification": _TO_FILL,
    }


def _accounting(record: Record) -> dict[str, Any]:
    after = "Rows are sorted by the published count, then by item."
    if record.review is not None:
        rules = "; ".join(rule for each in record.reviews() for rule in each.rules)
        after += f" {filtered_text(record)} Rules: {rules}."
    added = "Epsilons add and deltas add over the tables of the release and over releases from "
    if record.losses_compose():
        added = "The losses of the tables compose, and those of releases from "
    return {
        "composition": f"{added}the same people; the stated numbers are the total of this release.",
        "post_processing": after,
    }


def _notes(record: Record) -> str:
    most = (f"{part.kind}: at most {wording.noise_at_most(part)}" for part in record.plan)
    known = [f"{name}: {value}." for name, value in publisher_facts(record)]
    return " ".join(
        [
            f"Release {record.id}.",
            *known,
            f"Noise on the counts of published items, in 95 of 100 cases: {'; '.join(most)}.",
        ]
    )


def _stated_text(record: Record, name: str) -> str:
    """What the publisher says, or that something is to be said."""
    return (record.publisher and getattr(record.publisher, name)) or _TO_FILL


def _slug(record: Record) -> str:
    """A name for a stable address, from the title."""
    return re.sub(r"[^a-z0-9]+", "-", _stated_text(record, "title").lower()).strip("-") or "release"
