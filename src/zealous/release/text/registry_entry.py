"""A draft entry for the OpenDP deployments registry: registry.yaml of a release.

The fields are those of the registry's schema (github.com/opendp/deployments-registry-data). What
only the publisher can know says so, and the registry's own check refuses it until it is filled in.
Scalars are quoted as in JSON, which YAML reads, so that writing needs no library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from zealous.privacy.guarantee import UNITS, format_number
from zealous.privacy.promise import promise
from zealous.record.record import CapRecord, LedgerStamp, Record
from zealous.release.text import method_wording as wording
from zealous.release.text.readme import (
    COUNTED,
    NOT_TRACKED,
    chosen,
    counted_otherwise,
    filtered,
    period_account,
    pure,
    stamps,
)

_TO_FILL = "to be filled in by the publisher"
_VARIANT = {"probabilistic": "Custom", "indistinguishable": "Approximate DP"}


def registry(record: Record) -> str:
    """The text of registry.yaml, made from release.json and nothing else."""
    head = [
        "# A draft entry for the OpenDP deployments registry, made by zealous.",
        f"# Search for '{_TO_FILL}' before you submit it.",
        *(f"# {each}" for each in stamps(record)),
    ]
    entry = {
        "url_slug": _TO_FILL,
        "deployment": {
            "basic": _basic(record),
            "dp_variant": _variant(record),
            "privacy_loss": _privacy_loss(record),
            "deployment_model": _model(record),
            "implementation": _implementation(record),
            "administrative": {
                "status": "Draft",
                "registry_authors": [_TO_FILL],
                "tier": 3,
            },
        },
    }
    return "\n".join([*head, *_yaml(entry)]) + "\n"


def _basic(record: Record) -> dict[str, Any]:
    tables = ", ".join(f"{kind} ({each.rows:,} rows)" for kind, each in record.files.items())
    period = f" Period: {record.period}." if record.period else ""
    return {
        "name": _TO_FILL,
        "data_curators": [
            {
                "data_curator_name": _TO_FILL,
                "data_curator_type": f"{_TO_FILL}: Government, Industry or Nonprofit",
            }
        ],
        "description": "Frequent items with noisy counts of the "
        f"{COUNTED[record.guarantee.unit]} that hold them: {tables}.{period}",
        "intended_use": _TO_FILL,
        "data_product_type": "Summary statistics",
        "data_product_region": _TO_FILL,
        "publication_date": record.created,
    }


def _variant(record: Record) -> dict[str, Any]:
    unprotected = [
        "None of the published figures. The parameters, the declared number of "
        f"{COUNTED[record.guarantee.unit]} and the selection key are public and do not depend "
        "on the data."
    ]
    if record.parameters_from in ("this-log", "unstated"):
        unprotected = [
            f"The parameters were chosen {chosen(record)}; what they reveal is not accounted for."
        ]
    if not record.private:
        unprotected.insert(0, "Everything: the noise was made with a fixed seed.")
    return {
        "variant_name": "Pure DP"
        if pure(record.guarantee)
        else _VARIANT[record.guarantee.definition],
        "data_domain": "Logs of entries with a user id. From each "
        f"{record.guarantee.unit} at most a fixed number of distinct items is counted.",
        "unprotected_quantities": " ".join(unprotected),
    }


def _privacy_loss(record: Record) -> dict[str, Any]:
    goal = record.guarantee
    units = COUNTED[goal.unit]
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
    if goal.users is not None:
        loss["number_of_privacy_units"] = goal.users
    loss["privacy_parameters"] = {"epsilon": goal.epsilon}
    if not pure(goal):
        loss["privacy_parameters"]["delta"] = goal.delta
    loss["privacy_parameters_details"] = (
        f"{goal.title}. {promise(goal)}"
        + (custom if goal.definition == "probabilistic" and not pure(goal) else "")
        + (
            f" The number of {units} is a declared upper bound, never counted from the data."
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
        "release_type_details": _spent(record, entry),
        "data_source_type": "Dynamic" if record.period else f"{_TO_FILL}: Static or Dynamic",
        "access_type": "Non-interactive",
    }


def _spent(record: Record, entry: LedgerStamp | None) -> str:
    if entry is None:
        return f"{NOT_TRACKED}: other releases from the same people are not known."
    said = counted_otherwise(record, entry)
    for title, account, cap in (
        (period_account(record, entry), entry.accounts.period, entry.caps.period),
        ("over all releases", entry.accounts.all, entry.caps.all),
    ):
        begun = f"{title[0].upper()}{title[1:]}"
        said.append(
            f"{begun} ({account.releases}): epsilon {format_number(account.epsilon)}, "
            f"delta {format_number(account.delta)}, " + _cap(cap)
        )
    return " ".join(
        [
            f"A ledger tracks the budget of {UNITS[entry.unit]}, neighbours: "
            f"{entry.neighbors} (entry {entry.entry}).",
            *said,
        ]
    )


def _cap(cap: CapRecord | None) -> str:
    caps = (("epsilon", cap.epsilon), ("delta", cap.delta)) if cap else ()
    given = [f"{name} {format_number(value)}" for name, value in caps if value is not None]
    return f"cap {', '.join(given)}." if given else "no cap."


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
    after = "Rows are sorted by the published count, then by item."
    if record.review is not None:
        rules = "; ".join(rule for each in record.reviews() for rule in each.rules)
        after += f" {filtered(record)} Rules: {rules}."
    return {
        "preprocessing_and_hyperparameter_tuning": "Cleaning rules were fixed beforehand. The "
        f"parameters were chosen {chosen(record)}.",
        "mechanisms": " ".join(
            [
                *dict.fromkeys(map(wording.method, plan)),
                f"{parts}. zealous {record.software.version}.",
            ]
        ),
        "composition": "Epsilons add and deltas add over the tables of the release and over "
        "releases from the same people; the stated numbers are the total of this release.",
        "post_processing": after,
        "justification": _TO_FILL,
        "utility": "In 95 of 100 cases, for published items, "
        + "; ".join(
            f"{part.kind}: counts are off by at most {wording.off_by(part)}" for part in plan
        ),
        "additional_information": f"Release {record.id}.",
    }


def _yaml(value: Mapping[str, Any], indent: str = "") -> list[str]:
    lines = []
    for key, each in value.items():
        if isinstance(each, Mapping):
            lines += [f"{indent}{key}:", *_yaml(each, indent + "  ")]
        elif isinstance(each, list):
            lines.append(f"{indent}{key}:")
            for item in each:
                inner = _yaml(item) if isinstance(item, Mapping) else [_scalar(item)]
                lines += [
                    f"{indent}  {'- ' if number == 0 else '  '}{line}"
                    for number, line in enumerate(inner)
                ]
        else:
            lines.append(f"{indent}{key}: {_scalar(each)}")
    return lines


def _scalar(value: str | int | float) -> str:
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(each if each.isprintable() else _escaped(each) for each in quoted)
    # YAML 1.1 takes 1e-06 for text: a float has a point.
    return re.sub(r"^(-?\d+)e", r"\1.0e", repr(value))


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
