"""Write docs/reference/python-names.md from the docstrings of the public names.

    python tools/python_reference.py

What is written here is how they are grouped (by the docstring of `zealous`), which members of a
class are shown, and what the names of types mean that are not public.
"""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path
from typing import Any

import zealous

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python-names.md"
WIDTH = 88
# What somebody calls of a class; other members are for the program itself and may change.
MEMBERS = {
    "Ledger": ("open", "set_caps", "history", "accounts", "verify"),
    "Period": ("parse",),
    "Plan": ("with_files",),
    "Release": ("charged", "write", "arrow", "to_pandas", "to_polars"),
    "Table": ("columns", "intervals", "to_pandas", "to_polars"),
    "Verdict": ("ok", "summary"),
}
# Classes that are returned and not called, and by what.
MADE_BY = {
    "Ledger": "read_ledger",
    "Log": "read_log",
    "Plan": "plan",
    "Release": "publish",
    "Table": "Release",
    "Verdict": "verify",
}
TYPES = {
    "Accounts": "what was spent over all releases and in one period: `all` and `period`",
    "AnyColumns": "a kind of items",
    "Attendance": '`"attended"`, `"proceed"` or `"unattended"`',
    "Bands": 'a mapping from columns to limits: `{"price": [5, 10, 20]}`',
    "Changes": "a sequence of changes, which prints as a table",
    "Charged": "what a release cost and what is left; prints as sentences",
    "Clicks": "a kind of items",
    "Compose": '`"losses"` or `"sums"`',
    "Documents": "a function from keywords to the number of documents that contain each",
    "Engine": "`DuckDB(...)` or `Spark(...)`",
    "Entry": "a release in the ledger: `number`, `charge`, `state` and more",
    "Files": "a path; for several kinds, a mapping from their names to paths",
    "Fraction": "of the standard library's `fractions`",
    "Guarantee": "`ProbabilisticDP(...)` or `Indistinguishability(...)`",
    "Keywords": "a kind of items",
    "Kind": "what `queries(5)` and its neighbours return",
    "Kinds": "a kind, or a list of kinds, of which some may be lists themselves",
    "Layout": "how the lines of a text log are split",
    "Mechanism": "how one table is published: [adding a mechanism](../extending/mechanism.md)",
    "Method": "an anonymity method: [adding one](../extending/anonymity_method.md)",
    "Neighbors": '`"replace"` or `"add-remove"`',
    "Number": "an int, a Fraction, a Decimal, a float (the decimal that it prints as) or a string: "
    '`"1e-3"`',
    "Options": "the keyword arguments of `plan`",
    "OwnMeasure": "a function of the original and the released table: "
    "[extending in a few lines](../extending/quick.md)",
    "PaymentMethod": "`Account(...)`",
    "PhrasePairs": "a kind of items",
    "Place": "where files are; a string or a path is turned into one",
    "Queries": "a kind of items",
    "QueryClicks": "a kind of items",
    "QueryPairs": "a kind of items",
    "Results": "figures as a table",
    "ReviewResult": "`release` (without the removed rows), `flagged` and `before`",
    "Say": "a function that receives lines of text",
    "Select": '`"random"`, `"first"` or `"frequent"`',
    "StudyResult": "the figures of a study and its report",
    "Unit": '`"user"`, `"user-day"`, `"session"`, `"query"` or `"keyword"`',
    "Unpack": "of the standard library's `typing`",
}
_HEADING = re.compile(r"^(Args|Attributes|Guarantee|Raises|Returns):$")


def page() -> str:
    """The reference page."""
    parts = [
        "# Python reference",
        "Made from the docstrings by `python tools/python_reference.py`; a test keeps it true. "
        "[Python](python.md) shows how these names are used together, and "
        "[what stays compatible](stability.md#python) says which parameters are promised.",
    ]
    for title, found in sections().items():
        parts.append(f"## {title}")
        parts += [entry(name, getattr(zealous, name)) for name in found]
    parts.append("## Types in signatures")
    body = "\n\n".join(parts)
    used = sorted(name for name in TYPES if re.search(rf"(?<![\w.]){name}(?!\w)", signatures(body)))
    rows = [f"| `{name}` | {TYPES[name]} |" for name in used]
    return "\n".join([body, "", "| name | what it is |", "|---|---|", *rows]) + "\n"


def sections() -> dict[str, list[str]]:
    """The names of each section that the docstring of `zealous` has."""
    text = re.sub(r"\n {4}", " ", inspect.cleandoc(zealous.__doc__ or ""))
    lines = re.findall(r"^([A-Z][\w ]+): (.*`.*)$", text, re.MULTILINE)
    names = {title: re.findall(r"`(\w+)`", told) for title, told in lines}
    known = [name for each in names.values() for name in each]
    if sorted(known) != sorted({*zealous.__all__} - {"__version__"}):
        raise ValueError("the docstring of zealous does not name each public name once")
    return names


def signatures(text: str) -> str:
    """The code of a page."""
    return "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))


def entry(name: str, found: Any) -> str:
    """What the page says of one name."""
    parts = [f"### {name}"]
    if name in MADE_BY:
        parts.append(f"Returned by [`{MADE_BY[name]}`](#{MADE_BY[name].lower()}).")
    elif not (isinstance(found, type) and issubclass(found, Exception)):
        parts.append(code(signature(f"z.{name}", found)))
    parts.append(markdown(inspect.getdoc(found) or ""))
    for member in MEMBERS.get(name, ()):
        parts.append(member_entry(name, member, inspect.getattr_static(found, member), found))
    return "\n\n".join(parts)


def member_entry(name: str, member: str, raw: Any, owner: type) -> str:
    """What the page says of a method or a property, one level below its class."""
    if isinstance(raw, property):
        assert raw.fget is not None  # noqa: S101
        returned = annotation(inspect.signature(raw.fget).return_annotation)
        shown, text = f"{name.lower()}.{member}: {returned}", inspect.getdoc(raw) or ""
    else:
        called = f"z.{name}" if isinstance(raw, classmethod) else name.lower()
        method = getattr(owner, member)
        shown = signature(f"{called}.{member}", method, skip=not isinstance(raw, classmethod))
        text = inspect.getdoc(method) or ""
    return f"{code(shown.replace('Self', name))}\n\n{markdown(text)}"


def code(text: str) -> str:
    """A block of Python."""
    return f"```python\n{text}\n```"


def signature(name: str, found: Any, *, skip: bool = False) -> str:
    """A signature, on one line if it is short."""
    made = inspect.signature(found)
    kinds = inspect.Parameter
    parts, starred = [], False
    for each in list(made.parameters.values())[skip:]:
        if each.kind == kinds.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred |= each.kind in (kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL)
        parts.append(parameter(each))
    returned = made.return_annotation
    end = ")"
    if not isinstance(found, type) and returned is not inspect.Signature.empty:
        end = f") -> {annotation(returned)}"
    line = f"{name}({', '.join(parts)}{end}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {each}," for each in parts), end])


def parameter(each: inspect.Parameter) -> str:
    """One parameter as it is written."""
    text = str(each.replace(annotation=inspect.Parameter.empty, default=inspect.Parameter.empty))
    if each.annotation is not inspect.Parameter.empty:
        text += f": {annotation(each.annotation)}"
    if each.default is not inspect.Parameter.empty:
        text += f" = {default(each.default)}"
    return text


def annotation(given: Any) -> str:
    """A type as it is written in the source."""
    return str(given) if isinstance(given, str) else getattr(given, "__name__", str(given))


def default(value: Any) -> str:
    """What a parameter is if it is not given."""
    if callable(value) or repr(value).startswith("<"):
        return "..."
    text = repr(value)
    return text if len(text) < 70 else f"{type(value).__name__}(...)"


def markdown(docstring: str) -> str:
    """A docstring in Google's style as Markdown."""
    parts: list[str] = []
    heading = ""
    for block in docstring.split("\n\n"):
        first, *rest = block.split("\n")
        found = _HEADING.match(first)
        if found:
            heading, block = found[1], inspect.cleandoc("\n" + "\n".join(rest))
        elif not first.startswith(" "):
            heading = ""
        if block.startswith(">>>"):
            parts.append(f"```python\n{block}\n```")
        elif heading == "Guarantee":
            parts.append(f"**Guarantee.** {joined(block)}")
        elif heading in ("Args", "Attributes", "Raises"):
            word = "Raises " if heading == "Raises" else ""
            parts.append(listed(block, word))
        else:
            parts.append(joined(block))
    return linked("\n\n".join(parts))


def joined(text: str) -> str:
    """A paragraph on one line."""
    return " ".join(text.split())


def listed(block: str, word: str) -> str:
    """The lines of a section as a list: `name: what it is`, with deeper lines that go on."""
    items: list[str] = []
    for line in block.split("\n"):
        if line.startswith(" "):
            items[-1] += f" {line.strip()}"
        else:
            items.append(line)
    named = (item.partition(": ") for item in items)
    return "\n".join(f"- {word}`{name}`: {told}" for name, _, told in named)


def linked(text: str) -> str:
    """Names of pages of the documentation become links."""
    return re.sub(r"docs/([\w/-]+)\.md", r"[\1](../\1.md)", text)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    PAGE.write_text(page())
