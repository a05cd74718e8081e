"""The draft of a registry entry: YAML that parses, with the registry's own field names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from bundles import GOAL, TRACKED, made
from records import changed

from zealous.items import columns
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
from zealous.record.record import Record
from zealous.release.bundle import Release
from zealous.release.text.registry_entry import registry
from zealous.verification.review import review

# The registry's schema (opendp/deployments-registry-data, commit 3e9c812) allows these and refuses
# any other.
FIELDS = {
    "basic": {
        "name", "data_curators", "description", "intended_use", "data_product_type",
        "data_product_region", "data_product_sector", "publication_date",
    },
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {
        "privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details",
    },
    "deployment_model": {
        "model_name", "model_name_details", "actors", "release_type", "release_type_details",
        "data_source_type", "data_source_type_details", "access_type", "access_type_details",
    },
    "accounting": {"post_processing", "composition"},
    "implementation": {
        "preprocessing_and_hyperparameter_tuning", "mechanisms", "justification",
    },
    "administrative": {"sources", "notes", "registry_authors"},
}  # fmt: skip
# What it allows of some, where it does not allow any text.
ALLOWED = {
    ("basic", "data_product_type"): {
        "Summary statistics",
        "Machine learning model",
        "Dataset",
        "Synthetic data",
        "Interactive API",
        "SQL queries",
    },
    ("dp_variant", "variant_name"): {
        "Pure DP",
        "Approximate DP",
        "Zero-concentrated DP",
        "Renyi DP",
        "Custom",
    },
    ("deployment_model", "model_name"): {"Local", "Central", "Shuffle", "Federated"},
    ("deployment_model", "release_type"): {"One release", "Many releases"},
    ("deployment_model", "data_source_type"): {"Static", "Dynamic"},
    ("deployment_model", "access_type"): {"Interactive", "Non-interactive"},
}
REQUIRED = FIELDS["basic"] - {"data_product_sector"}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return made(tmp_path_factory.mktemp("log"))


def parsed(record: Record) -> Any:
    return yaml.safe_load(registry(record))["deployment"]


def test_the_fields_are_the_registry_s(release: Release) -> None:
    entry = yaml.safe_load(registry(release.record))
    assert entry.keys() == {"url_slug", "status", "tier", "deployment"}
    assert (entry["status"], entry["tier"]) == ("Draft", 3)
    assert entry["deployment"].keys() == FIELDS.keys()
    for section, names in FIELDS.items():
        assert entry["deployment"][section].keys() <= names
    assert entry["deployment"]["basic"].keys() >= REQUIRED
    for record in (release.record, changed(release.record, ledger=TRACKED, period="2026-03")):
        _check_values(parsed(record))


def _check_values(entry: Any) -> None:
    """Texts where the schema has texts, and of some only those that it lists."""
    for section, values in entry.items():
        for name, value in values.items():
            allowed = ALLOWED.get((section, name))
            assert allowed is None or value in allowed
            if name in ("data_curators", "registry_authors"):
                assert value
                assert all(isinstance(each, str) for each in value)
            elif name != "privacy_parameters":
                assert isinstance(value, str)


def test_what_publisher_toml_says(release: Release) -> None:
    said = {
        "title": "Searches, 2026",
        "publisher": "A library",
        "purpose": "Research",
        "region": "EU",
    }
    record = changed(release.record, publisher=said)
    entry = yaml.safe_load(registry(record))
    assert entry["url_slug"] == "searches-2026"
    basic = entry["deployment"]["basic"]
    assert (basic["name"], basic["data_curators"]) == ("Searches, 2026", ["A library"])
    assert (basic["intended_use"], basic["data_product_region"]) == ("Research", "EU")
    _check_values(entry["deployment"])


def test_numbers_stay_numbers(tmp_path: Path) -> None:
    goal = Indistinguishability(epsilon="0.5", delta="1e-6", users=50_000, neighbors="add-remove")
    loss = parsed(made(tmp_path, goal).record)["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": 0.5, "delta": 1e-6}
    assert isinstance(loss["privacy_parameters"]["delta"], float)
    assert "At most 50,000 users" in loss["privacy_parameters_details"]
    tiny = ProbabilisticDP(epsilon="1e20", delta="1e-300", users=100)
    huge = parsed(made(tmp_path, tiny).record)["privacy_loss"]["privacy_parameters"]
    assert huge == {"epsilon": 1e20, "delta": 1e-300}


@pytest.mark.parametrize(
    ("goal", "variant"),
    [(GOAL, "Custom"), (Indistinguishability(epsilon=400, delta="0.5"), "Approximate DP")],
)
def test_the_variant(goal: Any, variant: str, tmp_path: Path) -> None:
    entry = parsed(made(tmp_path, goal).record)
    assert entry["dp_variant"]["variant_name"] == variant
    details = entry["privacy_loss"]["privacy_parameters_details"]
    assert ("implies (epsilon, delta)-approximate" in details) == (variant == "Custom")
    assert ("a declared upper bound" in details) == (goal.users is not None)


def test_unit_mechanism_composition_and_tuning(tmp_path: Path) -> None:
    goal = ProbabilisticDP(epsilon=400, delta="0.5", users=1_000, unit="user-day")
    entry = parsed(made(tmp_path, goal).record)
    assert entry["privacy_loss"]["privacy_unit"] == "User-day-level"
    implementation = entry["implementation"]
    assert "discrete Laplace" in implementation["mechanisms"]
    assert "keywords: at most 6 items, epsilon 100" in implementation["mechanisms"]
    assert "Epsilons add and deltas add" in entry["accounting"]["composition"]
    assert "did not state" in implementation["preprocessing_and_hyperparameter_tuning"]
    assert "not accounted for" in entry["dp_variant"]["unprotected_quantities"]
    assert entry["deployment_model"]["model_name"] == "Central"


def test_the_budget(release: Release) -> None:
    model = parsed(release.record)["deployment_model"]
    assert model["release_type"] == "One release"
    assert "budget not tracked" in model["release_type_details"]
    model = parsed(changed(release.record, ledger=TRACKED, period="2026-03"))["deployment_model"]
    assert model["release_type"] == "Many releases"
    assert model["data_source_type"] == "Dynamic"
    assert (
        "Over all releases (7 releases): epsilon 14, delta 0.007, cap epsilon 24"
        in (model["release_type_details"])
    )


def test_the_budget_names_its_unit_neighbours_and_period(release: Release) -> None:
    def told(**changes: Any) -> str:
        record = changed(release.record, ledger={**TRACKED, **changes}, period="2026-Q1")
        return str(parsed(record)["deployment_model"]["release_type_details"])

    assert "the budget of one user, neighbours: replace (entry 7)" in told()
    assert "In 2026-03, the most charged period (1 release): epsilon 2" in told()
    assert "The ledger accounts" not in told()
    assert "The ledger accounts for one user's day" in told(unit="user-day")
    assert "The ledger accounts for add-remove neighbours" in told(neighbors="add-remove")
    quarter = {**TRACKED["accounts"]["period"], "within": "2026-Q1"}
    accounts = {**TRACKED["accounts"], "period": quarter}
    assert "In 2026-Q1, the period of this release (1 release)" in told(accounts=accounts)


def test_what_only_the_publisher_knows_is_left_to_her(release: Release) -> None:
    entry = parsed(release.record)
    for value in (
        entry["basic"]["name"],
        entry["basic"]["data_curators"][0],
        entry["basic"]["intended_use"],
        entry["implementation"]["justification"],
    ):
        assert value == "to be filled in by the publisher"


def test_a_child_tells_its_post_processing(tmp_path: Path) -> None:
    made(tmp_path).write(tmp_path / "parent")
    child = review(tmp_path / "parent", flag_pii=True)
    entry = parsed(child.release.record)
    assert "filtered child" in entry["accounting"]["post_processing"]
    assert "look like personal data" in entry["accounting"]["post_processing"]
    assert entry["dp_variant"]["variant_name"] == "Approximate DP"


def test_no_text_can_break_out_of_its_place(tmp_path: Path) -> None:
    odd = "x\": y\n- z #\u2028\x85\x7f\ufeff\U000e0001 😀 \\ ' {a: b} \t end"
    release = made(tmp_path, kinds=[columns("query", items_per_user=3)])
    text = registry(changed(release.record, period=odd))
    assert yaml.safe_load(text)["deployment"]["basic"]["description"].endswith(f"Period: {odd}.")
    assert sum(line.startswith("- z") for line in text.splitlines()) == 0
