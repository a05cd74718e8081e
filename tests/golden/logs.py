"""Small invented logs for the golden releases, and the public files beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

ASKED = ["green tea", "red shoes", "black tea", "tea shop", "green shoes", "weather", "red tea"]
THINGS = ["bread", "milk", "eggs", "cheese", "apples", "tea"]
LANDS = ["at", "de", "ch"]
USERS = 90

Entry = tuple[str, str, str, str, str, str]


def searches() -> Iterator[Entry]:
    """User, query, time, URL, land and visit; four queries of each user, in two visits.

    Nobody asks for the weather or red tea, and each user asks one thing that few others ask.
    """
    for user in range(USERS):
        asked = [ASKED[(user + step * step) % (3 + user % 3)] for step in range(3)]
        asked.append(f"how to mend {ASKED[user % 3]} {user % 9}")
        for step, query in enumerate(asked):
            when = f"2001-03-{1 + user % 20:02d} {user % 23:02d}:{20 * step:02d}:{step:02d}"
            when = when.replace(":60:", ":59:")
            url = f"http://{query.split()[0]}.example/{step % 2}"
            yield f"u{user}", query, when, url, LANDS[user % 3], f"v{step // 2}"


def purchases() -> Iterator[tuple[str, ...]]:
    """Customer, basket, product, time and land."""
    for user in range(USERS):
        for day in range(2):
            for step in range(3):
                thing = THINGS[(user * (day + 1) + step * step) % (3 + user % 4)]
                when = f"2001-03-{10 + day} 09:{step:02d}:00"
                yield f"c{user}", f"{user}-{day}", thing, when, LANDS[user % 3]


STRANGE = [
    '=HYPERLINK("http://x.example")',
    "<b>tea</b> & \u201cshoes\u201d",
    "thé à la menthe",
    "日本 茶",
    "  GREEN   Tea ",
    "+1 @home, -2",
]


def write_logs(folder: Path) -> None:
    """All files, into a folder."""
    rows = list(searches())
    write(folder / "searches.tsv", "\t", ["user", "query", "time", "url", "land", "visit"], rows)
    bare = [(user, query, when, "1", url) for user, query, when, url, _, _ in rows]
    write(folder / "aol.txt", "\t", ["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"], bare)
    digits = str.maketrans("", "", "-: ")
    excite = [(row[0], row[2].translate(digits)[2:], row[1]) for row in rows]
    write(folder / "excite.log", "\t", None, excite)
    lines = [json.dumps({"user": u, "query": q, "url": [url]}) for u, q, _, url, _, _ in rows]
    (folder / "searches.jsonl").write_bytes("".join(f"{line}\n" for line in lines).encode())
    strange = [
        (f"u{n}", STRANGE[(n + step) % 6].replace('"', '""'))
        for n in range(60)
        for step in range(2)
    ]
    quoted = [(user, f'"{query}"') for user, query in strange]
    write(folder / "strange.csv", ",", ["user", "query"], quoted)
    names = ["customer", "basket", "product", "time", "land"]
    write(folder / "shop.csv", ",", names, list(purchases()))
    write(folder / "left-out.txt", ",", None, [("u1",), ("u2",)])
    write(folder / "products.csv", ",", ["product"], [(each,) for each in [*THINGS, "sugar"]])
    likely = [(query, str(40 - place)) for place, query in enumerate([*ASKED, "snow"])]
    write(folder / "likely.csv", ",", ["query", "count"], likely)
    shown = [(query, f"http://{query.split()[0]}.example/{n}") for query in ASKED for n in (0, 1)]
    write(folder / "results.tsv", "\t", ["query", "url"], shown)


def write(
    path: Path, between: str, header: list[str] | None, rows: Sequence[tuple[str, ...]]
) -> None:
    """A text file of rows, the same bytes everywhere."""
    lines = [between.join(row) for row in ([tuple(header), *rows] if header else rows)]
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
