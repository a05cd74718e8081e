"""Names of places as they may be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

import zealous as z
from zealous.errors import LogError
from zealous.files.passwords import without_password

SECRET = "S3cret"
SHOWN = {
    "postgresql://ann:S3cret@host/db": "postgresql://ann@host/db",
    "postgresql://ann:123/S3cret@host/db": "postgresql://ann@host/db",
    "postgresql://ann:12?S3cret@host/db": "postgresql://ann@host/db",
    "postgresql://ann:S3@cret#S3cret@host/db": "postgresql://ann@host/db",
    "postgresql:/ann:S3cret@h/db": "postgresql:/ann@h/db",
    "postgresql:ann:S3cret@h/db": "postgresql@h/db",
    "postgresql%3A%2F%2Fann%3AS3cret%40h": "postgresql://ann@h",
    "jdbc:postgresql://h/db?password=S3cret&x=1": "jdbc:postgresql://h/db?x=1",
    "postgresql://h/db?x=1&pass%77ord=S3cret": "postgresql://h/db?x=1",
    "postgresql://h/db?sslPASSWORD%3DS3cret": "postgresql://h/db",
    "sqlserver://h;user=ann;Pwd=S3cret": "sqlserver://h;user=ann",
    "host=h password = 'a? S3cret'": "host=h",
}
KEPT = ["logs/2026-01-31T12:00.csv", "s3://bucket/a%20b?x.csv", "ann@host/log.csv", "C:\\a@b\\c"]


def test_no_password_is_shown_however_it_is_mistyped() -> None:
    assert {given: without_password(given) for given in SHOWN} == SHOWN
    assert [without_password(each) for each in KEPT] == KEPT


@pytest.mark.parametrize("given", [each for each in SHOWN if "://" not in each])
def test_a_log_that_is_not_found_is_named_without(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LogError, match="no log found at ") as raised:
        z.read_log(given)
    assert SECRET not in str(raised.value)
