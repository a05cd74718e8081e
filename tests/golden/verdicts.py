"""What verify and audit say: of sound releases, forged ones, and releases that are paid for."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from paths import FIXTURES

from golden.kept import command, without_version
from golden.releases import published, readable

About = dict[str, Any]


def verdict(release: str, *options: str) -> str:
    """One line of JSON: what `zealous verify` found."""
    answer = command("verify", release, *options, "--json")
    found = {"release": release, "options": options, "code": answer.code}
    if answer.stdout:
        found |= json.loads(answer.stdout)
        found.pop("shown")  # the same sentence every time; the releases have it
    return json.dumps(found | {"stderr": answer.stderr}, ensure_ascii=False)


def of_fixtures(version: str) -> list[str]:
    """Of the releases of an earlier version, with ledger and parent; two from their files alone."""
    shutil.copytree(FIXTURES / version, version)
    names = sorted(f"{path.parent}" for path in Path(version).glob("*/release.json"))
    found = []
    for name in names:
        parent = name.removesuffix("-reviewed")
        options = ["--parent", parent] if parent != name else []
        found.append(verdict(name, "--ledger", f"{version}/ledger.sqlite", *options))
    return [*found, verdict(f"{version}/searches"), verdict(f"{version}/searches-reviewed")]


# Forgeries: a copy of a sound release, changed by somebody who makes its hashes right again.


def told(change: Callable[[About], object]) -> Callable[[Path], object]:
    """What release.json says, changed."""

    def forge(folder: Path) -> None:
        path = folder / "release.json"
        about = json.loads(path.read_bytes())
        change(about)
        path.write_bytes(json.dumps(about).encode())

    return forge


def rehashed(folder: Path) -> None:
    """Make the hashes in release.json right."""

    def change(about: About) -> None:
        for name in about["sha256"]:
            if (folder / name).exists():
                digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
                about["sha256"][name] = digest

    told(change)(folder)


def edited(name: str, before: str, after: str) -> Callable[[Path], object]:
    """A text file, changed, and its hash made right."""

    def forge(folder: Path) -> None:
        text = (folder / name).read_bytes().decode()
        assert before in text, name
        (folder / name).write_bytes(text.replace(before, after, 1).encode())
        if name != "release.json":
            rehashed(folder)

    return forge


def part(kind: str, **values: object) -> Callable[[Path], object]:
    """What release.json says of one table, changed."""

    def change(about: About) -> None:
        (found,) = (each for each in about["plan"] if each["kind"] == kind)
        found |= values

    return told(change)


FORGERIES: list[tuple[str, str, Callable[[Path], object]]] = [
    ("a smaller epsilon", "searches", told(lambda about: about["guarantee"].update(epsilon=1.0))),
    ("less noise", "searches", part("queries", scale=0.5)),
    ("a lower threshold", "searches", part("queries", tau_prime=1)),
    ("another mechanism", "searches", part("queries", mechanism="listed")),
    ("more items of a user", "days", part("queries", items_per_user=30)),
    ("a smaller delta", "days", part("queries", delta_achieved=1e-12)),
    ("parts in another order", "itemsets", told(lambda about: about["plan"].reverse())),
    ("not private", "domain", told(lambda about: about.update(private=False))),
    ("an unknown key", "domain", told(lambda about: about.update(raw_counts=[1, 2]))),
    ("a later format", "domain", told(lambda about: about.update(format="zealous release 99"))),
    ("no ledger", "tail", told(lambda about: about.update(ledger={"tracked": False}))),
    ("a key twice", "domain", edited("release.json", "{", '{"private": false, ')),
    ("no JSON", "domain", edited("release.json", "{", "")),
    ("a count in the CSV", "rates", edited("queries.csv", "green tea,", "green tea,1")),
    ("other words", "rates", edited("README.md", "epsilon = 20", "epsilon = 2")),
    ("a file more", "rates", lambda folder: (folder / "raw.csv").write_text("user\n")),
    ("a file less", "rates", lambda folder: (folder / "statement.html").unlink()),
    ("another file, old hash", "rates", lambda folder: (folder / "README.md").write_text("")),
    ("no release", "rates", lambda folder: (folder / "release.json").unlink()),
]


# Of a golden release, whose words this version can judge; it fails for its seed too.
OF_NOW = "first-of-each"
FORGERIES += [
    ("other words now", OF_NOW, edited("README.md", "epsilon = 4", "epsilon = 3")),
    ("another page now", OF_NOW, edited("statement.html", "</html>", "<p>safe</p></html>")),
    ("a ledger now", OF_NOW, told(lambda about: about.update(ledger={"tracked": True}))),
]


def of_forgeries() -> list[str]:
    """The verdicts on forged copies; the logs are in this folder."""
    published(OF_NOW)
    return [_of_forgery(*forgery) for forgery in FORGERIES]


def _of_forgery(name: str, source: str, forge: Callable[[Path], object]) -> str:
    shutil.copytree(Path(source) if source == OF_NOW else FIXTURES / "0.1.0" / source, name)
    forge(Path(name))
    return verdict(name)


# A release that is paid for. At so large an epsilon no noise is drawn that would change a count:
# each count moves with a chance below exp(-300).
_SHOP = "shop.csv --user customer --time time --items-per-user 6 --signed-by owner"
_MARCH = f"publish {_SHOP} --items columns:product --domain products.csv --epsilon 2000"
_ALL = f"publish {_SHOP} --items columns:product,columns:land --users 1000 --delta 0.01 -o"
PAID = [
    "ledger init shop.csv --dataset shop --cap-epsilon 9000 --cap-delta 0.1 --signed-by owner",
    f"{_MARCH} --period 2001-03 --id march -o march",
    f"{_MARCH} --period 2001-03 --id march -o march",
    f"{_MARCH} --period 2001-03 -o again",
    f"{_ALL} all --epsilon 4000 --id all --people customers --json",
    f"{_ALL} all --epsilon 4000 --id other",
    f"{_ALL} more --epsilon 4000",
    "plan --items columns:product --items-per-user 6 --users 1000 --delta 0.01 --epsilon 2500 "
    "--user customer -o plan.json",
    "publish shop.csv --plan plan.json --signed-by owner --id planned -o planned",
    "review all --block block.txt -o reviewed",
    "ledger show shop.csv",
    "ledger show shop.csv --json",
    "ledger verify shop.csv --releases .",
    "verify march --ledger zealous-ledger.sqlite",
    "verify all --ledger zealous-ledger.sqlite",
    "verify planned --ledger zealous-ledger.sqlite",
    "verify reviewed --ledger zealous-ledger.sqlite --parent all",
    "verify reviewed",
    "verify reviewed --parent march",
]


def paid() -> str:
    """What these commands print, and the files that they leave."""
    Path("block.txt").write_bytes(b"bread\n")
    shown = []
    with mock.patch.dict(os.environ, {"COLUMNS": "1000"}):  # wraps no path, however long it is
        for line in PAID:
            answer = command(*line.split())
            printed = f"{answer.stdout}{answer.stderr}exit code {answer.code}"
            shown.append(f"$ zealous {line}\n{printed}\n\n")
    releases = [readable(Path(name)) for name in ("march", "all", "planned", "reviewed")]
    return _without_chance("".join([*shown, *releases]))


def _without_chance(text: str) -> str:
    """Without keys, hashes over them, times, and the folder."""
    text = without_version(text).replace(f"{Path.cwd()}", "(folder)")
    text = re.sub(r"(?<![\w.])([0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{16})\b", "(hex)", text)
    return re.sub(r"\b20(?!01-)\d\d-\d\d-\d\d(T[\d:.]+\+00:00)?", "(day)", text)


def audited() -> str:
    """What the audit claims and finds, without figures that depend on chance."""
    answer = command("audit", "--trials", 100, "--json")
    found = json.loads(answer.stdout)
    found.pop("power")
    for pair in found["pairs"]:
        for bound in (pair["epsilon"], pair["delta"]):
            del bound["proven"], bound["seen_from"]
    return json.dumps({"code": answer.code, **found}, indent=1, ensure_ascii=False) + "\n"
