"""The pipeline's SQL, written in DuckDB's dialect, as Spark runs it: the same meaning or an error.

sqlglot passes a function that it does not know through as it is, and one of that name may mean
something else there. So each function must be known: those that sqlglot turns right by itself,
those that both engines share, and those that are turned here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from zealous.errors import UsageError, ZealousError

if TYPE_CHECKING:
    from sqlglot import exp

_SHARED = frozenset({"xxhash64"})
_RIGHT = frozenset(
    {
        "Abs", "And", "ArrayDistinct", "ArraySize", "ArraySort", "ArrayToString", "Avg", "Case",
        "Cast", "Coalesce", "Concat", "Count", "Distinct", "Explode", "Greatest", "Hex", "If",
        "Lag", "Least", "Left", "Length", "Ln", "MD5", "Max", "Min", "Or", "RegexpExtractAll",
        "RegexpLike", "RegexpReplace", "Round", "RowNumber", "SHA2", "Split", "Sqrt", "Sum",
    }
)  # fmt: skip
# What DuckDB reads as a moment; Spark would read more, such as "now".
_MOMENT = (
    r"^\s*\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}(\.\d{1,9})?)?"
    r" ?(Z|UTC|[+-]\d{2}(:?\d{2})?)?)?\s*$"
)
# strptime's letters in Java's patterns: fixed width, and as wide as the number is.
_PATTERN = {
    "Y": ("yyyy", "yyyy"), "m": ("MM", "M"), "d": ("dd", "d"), "H": ("HH", "H"), "M": ("mm", "m"),
    "S": ("ss", "s"), "y": ("yy", "yy"), "I": ("hh", "h"), "p": ("a", "a"), "b": ("MMM", "MMM"),
    "B": ("MMMM", "MMMM"), "j": ("DDD", "D"), "z": ("xx", "xx"), "%": ("%", "%"),
    "f": ("SSSSSS", "SSSSSS"),
}  # fmt: skip


def to_spark(sql: str, views: Mapping[str, str]) -> str:
    """The statement in Spark's dialect.

    Args:
        sql: In DuckDB's.
        views: What the tables of the engine are called there.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import ErrorLevel, SqlglotError

    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
        own = {each.alias_or_name for each in tree.find_all(exp.CTE)}
        for table in tree.find_all(exp.Table):
            if table.name in views and table.name not in own:
                table.set("this", exp.to_identifier(views[table.name], quoted=True))
        for node in reversed(list(tree.walk())):  # what is inside comes before what is around it
            turned = _turn(node)
            if turned is not node:
                node.replace(turned)
        return tree.sql(dialect="spark", unsupported_level=ErrorLevel.RAISE)
    except SqlglotError:
        raise ZealousError(_NOT_HERE) from None


_NOT_HERE = "this step cannot be run on Spark: run it with --engine duckdb"


def _turn(node: exp.Expr) -> exp.Expr:
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        turn = _FUNCTIONS.get(node.this.lower())
        if turn is None and node.this.lower() not in _SHARED:
            raise ZealousError(_NOT_HERE)
    else:
        turn = _turns().get(type(node))
        if turn is None and isinstance(node, exp.Func) and type(node).__name__ not in _RIGHT:
            raise ZealousError(_NOT_HERE)
    return turn(node) if turn else node


@cache
def _turns() -> dict[type, Callable[[Any], exp.Expr]]:
    from sqlglot import exp

    return {
        exp.Select: _star,
        exp.Lower: _lower,
        exp.Trim: _trim,
        exp.DataType: _type,
        exp.RegexpFullMatch: _full_match,
        exp.Bracket: _bracket,
        exp.Transform: _zipped,
        exp.TryCast: _moment,
        exp.UnixToTime: lambda node: _local(node.copy()),
    }


def _star(node: exp.Select) -> exp.Expr:
    """Spark has `* except` and no `* replace`: what is replaced comes last there."""
    from sqlglot import exp

    star = next((each for each in node.expressions if isinstance(each, exp.Star)), None)
    if star is None or not star.args.get("replace"):
        return node
    replaced = star.args["replace"]
    gone = [exp.column(exp.to_identifier(each.alias, quoted=True)) for each in replaced]
    left = exp.Star(except_=[*(star.args.get("except_") or ()), *gone])
    others = [each for each in node.expressions if each is not star]
    node.set("expressions", [left, *others, *replaced])
    return node


def _lower(node: exp.Lower) -> exp.Expr:
    """Letter by letter, as DuckDB does it: Java looks at the letters around a sigma."""
    return _call("lower", _call("translate", node.this, _text("Σİ"), _text("σi")))


def _trim(node: exp.Trim) -> exp.Expr:
    """Spark trims the ASCII space alone, DuckDB every kind of space."""
    if node.expression:
        return node
    return _call("regexp_replace", node.this, _text(r"^\p{Zs}+|\p{Zs}+$"), _text(""))


def _type(node: exp.DataType) -> exp.Expr:
    from sqlglot import exp

    if node.this == exp.DataType.Type.INT128:
        return exp.DataType.build("decimal(38, 0)", dialect="spark")
    return node


def _full_match(node: exp.RegexpFullMatch) -> exp.Expr:
    from sqlglot import exp

    whole = _text(rf"^(?:{node.expression.this})\z")  # `$` would let a line end follow
    return exp.RegexpLike(this=node.this, expression=whole)


def _bracket(node: exp.Bracket) -> exp.Expr:
    """An element, NULL where there is none: Spark's own brackets would stop the run."""
    from sqlglot import exp

    (index,) = node.expressions
    if isinstance(index, exp.Slice):
        first, last = index.this, index.expression
        length = exp.Paren(this=last).sql("spark") + f" - ({first.sql('spark')}) + 1"
        return _call("slice", node.this, first, _raw(length))
    number = int(index.sql())  # counted from 0, as sqlglot keeps it
    return _call("try_element_at", node.this, _raw(str(number + 1)))


def _zipped(node: exp.Transform) -> exp.Expr:
    """Two lists side by side: `zip_with` has the two values where `list_zip` has a pair."""
    from sqlglot import exp

    zipped, function = node.this, node.expression
    if not (isinstance(zipped, exp.Anonymous) and zipped.this == "arrays_zip"):
        return node
    (pair,) = function.expressions
    body = function.this.sql("spark")
    for number in (1, 2):
        body = body.replace(f"TRY_ELEMENT_AT({pair.name}, {number})", f"{pair.name}{number}")
    return _call("zip_with", *zipped.expressions, _raw(f"({pair.name}1, {pair.name}2) -> {body}"))


def _moment(node: exp.TryCast) -> exp.Expr:
    """A text as a moment: only what DuckDB takes for one."""
    from sqlglot import exp

    if node.to.this != exp.DataType.Type.TIMESTAMPTZ:
        return node
    moment, text = node.sql("spark"), node.this.sql("spark")
    return _raw(f"CASE WHEN {text} RLIKE {_text(_MOMENT).sql('spark')} THEN {moment} END")


def _strptime(node: exp.Anonymous) -> exp.Expr:
    text, pattern = node.expressions
    return _local(_call("try_to_timestamp", text, _text(_java(pattern.this))))


def _java(pattern: str) -> str:
    """A strptime pattern as Java writes it.

    >>> _java("%d/%m/%Y at %H:%M")
    "d'/'M'/'yyyy' at 'H':'m"
    >>> _java("%y%m%d")
    'yyMMdd'
    """
    parts = re.findall(r"%.?|[^%]+", pattern)
    written = []
    for number, part in enumerate(parts):
        if not part.startswith("%"):
            written.append("'" + part.replace("'", "''") + "'")
        elif part[1:] not in _PATTERN:
            raise UsageError(
                f"on Spark a time format may use %{', %'.join(_PATTERN)}, and not {part}"
            )
        else:
            beside = parts[number - 1 : number] + parts[number + 1 : number + 2]
            alone = not any(each.startswith("%") for each in beside)
            written.append(_PATTERN[part[1:]][alone])
    return "".join(written)


def _finite(node: exp.Anonymous) -> exp.Expr:
    number = node.expressions[0].sql("spark")
    return _raw(f"(NOT ISNAN({number}) AND ABS({number}) < DOUBLE('Infinity'))")


def _microseconds(node: exp.Anonymous) -> exp.Expr:
    return _raw(f"UNIX_MICROS(CAST({node.expressions[0].sql('spark')} AS TIMESTAMP))")


_FUNCTIONS: dict[str, Callable[[Any], exp.Expr]] = {
    "try_strptime": _strptime,
    "isfinite": _finite,
    "epoch_us": _microseconds,
    "list_zip": lambda node: _call("arrays_zip", *node.expressions),
    "list_reverse": lambda node: _call("reverse", *node.expressions),
    "list_position": lambda node: _call("array_position", *node.expressions),
}


def _local(node: exp.Expr) -> exp.Expr:
    """A moment without a time zone, in UTC."""
    return _raw(f"CAST({node.sql('spark')} AS TIMESTAMP_NTZ)")


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    from sqlglot import exp

    return exp.Anonymous(this=name, expressions=[each.copy() for each in arguments])


def _text(value: str) -> exp.Expr:
    from sqlglot import exp

    return exp.Literal.string(value)


def _raw(sql: str) -> exp.Expr:
    """Text that is Spark's already."""
    from sqlglot import exp

    return exp.Var(this=sql)
