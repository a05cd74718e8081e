"""The plans of the golden files: a grid over what `zealous plan` can be asked, by theme."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

from golden.kept import command, without_version

FILES = {
    "products.csv": "product\nbread\nmilk\neggs\n",
    "queries.csv": "query,count\ngreen tea,9\nweather,7\nshoes,1\n",
    "words.txt": "tea\nshoes\n",
    "results.tsv": "query\turl\trank\ngreen tea\thttp://tea.example/\t1\n",
}

ANYBODY = "--guarantee probabilistic --users 500000 --delta 0.001"
EACH = "--guarantee indistinguishable --delta 1e-7"
GUARANTEES = (ANYBODY, EACH)
NEIGHBORS = ("replace", "add-remove")
UNITS = ("user", "user-day", "session")
KINDS = (
    "keywords",
    "queries",
    "clicks",
    "query-pairs",
    "phrase-pairs",
    "query-clicks",
    "columns:product",
    "columns:product+land",
)
SEVERAL = "--items queries,keywords --items-per-user queries=3,keywords=8 --epsilon 4"

guarantees = [
    f"{guarantee} --neighbors {neighbors} --unit {unit} --epsilon {epsilon} --items-per-user {m}"
    for guarantee, neighbors, unit, (epsilon, m) in product(
        GUARANTEES, NEIGHBORS, UNITS, [(1, 2), ("0.4", 1), (8, 20)]
    )
]

numbers = [
    *(
        f"{guarantee} --epsilon {epsilon} --items-per-user {m}"
        for guarantee, epsilon, m in product(GUARANTEES, ["0.05", "1/3", "2.5"], [1, 7, 40])
    ),
    *(
        f"--users {users} --delta {delta} --epsilon 2 --items-per-user 3"
        for users, delta in [(1, "0.1"), (100, "1/7"), (10_000, "1e-9"), (10**9, "0.5")]
    ),
    "--guarantee indistinguishable --users 1000 --delta 1e-4 --epsilon 2 --items-per-user 3",
    "--guarantee indistinguishable --users 1000 --delta 0.1 --accept-delta --epsilon 2 "
    "--items-per-user 3",
]

mechanisms = [
    f"{EACH} --neighbors {neighbors} --epsilon 2 --items-per-user {m} --mechanism {name}"
    for name, neighbors, m in product(
        ("zealous", "laplace", "gaussian", "selection", "pooled", "auto"),
        NEIGHBORS,
        (1, 6),
    )
]
kinds = [
    *(
        f"{guarantee} --items {kind} --items-per-user 4 --epsilon 3"
        for guarantee, kind in product(GUARANTEES, KINDS)
    ),
    *(
        f"{ANYBODY} --epsilon 3 --items-per-user 4 --items {more}"
        for more in [
            "queries --by land",
            "queries --fold-words",
            "query-clicks --by land --fold-words",
            "query-pairs --session-gap 5",
            "phrase-pairs --session-gap 90",
            "keywords --select first",
            "keywords --select frequent --parameters-from earlier-release",
            "keywords --parameters-from this-log",
        ]
    ),
    *(f"{guarantee} {SEVERAL} --neighbors {n}" for guarantee, n in product(GUARANTEES, NEIGHBORS)),
    *(
        f"{guarantee} {SEVERAL} --split queries=3,keywords=1 --unit user-day"
        for guarantee in GUARANTEES
    ),
    f"{ANYBODY} --items {','.join(KINDS)} --items-per-user 2 --epsilon 20 --accept-epsilon",
    f"{EACH} --items queries,query-clicks --rates --items-per-user 3 --epsilon 4",
    f"{ANYBODY} --items queries,query-clicks --rates --items-per-user 3 --epsilon 4",
    f"{EACH} {SEVERAL} --mechanism queries=pooled,keywords=gaussian",
    f"{EACH} {SEVERAL} --mechanism queries=selection",
    f"{EACH} {SEVERAL} --mechanism auto",
]

_SETS = [
    f"--items {family}:product --items-per-user 4 --max-size {size} --epsilon 9"
    for family, size in product(("itemsets", "sequences"), (1, 2, 4))
]
_FEW = "--items itemsets:a --items-per-user 3 --epsilon 9"

# Of several tables with noise of several laws; to compose their losses takes seconds.
composed = {
    "composed-sets": [f"{EACH} {each}" for each in _SETS if "--max-size 1" not in each],
    "composed-columns": [
        f"{EACH} --items itemsets:a/b/c --items-per-user 3 --epsilon 9 --basket visit",
        f"{EACH} --items itemsets:a,sequences:a --items-per-user 3 --epsilon 9 --max-size 2",
    ],
    "composed-mechanisms": [
        f"{EACH} {_FEW} --mechanism auto",
        f"{EACH} {_FEW} --max-size 2 --mechanism itemsets-2:a=of-smaller-gaussian",
    ],
    "composed-tail": [
        f"{EACH} {SEVERAL} --neighbors add-remove --tail 2",
        f"{EACH} {SEVERAL} --tail 1/2 --split queries=2,keywords=1",
    ],
}

sets_and_tail = [
    *(f"{ANYBODY} {each}" for each in _SETS),
    *(f"{EACH} {each}" for each in _SETS if "--max-size 1" in each),
    f"{EACH} {_FEW} --max-size 2 --mechanism itemsets-2:a=of-smaller",
    f"{ANYBODY} {_FEW} --max-size 2 --mechanism itemsets-2:a=of-smaller-gaussian",
    f"{ANYBODY} {SEVERAL} --neighbors replace --tail 2",
]

public_files = [
    "--items columns:product --items-per-user 3 --epsilon 1 --domain products.csv",
    f"{ANYBODY} --items columns:product --items-per-user 3 --epsilon 1 --domain products.csv",
    f"{EACH} --items columns:product --items-per-user 3 --epsilon 1 --domain products.csv "
    "--mechanism auto",
    f"{EACH} {SEVERAL} --domain keywords=words.txt",
    f"{EACH} {SEVERAL} --domain keywords=words.txt --prior queries=queries.csv",
    f"{EACH} --items queries --items-per-user 5 --epsilon 1 --prior queries.csv",
    f"{EACH} --items queries --items-per-user 5 --epsilon 1 --prior queries.csv --mechanism auto "
    "--neighbors add-remove",
    f"{EACH} --items queries --items-per-user 5 --epsilon 1 --prior queries.csv "
    "--mechanism prior --unit session",
    *(
        f"{guarantee} --items queries,query-clicks --items-per-user 3 --epsilon 4 "
        f"--results results.tsv {rates}"
        for guarantee, rates in product(GUARANTEES, ("", "--rates"))
    ),
    *(
        f"{guarantee} --items keywords,queries --items-per-user 3 --epsilon 4 "
        "--mechanism queries=of-keywords"
        for guarantee in GUARANTEES
    ),
    f"{EACH} --items keywords,queries,query-clicks --items-per-user 3 --epsilon 8 "
    "--mechanism queries=of-keywords --results results.tsv",
]

GUARANTEES_OF = ("study", "guarantees")
theory = [
    f"{ANYBODY} --epsilon 2 --items-per-user 2 --accounts-per-person 2",
    f"{ANYBODY} --epsilon 2 --items-per-user 2 --accounts-per-person 50",
    f"{EACH} --epsilon 2 --items-per-user 2 --accounts-per-person 3 --unit user-day",
    f"{EACH} {SEVERAL} --accounts-per-person 2",
    f"{ANYBODY} --epsilon 2 --items-per-user 2 --curve",
    f"{EACH} --epsilon 2 --items-per-user 2 --curve --neighbors add-remove",
    f"{EACH} {SEVERAL} --curve",
    f"{EACH} --epsilon 1 --items-per-user 5 --mechanism gaussian --curve",
    "--scale 5 --tau 1 --tau-prime 100 --items-per-user 5 --users 500000",
    "--scale 5 --tau 1 --tau-prime 100 --items-per-user 5",
    "--scale 3/2 --tau 4 --tau-prime 60 --items-per-user 2 --users 900 --unit session",
    "--scale 5 --tau 1 --tau-prime 1 --items-per-user 5 --users 500000",
    "--scale 5 --tau 1 --items-per-user 5",
    "--scale 5 --tau 1 --tau-prime 9 --items-per-user 5 --epsilon 1",
]

refusals = [
    "",
    "--epsilon 1 --delta 0.001 --items-per-user 2",
    "--epsilon 1 --users 100 --items-per-user 2",
    "--delta 0.001 --users 100 --items-per-user 2",
    "--epsilon 1 --delta 0.001 --users 100",
    f"{ANYBODY} --epsilon 0 --items-per-user 2",
    f"{ANYBODY} --epsilon nan --items-per-user 2",
    f"{ANYBODY} --epsilon much --items-per-user 2",
    f"{ANYBODY} --epsilon 1 --items-per-user 0",
    f"{ANYBODY} --epsilon 1 --items-per-user two",
    "--users 0 --delta 0.001 --epsilon 1 --items-per-user 2",
    "--users 100 --delta 1 --epsilon 1 --items-per-user 2",
    "--users 100 --delta 0 --epsilon 1 --items-per-user 2",
    "--users 100 --delta 0.001 --epsilon 1 --items-per-user 2 --guarantee perfect",
    "--users many --delta 0.001 --epsilon 1 --items-per-user 2",
    "--guarantee indistinguishable --users 400000 --delta 0.001 --epsilon 1 --items-per-user 2",
    f"{ANYBODY} --epsilon 1 --items-per-user 2 --items searches",
    f"{ANYBODY} --epsilon 1 --items-per-user 2 --items queries,queries",
    f"{ANYBODY} --epsilon 1 --items-per-user queries=2 --items queries,keywords",
    f"{ANYBODY} --epsilon 1 --items-per-user 5,2 --items queries,keywords",
    f"{ANYBODY} {SEVERAL} --split queries=1",
    f"{ANYBODY} {SEVERAL} --split queries=1,keywords=0",
    f"{ANYBODY} --epsilon 1 --items-per-user 2 --mechanism magic",
    f"{EACH} --epsilon 1 --items-per-user 2 --items queries --mechanism rounds",
    *(
        f"{ANYBODY} --epsilon 1 --items-per-user 2 --items queries --mechanism {name}"
        for name in (
            "laplace",
            "gaussian",
            "pooled",
            "domain",
            "prior",
            "results",
            "of-keywords",
            "of-smaller",
            "listed",
        )
    ),
    f"{ANYBODY} --epsilon 1 --items-per-user 1 --items queries --mechanism selection",
    f"{ANYBODY} --epsilon 1 --items-per-user 2 --items queries --prior queries.csv",
    f"{EACH} --epsilon 1 --items-per-user 2 --items queries --domain absent.csv",
    f"{EACH} --epsilon 1 --items-per-user 2 --items queries --domain queries.csv "
    "--prior queries.csv",
    f"{EACH} --epsilon 1 --items-per-user 2 --items queries --domain queries.csv "
    "--mechanism gaussian",
    f"{EACH} --epsilon 1 --items-per-user 2 --items queries --results results.tsv",
    f"{EACH} --epsilon 1 --items-per-user 2 --items queries --rates",
    f"{EACH} --epsilon 1 --items-per-user 2 --items queries --tail 1",
    f"{EACH} {SEVERAL} --tail 0",
    f"{EACH} {SEVERAL} --tail 1 --fold-words",
    f"{EACH} --epsilon 1 --items-per-user 2 --items queries --max-size 2",
    f"{EACH} --epsilon 1 --items-per-user 2 --items itemsets:a --max-size 0",
    f"{EACH} --epsilon 1 --items-per-user 2 --items itemsets:a --by land",
    f"{EACH} --epsilon 1 --items-per-user 2 --like release",
]

THEMES = {
    "guarantees": guarantees,
    "numbers": numbers,
    "mechanisms": mechanisms,
    "kinds": kinds,
    "sets-and-tail": sets_and_tail,
    **composed,
    "public-files": public_files,
    "theory": theory,
    "refusals": refusals,
}

PRINTED = [guarantees[0], mechanisms[18], kinds[24], sets_and_tail[0], public_files[4]]


def write_files(folder: Path) -> None:
    """The public files that the plans name, relative to the folder."""
    for name, text in FILES.items():
        (folder / name).write_bytes(text.encode())


def answered(options: str) -> str:
    """One line of JSON: what was asked, and what `zealous plan` or GUARANTEES_OF said."""
    arguments = [*options.split(), "--json"]
    answer = command(*(GUARANTEES_OF if options in theory else ["plan"]), *arguments)
    found: dict[str, object] = {"arguments": arguments}
    if answer.code == 0:
        found["answer"] = json.loads(answer.stdout)
        warned = answer.stderr.startswith("zealous: warning: delta")
        assert warned or not answer.stderr or options in theory, answer.stderr
    else:
        assert not answer.stdout
        found |= {"refused": answer.stderr.strip(), "code": answer.code}
    return json.dumps(found, ensure_ascii=False)


def printed_theory() -> str:
    """What holds for people with several ids, as people read it."""
    answer = command(*GUARANTEES_OF, *theory[0].split())
    return f"$ zealous {' '.join(GUARANTEES_OF)} {theory[0]}\n{answer.stdout}{answer.stderr}"


def printed(options: str) -> str:
    """A plan as people read it, and as the file that they approve."""
    answer = command("plan", *options.split())
    text = f"$ zealous plan {options}\n{answer.stdout}{answer.stderr}"
    if command("plan", *options.split(), "-o", "plan.json").code == 0:
        plan = Path("plan.json")
        text += plan.read_text()
        plan.unlink()
    return without_version(text)
