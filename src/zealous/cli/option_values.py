"""Values as people write them on the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import click

from zealous.engines.engine import ENGINES
from zealous.errors import UsageError
from zealous.files.places import Place, place_of
from zealous.privacy.guarantee import exact_fraction


class _Place(click.ParamType[Place]):
    """A directory, here or in an object store."""

    name = "place"

    def convert(self, value: Any, *_: object) -> Place:
        return place_of(value)


class _Number(click.ParamType[int]):
    """A whole number as people write it: 500000, 500,000, 500_000, 500k, 2m."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, _: object) -> int:
        if isinstance(value, int):
            return value
        digits = str(value).strip().lower().replace(",", "").replace("_", "")
        times = {"k": 10**3, "m": 10**6}.get(digits[-1:], 1)
        try:
            number = exact_fraction(digits[:-1] if times > 1 else digits, "number") * times
        except UsageError:
            number = Fraction(1, 2)
        if number.denominator != 1:
            self.fail(f"{value!r} is not a valid integer.", param)
        return int(number)


class _EngineName(click.Choice[str]):
    """One of the engines, also of those that other packages add."""

    def convert(self, value: Any, *context: Any) -> str:
        return str(value) if value in ENGINES else super().convert(value, *context)


_PATH = click.Path(path_type=Path)
path_option = partial(click.option, type=_PATH)
path_argument = partial(click.argument, type=_PATH)
PLACE = _Place()
NUMBER = _Number()
ENGINE_NAME = _EngineName(list(ENGINES))


def count_option(
    *names: str, least: int, default: int, description: str, metavar: str = "N"
) -> Callable[[Any], Any]:
    """An option that takes a whole number of at least `least` and shows its default."""
    return click.option(
        *names,
        type=click.IntRange(min=least),
        default=default,
        show_default=True,
        metavar=metavar,
        help=description,
    )


def whole_number(text: str | None, name: str) -> int:
    """Read a whole number."""
    try:
        return int(text or "")
    except ValueError:
        raise UsageError(f"{name} must be a whole number of at least 1") from None


def pairs(text: str, option: str) -> dict[str, str]:
    """Read NAME=VALUE,NAME=VALUE."""
    parts = [part.strip().rpartition("=") for part in text.split(",")]
    if any(not name or not value for name, _, value in parts):
        raise UsageError(f"{option} must look like keywords=20,queries=5")
    return {name: value for name, _, value in parts}


def items_per_user_from(text: str, names: Sequence[str]) -> dict[str, int]:
    """The most items of a user, by name of kind."""
    if "=" not in text:
        if "," in text:
            numbers = zip(names, text.split(","), strict=False)
            each = ",".join(f"{name}={number.strip()}" for name, number in numbers)
            raise UsageError(
                f"--items-per-user must say which kind a number is for, such as {each}"
            )
        return dict.fromkeys(names, whole_number(text, "--items-per-user"))
    found = pairs(text, "--items-per-user")
    if set(found) != set(names):
        raise UsageError("--items-per-user must name each of the --items once: queries=5,clicks=3")
    return {name: whole_number(number, "--items-per-user") for name, number in found.items()}


def by_kind(texts: Sequence[str], names: Sequence[str], option: str) -> dict[str, str]:
    """Read FILE or KIND=FILE, by name of kind."""
    found: dict[str, str] = {}
    for text in texts:
        kinds = [name for name in names if text.startswith(f"{name}=")]
        name = kinds[0] if kinds else names[0]
        if name in found or (not kinds and len(names) > 1):
            raise UsageError(f"{option} must say which kind a file is for, once each: KIND=FILE")
        found[name] = text.removeprefix(f"{name}=")
    return found
