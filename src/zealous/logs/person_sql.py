"""Queries whose every row is one row of a table, and which no row can make fail.

They select columns and rows of one table or view by comparing columns with constants. That a row of
the table depends on one person alone is for its owner to know, and a release says so.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from zealous.errors import Refused, UsageError, missing_extra
from zealous.libraries import exp, sqlglot
from zealous.privacy.guarantee import UNITS, Unit

_ASSUMPTION = (
    "The log is the result of a query (SHA-256 of its text: {sha256}), which selects columns and "
    "rows of one table or view: each row of that depends on the data of {one} alone, and none "
    "makes reading it fail."
)
_ACCEPTED = (
    "A query selects columns, or *, from one table or view, where columns are compared with "
    "constants (=, <>, <, <=, >, >=, between, in, like, is null; and, or, not). For more, create a "
    "view whose every row depends on one person's rows alone (for --unit user-day: on one day's of "
    "one person), and select from it"
)
_COMPARISONS = ("EQ", "NEQ", "LT", "LTE", "GT", "GTE")
_ALIAS = "_each_row"  # by its table's name PostgreSQL and DuckDB would hand over the whole row
# Where a row lies, and when it was written, tell of the rows before it.
_SYSTEM_COLUMNS = frozenset(
    (
        *("rowid", "_rowid_", "oid", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", _ALIAS),
        *("_partitiontime", "_partitiondate", "_table_suffix", "_file_name"),
    )
)
# Databases that compare a column with a number without ever making numbers of its texts.
_CONVERT_NO_COLUMN = ("postgres", "sqlite", "bigquery")
_NUMBER = re.compile(r"\d{1,18}(\.\d{1,18})?")
_FOLDED = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def query_hash(sql: str) -> str:
    """The SHA-256 of a query's text, by which a release names it."""
    return hashlib.sha256(sql.encode()).hexdigest()


def query_assumption(sha256: str, unit: Unit) -> str:
    """What a release of a query's result rests on."""
    return _ASSUMPTION.format(sha256=sha256, one=UNITS[unit])


@dataclass(frozen=True)
class PersonQuery:
    """An SQL query that looks at each row of one table by itself.

    Attributes:
        text: As it was given.
        dialect: That of its database, as sqlglot calls it.
    """

    text: str
    dialect: str

    def __post_init__(self) -> None:
        """Refuse any other query, before anything is connected to.

        Raises:
            UsageError: It is no SQL, or no query.
            Refused: It is more than is known to be safe.
        """
        self.sql()

    def sql(self) -> str:
        """The text to run: made of what was checked, and checked again."""
        made = self._sql_of(self._tree)
        again = _parse(made, self.dialect)
        _check(again, self.dialect)
        if self._sql_of(_plain(again, self.dialect)) != made:
            raise _refusal("what is written in two ways")
        return made

    def compared(self) -> Iterator[tuple[str, str]]:
        """Queries of a column each, and the constant that it is compared with."""
        table = self._sql_of(_part(self._tree, "from"))
        for node in self._tree.walk():
            if type(node).__name__ in (*_COMPARISONS, "Between", "In"):
                column = f"select {self._sql_of(node.this)} {table}"
                for constant in _constants(node):
                    yield column, self._sql_of(constant)

    def misspelt_column(self, names: Collection[str]) -> str | None:
        """A column that is used and has none of these names; case does not matter."""
        known = {each.lower() for each in names}
        used = (column.name for column in self._tree.find_all(exp.Column))
        return next((each for each in used if each.lower() not in known), None)

    def whole_table(self) -> str:
        """The text of a query of all columns and rows of the table."""
        return f"select * {self._sql_of(_part(self._tree, 'from'))}"

    @cached_property
    def _tree(self) -> Any:
        found = _parse(self.text, self.dialect)
        _check(found, self.dialect)
        return _plain(found, self.dialect)

    def _sql_of(self, node: Any) -> str:
        return str(node.sql(dialect=self.dialect, comments=False))


def _parse(text: str, dialect: str) -> Any:
    if "\0" in text:  # a driver would take the text for ended there
        raise UsageError("--sql holds a NUL character")
    try:
        statements = [each for each in sqlglot.parse(text, read=dialect) if each]
    except (sqlglot.errors.SqlglotError, RecursionError):
        raise UsageError(f"--sql is not a query that the dialect {dialect} has") from None
    except ModuleNotFoundError:
        raise missing_extra("--sql needs more than is installed", "sql") from None
    if len(statements) != 1:
        raise UsageError("--sql must be one query")
    return statements[0]


def _plain(tree: Any, dialect: str) -> Any:
    """A checked query without what another rule could read differently.

    In PostgreSQL `log.lower` may be a function of the whole row, and `user` is a role: columns are
    named alone, and in quotes there.
    """
    made = tree.copy()
    for column in made.find_all(exp.Column):
        column.set("table", None)
    for table in made.find_all(exp.Table):
        table.set("alias", exp.TableAlias(this=exp.to_identifier(_ALIAS)))
    for each in [node for node in made.walk() if node.args.get("negate")]:
        each.set("negate", None)
        each.replace(exp.Not(this=each.copy()))
    if dialect == "postgres":
        for each in made.find_all(exp.Identifier):
            name = each.name if each.args.get("quoted") else each.name.translate(_FOLDED)
            each.replace(exp.to_identifier(name, quoted=True))
    return made


def _refusal(what: str) -> Refused:
    return Refused(f"--sql: {what} cannot be used. {_ACCEPTED}")


def _part(node: Any, name: str) -> Any:
    return node.args.get(name) or node.args.get(f"{name}_")


def _require(node: Any, kinds: tuple[str, ...], parts: tuple[str, ...]) -> None:
    """Refuse a node of another kind, and one that has more than these parts."""
    if type(node).__name__ not in kinds:
        called = node.name if isinstance(node, exp.Anonymous) else getattr(node, "key", "nothing")
        raise _refusal(f"{called or 'this'} in the place of {kinds[0].lower()}")
    for name, value in node.args.items():
        if value and name.rstrip("_") not in parts:
            raise _refusal(name.rstrip("_").replace("_", " "))


def _check(tree: Any, dialect: str) -> None:
    if isinstance(tree, exp.SetOperation):
        raise _refusal("union, intersect and except")
    if not isinstance(tree, exp.Select):
        raise UsageError("--sql must be a query that begins with select: nothing is changed")
    _require(tree, ("Select",), ("expressions", "from", "where"))
    source = _part(tree, "from")
    if source is None:
        raise UsageError("--sql must read a table")
    _require(source, ("From",), ("this",))
    tables = _check_table(source.this)
    star = len(tree.expressions) == 1 and isinstance(tree.expressions[0], exp.Star)
    for each in tree.expressions:
        if star:
            _require(each, ("Star",), ())
        elif isinstance(each, exp.Alias):
            _require(each, ("Alias",), ("this", "alias"))
            _require(each.args["alias"], ("Identifier",), ("this", "quoted"))
            _check_column(each.this, tables)
        else:
            _check_column(each, tables)
    where = _part(tree, "where")
    if where is not None:
        _require(where, ("Where",), ("this",))
        _check_condition(where.this, tables, dialect)


def _check_table(table: Any) -> set[str]:
    """Refuse what is no plain name of a table.

    Returns:
        By what its columns may be qualified.
    """
    _require(table, ("Table",), ("this", "db", "catalog", "alias"))
    names = [each for name in ("this", "db", "catalog") if (each := table.args.get(name))]
    alias = table.args.get("alias")
    if alias is not None:
        _require(alias, ("TableAlias",), ("this",))
        names.append(alias.this)
    for each in names:
        _require(each, ("Identifier",), ("this", "quoted"))
    return {(alias or table).this.name.lower()}


def _check_column(column: Any, tables: set[str]) -> None:
    _require(column, ("Column",), ("this", "table"))
    _require(column.this, ("Identifier",), ("this", "quoted"))
    if column.table and column.table.lower() not in tables:
        raise _refusal(f"a column of {column.table}, which is not the table,")
    if column.name.lower() in _SYSTEM_COLUMNS or "$" in column.name:
        raise _refusal(f"the system column {column.name.lower()}")


def _check_condition(node: Any, tables: set[str], dialect: str) -> None:
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, exp.And | exp.Or):
            _require(each, ("And", "Or"), ("this", "expression"))
            pending += [each.this, each.expression]
        elif isinstance(each, exp.Not | exp.Paren):
            _require(each, ("Not", "Paren"), ("this",))
            pending.append(each.this)
        else:
            _check_comparison(each, tables, dialect)


def _check_comparison(node: Any, tables: set[str], dialect: str) -> None:
    kinds = (*_COMPARISONS, "Between", "In", "Is", "Like")
    parts = ("this", "expression", "expressions", "low", "high", "negate")
    _require(node, ("comparison", *kinds), parts)
    _check_column(node.this, tables)
    if isinstance(node, exp.Is):
        _require(node.expression, ("Null",), ())
        return
    for constant in _constants(node):
        _check_constant(constant, dialect)
    if isinstance(node, exp.Like) and not (
        node.expression.is_string and "\\" not in node.text("expression")
    ):
        raise _refusal("like with anything but a quoted text without a backslash")


def _constants(node: Any) -> list[Any]:
    args = node.args
    found = [args.get("expression"), args.get("low"), args.get("high"), *node.expressions]
    return [each for each in found if each is not None]


def _check_constant(constant: Any, dialect: str) -> None:
    if isinstance(constant, exp.Literal) and constant.is_string:
        return
    plain = isinstance(constant, exp.Literal | exp.Neg | exp.Boolean)
    if plain and dialect not in _CONVERT_NO_COLUMN:
        raise _refusal(
            f"a constant without quotes in {dialect or 'this database'}, which would convert every "
            "value of the column and fail for one (write '10'),"
        )
    if isinstance(constant, exp.Boolean):
        return
    number = constant.this if isinstance(constant, exp.Neg) else constant
    _require(number, ("Literal",), ("this", "is_string"))
    if number.is_string or not _NUMBER.fullmatch(number.name):
        raise _refusal("a number of this form")
