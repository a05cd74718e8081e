"""Things that register themselves: each name once, ours first, and no silent failure."""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

import zealous as z
from zealous.audit.setting import SETTINGS
from zealous.engines.engine import ENGINES
from zealous.errors import UsageError
from zealous.items import KINDS, Kind, kind_by_name, parse_kinds
from zealous.items.rare_queries import Lengths
from zealous.logs.log import FORMATS, Columns, Format, read_log
from zealous.mechanisms.choose import MECHANISMS
from zealous.mechanisms.domain import Domain
from zealous.mechanisms.public_files import PublicInput
from zealous.privacy.guarantee import Guarantee, Indistinguishability, ProbabilisticDP
from zealous.registry import Registry
from zealous.study.anonymity import METHODS
from zealous.study.measures.measured import MEASURES

GOALS: tuple[Guarantee, ...] = (
    Indistinguishability(epsilon=1, delta="1e-6"),
    Indistinguishability(epsilon=1, delta=0),
    ProbabilisticDP(epsilon=1, delta="1e-3", users=1000),
)


@pytest.fixture
def things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[str]:
    """A registry of texts, of a package with one module."""
    package = tmp_path / "some_things"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from zealous.registry import Registry\n"
        "THINGS = Registry('some_things', lambda text: text.split()[0], first=['last'])\n"
    )
    (package / "one.py").write_text(
        "from some_things import THINGS\nTHINGS.register('b two')\nTHINGS.register('last')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import some_things  # type: ignore[import-not-found]

    found: Registry[str] = some_things.THINGS
    return found


def test_modules_are_found_and_put_into_order(things: Registry[str]) -> None:
    things.register("a one")
    assert list(things) == ["last", "a", "b"]
    assert things["b"] == "b two"


def test_nothing_takes_the_place_of_what_is_there() -> None:
    registry: Registry[str] = Registry("zealous.noise", str)
    registry.register("one")
    with pytest.raises(UsageError, match="two that are called 'one'"):
        registry.register("one")


def test_no_format_takes_over_the_files_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = Format(
        name="theirs",
        layout=FORMATS["csv"].layout,
        columns=Columns(user="row"),
        suffixes=(".theirs", ".csv"),
    )
    monkeypatch.setitem(FORMATS._things, "theirs", theirs)
    (tmp_path / "log.csv").write_text("row,user,query\n1,anna,tea\n")
    with pytest.raises(UsageError, match=r"csv and theirs both claim files that end in \.csv"):
        read_log(tmp_path / "log.csv")


def test_no_kind_answers_to_the_name_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    class Theirs(Lengths):
        label = "aaa"

        @classmethod
        def fields_in_name(cls, name: str, item: Sequence[str] | None) -> dict[str, Any] | None:
            return {} if name in ("aaa", "lengths") else None

    assert len(KINDS) > 1
    monkeypatch.setitem(KINDS._things, "aaa", Theirs)
    assert isinstance(kind_by_name("aaa", 1), Theirs)
    for find in (kind_by_name, parse_kinds):
        with pytest.raises(UsageError, match="several kinds of items answer to 'lengths'"):
            find("lengths", 1)


def test_a_package_that_cannot_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[zealous.noise]\nx = broken_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    registry: Registry[str] = Registry("zealous.noise", str)
    for _ in range(2):  # a second look does not take what is missing for nothing
        with pytest.raises(UsageError, match="broken_module, which another package adds"):
            list(registry)


def test_all_that_is_ours_is_registered() -> None:
    sizes = {each.package: len(each) for each in (MECHANISMS, KINDS, METHODS, SETTINGS)}
    assert sizes == {
        "zealous.mechanisms": 14,
        "zealous.items": 19,
        "zealous.study.anonymity": 7,
        "zealous.audit.settings": 10,
    }
    assert not MEASURES


def test_at_most_one_mechanism_is_best() -> None:
    kind = kind_by_name("queries", 1)
    follows = {each.required_kind(kind) for each in MECHANISMS.values()}
    files = {each.public_input for each in MECHANISMS.values()}
    families = {each.family for each in MECHANISMS.values()}
    for goal, m, used, family, before in product(GOALS, (1, 5), files, families, follows):
        best = [
            each.name
            for each in MECHANISMS.values()
            if (each.public_input, each.family, each.required_kind(kind)) == (used, family, before)
            and each.best_for(goal, m)
        ]
        assert len(best) <= 1, best


def test_a_mechanism_brings_its_own_public_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Catalogue(Domain):
        name = "of-catalogue"
        public_input = PublicInput(name="catalogue", help="All products.")

    monkeypatch.setitem(MECHANISMS._things, "of-catalogue", Catalogue)
    (tmp_path / "products.txt").write_text("tea\ncoffee\n")
    planned = z.plan(GOALS[0], z.queries(1), catalogue=tmp_path / "products.txt")
    assert planned.mechanisms() == {"queries": "of-catalogue"}
    assert planned.public()["queries"].use == "catalogue"
    with pytest.raises(UsageError, match=r"there is no catalog to give.*Did you mean catalogue"):
        z.plan(GOALS[0], z.queries(1), catalog=tmp_path / "products.txt")


def _asks_which(node: ast.AST, names: Set[str], classes: Set[str]) -> bool:
    """Whether code compares a name, looks it up in a table that it wrote, or asks for a class."""

    def is_name(each: ast.AST | None) -> bool:
        if isinstance(each, ast.Tuple | ast.List | ast.Set):
            return any(map(is_name, each.elts))
        return isinstance(each, ast.Constant) and each.value in names

    match node:
        case ast.Compare():
            return any(map(is_name, (node.left, *node.comparators)))
        case ast.MatchValue():
            return is_name(node.value)
        case ast.MatchClass(cls=ast.Name(id=name)):
            return name in classes
        case ast.Dict(keys=keys):  # of which a name or two may mean something else
            return sum(map(is_name, keys)) >= max(2, len(keys) / 2)
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass")):
            used = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
            return bool(used & classes)
    return False


def _names_one(node: ast.AST, names: Set[str]) -> bool:
    """Whether code takes one out of a table by its name, or hands its name on."""

    def is_name(each: ast.AST) -> bool:
        return isinstance(each, ast.Constant) and each.value in names

    match node:
        case ast.Subscript(value=ast.Name(id="Literal")):
            return False
        case ast.Subscript(slice=key):
            return is_name(key)
        case ast.Call(func=ast.Attribute(attr="get" | "pop" | "fromkeys"), args=args):
            return any(map(is_name, args))
        case ast.keyword(arg="mechanism" | "method" | "engine" | "kind" | "kinds", value=value):
            return any(map(is_name, ast.walk(value)))
    return False


def test_nothing_else_asks_which_mechanism_or_kind_it_has() -> None:
    """By name or by class, outside their packages and the paper's own figures and data."""
    roles = {each.name for each in fields(Columns)}  # keywords is one too
    names = {*MECHANISMS, *KINDS, *METHODS, *ENGINES, *FORMATS} - roles
    homonyms = {"people", "listed"}  # whom a ledger is about; a column of tables in between
    # The delta that nobody said, while nothing else is known of what is published.
    known = ["cli/options/goal.py: given.get('domain')"]
    classes = {
        each.__name__
        for registry in (MECHANISMS, KINDS, ENGINES)
        for thing in registry.values()
        for each in thing.__mro__
        if each.__module__.startswith("zealous.") and each is not Kind
    }
    own = ("mechanisms", "items", "engines", "audit/settings", "study/claims", "synthetic")
    source = ROOT / "src" / "zealous"
    found = []
    for path in source.rglob("*.py"):
        place = path.relative_to(source).as_posix()
        if place.startswith(own):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if _asks_which(node, names, classes):
                found.append(f"{place}: {ast.unparse(node)[:60]}")
            # The paper's figures are of kinds and mechanisms that it names.
            if not place.startswith("study") and _names_one(node, names - homonyms):
                found.append(f"{place}: {ast.unparse(node)[:60]}")
    assert found == known


@pytest.mark.parametrize(
    "code",
    [
        'dict.fromkeys(known, "prior")',
        'given.get("domain")',
        'MECHANISMS["gaussian"]',
        'tables["queries"]',
        'plan(goal, kinds, mechanism="pooled")',
        'plan(goal, kinds, mechanism={**others, name: "pooled"})',
    ],
)
def test_a_name_that_is_looked_up_or_handed_on_is_seen(code: str) -> None:
    names = {*MECHANISMS, *KINDS}
    assert any(_names_one(node, names) for node in ast.walk(ast.parse(code)))
