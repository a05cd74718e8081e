"""The pipeline's SQL, written in DuckDB's dialect, as Spark runs it: the same meaning or an error.

sqlglot passes a function that it does not know through as it is, and one of that name may mean
something else there. So each function must be known: those that sqlglot turns right by itself,
those that both engines share, and those that are turned here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from zealous.errors import UsageError, ZealousError
from zealous.libraries import exp, sqlglot

_SHARED = frozenset({"monotonically_increasing_id", "xxhash64"})
_RIGHT = frozenset(
    {
        "Abs", "And", "Array", "ArrayDistinct", "ArraySize", "ArraySort", "ArrayToString", "Avg",
        "Case", "Cast", "Coalesce", "Concat", "Count", "DenseRank", "Distinct", "Explode", "Floor",
        "Greatest", "Hex", "If", "Lag", "Least", "Left", "Length", "Ln", "MD5", "Max", "Min", "Or",
        "RegexpExtractAll", "RegexpLike", "RegexpReplace", "Round", "RowNumber", "SHA2", "Split",
        "Sqrt", "Sum",
    }
)  # fmt: skip
# Letters, marks and digits that Java 17 does not know (its Unicode is 13, DuckDB's 15), in hex.
_NEWER = {
    "L": "870-887 889-88e 8b5 8c8-8c9 c5d cdd 170d 171f 1b4c 2c2f 2c5f 9ffd-9fff a7c0-a7c1 "
    "a7d0-a7d1 a7d3 a7d5-a7d9 a7f2-a7f4 10570-1057a 1057c-1058a 1058c-10592 10594-10595 "
    "10597-105a1 105a3-105b1 105b3-105b9 105bb-105bc 10780-10785 10787-107b0 107b2-107ba "
    "10f70-10f81 11071-11072 11075 1123f-11240 11740-11746 11ab0-11abf 11f02 11f04-11f10 "
    "11f12-11f33 12f90-12ff0 1342f 13441-13446 16a70-16abe 1aff0-1aff3 1aff5-1affb 1affd-1affe "
    "1b11f-1b122 1b132 1b155 1df00-1df1e 1df25-1df2a 1e030-1e06d 1e290-1e2ad 1e4d0-1e4eb "
    "1e7e0-1e7e6 1e7e8-1e7eb 1e7ed-1e7ee 1e7f0-1e7fe 2a6de-2a6df 2b735-2b739 31350-323af",
    "M": "898-89f 8ca-8d2 c3c cf3 ece 1715 180f 1ac1-1ace 1dfa 10efd-10eff 10f82-10f85 11070 "
    "11073-11074 110c2 11241 11f00-11f01 11f03 11f34-11f3a 11f3e-11f42 13440 13447-13455 "
    "1cf00-1cf2d 1cf30-1cf46 1e08f 1e2ae 1e4ec-1e4ef",
    "N": "11f50-11f59 16ac0-16ac9 1d2c0-1d2d3 1e4f0-1e4f9",
}
# Capitals whose small letter hangs on the letters beside it, on the language that Java is set to,
# or on how new Java is; and that small letter.
_CAPITALS = (
    ("\u03a3\u0130IJ\u00cc\u00cd\u0128\u012e", "\u03c3iij\u00ec\u00ed\u0129\u012f"),
    ("\u2c2f\ua7c0\ua7d0\ua7d6\ua7d8", "\u2c5f\ua7c1\ua7d1\ua7d7\ua7d9"),
    *((chr(0x10570 + n), chr(0x10597 + n)) for n in range(38) if n not in (11, 27, 35)),
)
# strptime's letters in Java's patterns: fixed width, and as wide as the number is.
_PATTERN = {
    "Y": ("yyyy", "yyyy"),
    "m": ("MM", "M"),
    "d": ("dd", "d"),
    "H": ("HH", "H"),
    "M": ("mm", "m"),
    "S": ("ss", "s"),
    "y": ("yy", "yy"),
    "I": ("hh", "h"),
    "p": ("a", "a"),
    "b": ("MMM", "MMM"),
    "B": ("MMMM", "MMMM"),
    "z": ("[XXX][XX][X]", "[XXX][XX][X]"),
    "%": ("%", "%"),
    "f": ("SSSSSS", "SSSSSS"),
}


def to_spark(sql: str, views: Mapping[str, str]) -> str:
    """The statement in Spark's dialect.

    Args:
        sql: In DuckDB's.
        views: What the tables of the engine are called there.
    """
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
        steps = list(tree.find_all(exp.CTE))
        own = {each.alias_or_name for each in steps}
        for each in steps:  # Spark decides by itself what it keeps
            each.set("materialized", None)
        for table in tree.find_all(exp.Table):
            if table.name in views and table.name not in own:
                table.set("this", exp.to_identifier(views[table.name], quoted=True))
        for node in reversed(list(tree.walk())):  # what is inside comes before what is around it
            turned = _translate(node)
            if turned is not node:
                node.replace(turned)
        if any(node.this == "arrays_zip" for node in tree.find_all(exp.Anonymous)):
            raise ZealousError(_NOT_HERE)  # alone, its pairs are not what DuckDB's are
        return tree.sql(dialect="spark", unsupported_level=sqlglot.ErrorLevel.RAISE)
    except sqlglot.errors.SqlglotError:
        raise ZealousError(_NOT_HERE) from None


_NOT_HERE = "this step cannot be run on Spark: run it with --engine duckdb"


def _translate(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Anonymous):
        turn = _FUNCTIONS.get(node.this.lower())
        if turn is None and node.this.lower() not in _SHARED:
            raise ZealousError(_NOT_HERE)
    else:
        turn = _translations().get(type(node))
        if turn is None and isinstance(node, exp.Func) and type(node).__name__ not in _RIGHT:
            raise ZealousError(_NOT_HERE)
    return turn(node) if turn else node


@cache
def _translations() -> dict[type, Callable[[Any], exp.Expr]]:
    return {
        exp.Select: _star,
        exp.Lower: _to_lower_case,
        exp.Trim: _trim,
        exp.DataType: _type,
        exp.RegexpFullMatch: _full_match,
        exp.RegexpLike: _matches,
        exp.RegexpExtractAll: _matches,
        exp.RegexpReplace: _replace_all,
        exp.Bracket: _bracket,
        exp.Transform: _zipped,
        exp.TryCast: _moment,
        exp.Extract: _extract,
        exp.UnixToTime: lambda node: _local(node.copy()),
    }


def _star(node: exp.Select) -> exp.Expr:
    """Spark has `* except` and no `* replace`: what is replaced comes last there."""
    star = next((each for each in node.expressions if isinstance(each, exp.Star)), None)
    if star is None or not star.args.get("replace"):
        return node
    replaced = star.args["replace"]
    gone = [exp.column(exp.to_identifier(each.alias, quoted=True)) for each in replaced]
    left = exp.Star(except_=[*(star.args.get("except_") or ()), *gone])
    others = [each for each in node.expressions if each is not star]
    node.set("expressions", [left, *others, *replaced])
    return node


def _to_lower_case(node: exp.Lower) -> exp.Expr:
    """Letter by letter, as DuckDB does it; see `_CAPITALS`."""
    capital, small = ("".join(each) for each in zip(*_CAPITALS, strict=True))
    return _call("lower", _call("translate", node.this, _text(capital), _text(small)))


def _trim(node: exp.Trim) -> exp.Expr:
    """Spark trims the ASCII space alone, DuckDB every kind of space.

    However many blanks somebody writes in the middle, each of them is looked at once.
    """
    if node.expression:
        return node
    ends = r"^\p{Zs}++|(?<!\p{Zs})\p{Zs}++\z"
    return _call("regexp_replace", node.this, _text(ends), _text(""))


def _type(node: exp.DataType) -> exp.Expr:
    if node.this == exp.DataType.Type.INT128:
        return exp.DataType.build("decimal(38, 0)", dialect="spark")
    return node


def _full_match(node: exp.RegexpFullMatch) -> exp.Expr:
    pattern = _as_java_writes(node.expression)
    words = re.fullmatch(r"(\[[^ \]]+\]\+)\( \1\)\*", pattern)
    if words:  # Java would go one call deeper with each word, were it ever to come back to it
        pattern = f"{words[1]}+(?: {words[1]}+)*+"
    elif re.search(r"\)[*+{]", pattern):
        raise ZealousError(_NOT_HERE)
    whole = _text(rf"^(?:{pattern})\z")
    return exp.RegexpLike(this=node.this, expression=whole)


def _matches(node: exp.Func) -> exp.Expr:
    """The whole of what is found; sqlglot would pass over flags in silence."""
    group = node.args.get("group")
    if any(node.args.get(each) for each in ("flag", "parameters", "position")) or (
        group is not None and group.sql() != "0"
    ):
        raise ZealousError(_NOT_HERE)
    node.set("expression", _text(_as_java_writes(node.expression)))
    return node


def _replace_all(node: exp.RegexpReplace) -> exp.Expr:
    """Spark replaces all that is found: so does `g`, and there is one end."""
    pattern, put, flags = node.expression, node.args["replacement"], node.args.get("modifiers")
    everywhere = flags is not None and flags.this == "g"
    if not everywhere and (flags or not pattern.this.endswith("$") or "|" in pattern.this):
        raise ZealousError(_NOT_HERE)
    if not put.is_string or re.search(r"[$\\]", put.this):
        raise ZealousError(_NOT_HERE)
    return _call("regexp_replace", node.this, _text(_as_java_writes(pattern)), put)


def _as_java_writes(pattern: exp.Expr) -> str:
    """A pattern of RE2 as Java writes it; see `_java_pattern`."""
    if not pattern.is_string:
        raise ZealousError(_NOT_HERE)
    return _java_pattern(pattern.this)


@cache
def _java_pattern(pattern: str) -> str:
    r"""A pattern of RE2 as Java writes it, or an error where they might differ.

    >>> _java_pattern("[a-z.]+( .)?$")
    '[a-z.]+( [^\\n])?\\z'
    """
    inside, written = False, []
    for part in re.findall(r"\\[pP]\{\w+\}|\\.|\(\?[^:]?|&&|.", pattern, flags=re.DOTALL):
        if part in ("[", "]"):
            if inside == (part == "["):
                raise ZealousError(_NOT_HERE)
            inside = not inside
        elif part.startswith(("(?", "&&")) and part != "(?":
            raise ZealousError(_NOT_HERE)
        written.append(_java_part(part, inside=inside))
    return "".join(written)


def _java_part(part: str, *, inside: bool) -> str:
    """One character or escape of a pattern, inside of brackets or not."""
    if not part.startswith("\\"):
        return part if inside else {"$": r"\z", ".": r"[^\n]"}.get(part, part)
    if part[1] == "p" and len(part) > 2:
        known = part + _newer_characters(part[3:-1])
        return known if inside or known == part else f"[{known}]"
    if part[1].isalnum() and part[1] not in "dDtnrfz":  # such as \s and \b, which differ
        raise ZealousError(_NOT_HERE)
    return part


def _newer_characters(name: str) -> str:
    """The characters of a class that Java 17 does not know, as a part of a class of Java's.

    Nearly all text is before the first of them, and one comparison tells.
    """
    if name not in _NEWER:
        return ""
    ranges = [each.split("-") for each in _NEWER[name].split()]
    parts = "".join(f"\\x{{{each[0]}}}-\\x{{{each[-1]}}}" for each in ranges)
    return f"[\\x{{{ranges[0][0]}}}-\\x{{{ranges[-1][-1]}}}&&[{parts}]]"


def _bracket(node: exp.Bracket) -> exp.Expr:
    """An element, NULL where there is none: Spark's own brackets would stop the run."""
    (index,) = node.expressions
    if isinstance(index, exp.Slice):
        first, last = index.this, index.expression
        length = exp.Paren(this=last).sql("spark") + f" - ({first.sql('spark')}) + 1"
        return _call("slice", node.this, first, _raw(length))
    number = int(index.sql())  # counted from 0, as sqlglot keeps it
    return _call("try_element_at", node.this, _raw(str(number + 1)))


def _zipped(node: exp.Transform) -> exp.Expr:
    """Two lists side by side: `zip_with` has the two values where `list_zip` has a pair."""
    zipped, function = node.this, node.expression
    if not (isinstance(zipped, exp.Anonymous) and zipped.this == "arrays_zip"):
        return node
    (pair,) = function.expressions
    body = function.this.sql("spark")
    for number in (1, 2):
        body = body.replace(f"TRY_ELEMENT_AT({pair.name}, {number})", f"{pair.name}{number}")
    return _call("zip_with", *zipped.expressions, _raw(f"({pair.name}1, {pair.name}2) -> {body}"))


def _moment(node: exp.TryCast) -> exp.Expr:
    """A text as a moment, of which Spark wants the seconds where an offset follows."""
    if node.to.this != exp.DataType.Type.TIMESTAMPTZ:
        return node
    text = _call(
        "regexp_replace", node.this, _text(r"^( *[^: ]+[ T]\d+:\d+)(?=[Z+-]| UTC)"), _text("$1:00")
    )
    return _raw(f"TRY_CAST({text.sql('spark')} AS TIMESTAMP)")


def _extract(node: exp.Extract) -> exp.Expr:
    """The hour alone: a week's first day, and more, is not the same for both."""
    if node.name.upper() != "HOUR":
        raise ZealousError(_NOT_HERE)
    return node


def _strptime(node: exp.Anonymous) -> exp.Expr:
    text, pattern = node.expressions
    local = _local(_call("try_to_timestamp", text, _text(_java(pattern.this)))).sql("spark")
    if re.search("(?<!%)(%%)*%y", pattern.this):  # 69 is 1969 to strptime, and 2069 to Java
        earlier = f"{local} - INTERVAL '100' YEAR"
        local = f"CASE WHEN YEAR({local}) >= 2069 THEN {earlier} ELSE {local} END"
    return _raw(local)


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
    "strlen": lambda node: _call("octet_length", *node.expressions),
    "list_zip": lambda node: _call("arrays_zip", *node.expressions),
    "list_reverse": lambda node: _call("reverse", *node.expressions),
    "list_position": lambda node: _call("array_position", *node.expressions),
}


def _local(node: exp.Expr) -> exp.Expr:
    """A moment without a time zone, in UTC."""
    return _raw(f"CAST({node.sql('spark')} AS TIMESTAMP_NTZ)")


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[each.copy() for each in arguments])


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _raw(sql: str) -> exp.Expr:
    """Text that is Spark's already."""
    return exp.Var(this=sql)
