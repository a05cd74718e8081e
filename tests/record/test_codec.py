"""release.json is read strictly, quoted in no error, and written byte for byte as ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schema
from records import record_of
from schema import json_schema

from zealous.errors import ReleaseError
from zealous.items import (
    Kind,
    clicks,
    columns,
    itemsets,
    keywords,
    phrase_pairs,
    queries,
    query_clicks,
    query_pairs,
    sequences,
    tail,
)
from zealous.logs.log import Columns
from zealous.planning.plan import plan
from zealous.privacy.guarantee import Indistinguishability, ProbabilisticDP
from zealous.record.codec import decode, encode, to_json
from zealous.record.record import ColumnNames
from zealous.release.schema import read_record

FIXTURES = Path(__file__).parents[1] / "fixtures"
RELEASES = sorted(FIXTURES.glob("*/*/release.json"))
ONE = json.loads((FIXTURES / "0.1.0" / "results" / "release.json").read_text())
SECRET = "her own secret"
Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.parent.name)
def test_kept_releases_are_written_byte_for_byte_as_they_are(path: Path) -> None:
    text = path.read_bytes()
    assert encode(read_record(text.decode())) == text


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.parent.name)
def test_kept_releases_are_of_the_published_schema(path: Path) -> None:
    jsonschema.validate(json.loads(path.read_text()), json_schema())


KINDS: list[list[Kind]] = [
    [
        keywords(3),
        queries(2, fold_words=True, by="land"),
        clicks(1),
        query_pairs(2),
        phrase_pairs(2),
    ],
    [columns("a+b", "c", items_per_user=2, by="land")],
    [*itemsets("a", "b", max_size=3, items_per_user=4, basket="bill")],
    [*sequences("a", max_size=3, items_per_user=4)],
    [queries(2), keywords(3), *tail(3)],
]


@pytest.mark.parametrize("kinds", KINDS)
def test_settings_are_written_in_the_order_of_their_kind(kinds: list[Kind]) -> None:
    goal = ProbabilisticDP(epsilon=1, delta="1e-3", users=5_000)
    found = json.loads(encode(record_of(plan(goal, kinds))))
    for part, kind in zip(found["plan"], kinds, strict=True):
        assert list(part["settings"].items()) == list(kind.settings().items())
    jsonschema.validate(found, json_schema())


@pytest.mark.parametrize("mechanism", ["zealous", "laplace", "gaussian", "pooled"])
def test_all_mechanisms_are_of_the_published_schema(mechanism: str) -> None:
    goal = Indistinguishability(epsilon=1, delta="1e-6")
    planned = plan(goal, [queries(2), query_clicks(2, rates=True)], mechanism=mechanism)
    record = record_of(planned)
    assert read_record(encode(record).decode()) == record
    jsonschema.validate(to_json(record), json_schema())


def test_the_published_schema_is_that_of_the_types() -> None:
    """After a change of the record: python tools/schema.py."""
    assert schema.TARGET.read_text() == schema.text()


def test_the_record_has_the_roles_that_a_log_has() -> None:
    assert ColumnNames.__struct_fields__ == tuple(each.name for each in fields(Columns))


WRONG: list[tuple[Change, str]] = [
    (lambda about: about.update({SECRET: 1}), "it holds 1 key(s) that this version does not know"),
    (lambda about: about.update({f"a` - at `$.{SECRET}": 1}), "it holds 1 key(s)"),
    (lambda about: about["plan"][1].update({f"a` - at `$.{SECRET}": 1}), "plan[1] holds 1 key(s)"),
    (lambda about: about.pop("id"), "id is missing"),
    (lambda about: about.pop("ledger"), "ledger is missing"),
    (lambda about: about.update(ledger=[]), "ledger is not an object"),
    (lambda about: about["ledger"].update(tracked=False), "ledger.tracked is not"),
    (lambda about: about["ledger"].update(tracked=1), "ledger.tracked is not"),
    (lambda about: about.update(ledger={"tracked": True}), "ledger.tracked is not"),
    (lambda about: about["ledger"].update(hash=SECRET), "ledger.hash is not"),
    (lambda about: about["ledger"]["accounts"].pop("all"), "ledger.accounts.all is missing"),
    (lambda about: about.update(created=f"2026-01-01{chr(10)}"), "created is not"),
    (lambda about: about.update(private=SECRET), "private is not what it should be"),
    (lambda about: about.update(private=1), "private is not what it should be"),
    (lambda about: about.update(parameters_from=SECRET), "parameters_from is not"),
    (lambda about: about["guarantee"].update(unit=SECRET), "guarantee.unit is not"),
    (lambda about: about["guarantee"].update(epsilon=True), "guarantee.epsilon is not"),
    (lambda about: about["guarantee"].update(epsilon=10**400), "guarantee.epsilon is not"),
    (lambda about: about["guarantee"].update(users=2**63), "guarantee.users is not"),
    (lambda about: about["plan"][1].update(users=10**400), "plan[1].users is not"),
    (lambda about: about["guarantee"]["exact"].update(delta="1e-6"), "guarantee.exact.delta is"),
    (lambda about: about["guarantee"]["exact"].update(delta="1\n"), "guarantee.exact.delta is"),
    (lambda about: about.update(plan={}), "plan is not a list"),
    (lambda about: about["plan"][1].update(mechanism=SECRET), "plan[1].mechanism is not"),
    (lambda about: about["plan"][1].update(noise=SECRET), "plan[1].noise is not"),
    (lambda about: about["plan"][1].update(select=SECRET), "plan[1].select is not"),
    (lambda about: about["plan"][1].update(tau=1.5), "plan[1].tau is not"),
    (lambda about: about["plan"][1]["settings"].update({SECRET: 1}), "plan[1].settings holds"),
    (lambda about: about["plan"][1]["forecast"]["users_to_appear"].pop("5%"), "5% is missing"),
    (lambda about: about["plan"][2]["public"].pop("name"), "plan[2].public.name is missing"),
    (lambda about: about["plan"][1].update(public=None), "not written as zealous writes it"),
    (lambda about: about.update(planner=None), "not written as zealous writes it"),
    (lambda about: about["columns"].pop("user"), "columns.user is missing"),
    (lambda about: about["columns"].update(password=SECRET), "columns holds"),
    (lambda about: about.update(files={SECRET: {}}), "files[...].parquet is missing"),
    (lambda about: about["files"]["queries"].update(csv="../q.csv"), "files[...].csv is not"),
    (lambda about: about["files"]["queries"].update(rows=SECRET), "files[...].rows is not"),
    (lambda about: about["sha256"].update({SECRET: SECRET}), "sha256[...] is not"),
    (lambda about: about.update(format="zealous release 2"), "not written by a version"),
]


@pytest.mark.parametrize(("change", "told"), WRONG)
def test_what_is_wrong_is_said_and_not_quoted(change: Change, told: str) -> None:
    about = json.loads(json.dumps(ONE))
    change(about)
    with pytest.raises(ReleaseError) as found:
        read_record(json.dumps(about))
    assert told in str(found.value)
    assert SECRET not in str(found.value)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(about, json_schema())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"format": 1, "format": 2}',
        '{"format": NaN}',
        '{"format": "\\ud800"}',
        '{"format": 2.0000000000000000001}',
        '{"format": 1e400}',
        '{"format": 1e-999999999999999999999}',
    ],
)
def test_json_that_readers_may_read_differently_is_none(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the parser's
        decode(text)


@pytest.mark.parametrize("number", ["1e999", "30.0000000000000000001"])
def test_numbers_that_a_float_does_not_hold_are_refused(number: str) -> None:
    text = json.dumps(ONE)
    changed = text.replace('"epsilon": 30.0', f'"epsilon": {number}', 1)
    assert changed != text
    with pytest.raises(ValueError, match="more digits than a number holds"):
        decode(changed)


@pytest.mark.parametrize("kind", ["großer-tee", "鞋"])
def test_names_of_files_may_have_letters_of_any_script(kind: str) -> None:
    about = json.loads(json.dumps(ONE))
    about["files"]["queries"].update(parquet=f"{kind}.parquet", csv=f"{kind}~1.csv")
    assert read_record(json.dumps(about)).files["queries"].parquet == f"{kind}.parquet"
    jsonschema.validate(about, json_schema())
