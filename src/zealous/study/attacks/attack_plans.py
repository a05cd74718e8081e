"""How each method is attacked: what is planted, and how often the output then shows a guess."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from zealous.engines.sql import literal
from zealous.errors import UsageError
from zealous.privacy.guarantee import SESSION_GAP
from zealous.release.table import Table
from zealous.study.anonymity import Bundle, Method
from zealous.study.attacks.planted_entries import PlantedEntries
from zealous.synthetic.chance import integers_below

Knowledge = Literal["all", "guess"]
CountShown = Callable[[Bundle, list[str]], list[int]]
_TURN = 2  # sets the sign apart from whatever else is made of the seed
_LONG = 64  # words of the sign: nobody else's query has such a pattern


@dataclass(frozen=True, kw_only=True)
class AttackPlan:
    """How a method is attacked.

    Attributes:
        knows: What the attacker knows of a user, in a sentence.
        guess: Which column of the guesses she looks for.
        plants: What she asks.
        accounts: How many accounts a guess takes.
        alone: How often the output would show a guess, at most, that she alone asked.
        seen: How many ids of the output hold each guess.
    """

    knows: str
    guess: Literal["query", "word"]
    plants: PlantedEntries
    accounts: int
    alone: int
    seen: CountShown


def plan_attack(method: Method, *, seed: int, knowing: Knowledge = "all") -> AttackPlan:
    """The attack on a method.

    Args:
        method: What to attack.
        seed: Fixes what is arbitrary.
        knowing: `all`: of the methods that put together what is alike, she also knows the rest of
            the user's session or history. `guess`: she knows nothing but the guess.
    """
    match method.shows:
        case "words":
            return _read_words()
        case "tokens":
            return _learn_tokens(seed)
        case "frequent queries":
            return _fill_up_to_k(_k(method), "query", gap=_gap(method))
        case "frequent words":
            return _fill_up_to_k(_k(method), "word")
        case "similar sessions":
            return _similar_sessions(_k(method), _gap(method), knowing, seed)
        case "similar histories":
            return _similar_histories(_k(method), knowing, seed)
        case None:
            raise UsageError(
                f"no attack on {method.name} is known: a method says by `shows` how it is attacked"
            )


def knowledge_levels(method: Method) -> tuple[Knowledge, ...]:
    """Where what is alike is put together, it matters what else the attacker knows."""
    if method.shows is None:
        return ()
    alike = method.shows in ("similar sessions", "similar histories")
    return ("all", "guess") if alike else ("all",)


def _k(method: Method) -> int:
    k = method.settings().get("k")
    if k is None:
        raise UsageError(f"{method.name} shows what k users have in common, and has no k")
    return int(k)


def _gap(method: Method) -> int:
    return int(method.settings().get("session_gap", SESSION_GAP))


def _read_words() -> AttackPlan:
    """The words are in the output, or not: nothing needs to be planted."""
    nothing = "select 0 as account, 0 as number, word as query from guesses limit 0"
    return AttackPlan(
        knows=_KNOWN["word"],
        guess="word",
        plants=PlantedEntries(sql=nothing),
        accounts=0,
        alone=0,
        seen=_count_in("keywords"),
    )


def _similar_sessions(k: int, gap: int, knowing: Knowledge, seed: int) -> AttackPlan:
    """Sessions of her own, which the user's joins."""
    others = "others" if knowing == "all" else f"[{_unique_word(seed, 'account')}]"
    session = f"array_to_string(list_concat({others}, [word]), ' ')"
    asked = f"select account, number, {session} as query from {guesses_per_account(k)}"
    found = _join_group(k, "word", asked, seed=seed, gap=gap)
    if knowing == "guess":
        return found
    known = "a word that nobody else uses and the other words of the session it was used in."
    return replace(found, knows=known)


def _similar_histories(k: int, knowing: Knowledge, seed: int) -> AttackPlan:
    """Histories of her own, which the user's joins; each guess takes accounts of its own."""
    own = f"number * {k} + account"
    if knowing == "guess":
        history = f"unnest([query, {_unique_word(seed, own)}])"
        asked = f"select {own} as account, number, {history} as query from {guesses_per_account(k)}"
        return _join_group(k, "query", asked, seed=seed)
    hers = f"{guesses_per_account(k)}, entries where entries.user = guesses.user"
    asked = f"select {own} as account, number, entries.query from {hers}"
    known = "a query that nobody else asks and all other queries of hers."
    return replace(_join_group(k, "query", asked, seed=seed), knows=known)


def _join_group(
    k: int,
    guess: Literal["query", "word"],
    asked: str,
    *,
    seed: int,
    gap: int = SESSION_GAP,
) -> AttackPlan:
    """Where what is alike is put together: k sets of her own are a group, shown k times.

    If the user joins it, it has k + 1. Nobody else does, since nobody else has the guess, as long
    as what is like nothing else can be put together without it: for that there are k more
    accounts, the same for all guesses, which ask nothing but noise. Where one account has as many
    sessions as nearly all others together, its sessions go wherever there is room, and she errs.

    Who knows the user's whole set plants k equal ones. Equal sets are put together first: with
    hers if she has the guess, and without it she has another set. Who knows the guess alone adds
    noise to it, a word for each account: were they equal they would be put together without her.
    Hers has only the guess in common with them, and goes elsewhere if it has more in common there.
    """
    filler = (
        f"select -1 - account as account, number, {_unique_word(seed, '-1 - account', 'number')}"
    )
    return AttackPlan(
        knows=_KNOWN[guess],
        guess=guess,
        plants=PlantedEntries(
            sql=f"{asked} union all {filler} from {guesses_per_account(k)}", gap=gap
        ),
        accounts=2 * k,
        alone=k,
        seen=_count_in(_SHOWN[guess]),
    )


def _unique_word(seed: int, *numbers: str) -> str:
    """SQL: a word that nobody else uses."""
    return f"md5(concat_ws(' ', {seed}, {', '.join(numbers)}))"


def _fill_up_to_k(
    k: int,
    guess: Literal["query", "word"],
    *,
    gap: int = SESSION_GAP,
) -> AttackPlan:
    """Asked from k - 1 accounts, too few to be shown, the guess is shown if one more user did."""
    asked = f"select account, number, {guess} as query from {guesses_per_account(k - 1)}"
    return AttackPlan(
        knows=_KNOWN[guess],
        guess=guess,
        plants=PlantedEntries(sql=asked, gap=gap),
        accounts=k - 1,
        alone=0,
        seen=_count_in(_SHOWN[guess]),
    )


_KNOWN = {"query": "a query that nobody else asks.", "word": "a word that nobody else uses."}
_SHOWN = {"query": "queries", "word": "keywords"}


def _learn_tokens(seed: int) -> AttackPlan:
    """One account learns the tokens: it asks for each word alone, after a query of a known pattern.

    Tokens are the same wherever the word is, so a pattern of two words shows through them.
    """
    sign = _token_pattern(seed)
    pattern = " ".join("ab"[each] for each in sign)
    return AttackPlan(
        knows=_KNOWN["word"],
        guess="word",
        plants=PlantedEntries(
            sql=f"select 0 as account, -1 as number, {literal(pattern)} as query "
            "union all select 0 as account, number, word as query from guesses"
        ),
        accounts=1,
        alone=1,
        seen=lambda bundle, guesses: shown_counts(
            bundle["keywords"], _learned_tokens(bundle.log(), sign)
        ),
    )


def _token_pattern(seed: int) -> list[int]:
    return [int(bit) for bit in integers_below(2, seed, _TURN, range(_LONG))]


def _learned_tokens(log: pa.Table, sign: list[int]) -> list[str]:
    """The tokens of the guesses, in their order: what the account with the sign asked after it."""
    long = log.filter(pc.equal(pc.count_substring(log["query"], " "), _LONG - 1))
    account = next(
        row["id"]
        for row in long.select(["id", "query"]).to_pylist()
        if _has_pattern(row["query"], sign)
    )
    asked = log.filter(pc.equal(log["id"], account)).sort_by("time")["query"]
    return list(asked.to_pylist())[1:]


def _has_pattern(query: str, sign: list[int]) -> bool:
    """Whether a query has the pattern: one token for each 0, another for each 1."""
    pairs = set(zip(query.split(" "), sign, strict=True))
    return len(pairs) == 2 == len({token for token, _ in pairs})


def guesses_per_account(number: int) -> str:
    """SQL: the guesses, once for each of so many accounts."""
    return f"guesses, (select unnest(range({number})) as account)"


def _count_in(kind: str) -> CountShown:
    """Look into one of the histograms."""
    return lambda bundle, guesses: shown_counts(bundle[kind], guesses)


def shown_counts(table: Table, guesses: list[str]) -> list[int]:
    """How often each guess is shown in a histogram whose items have one column."""
    item = table.arrow.column_names[0]
    shown = table.arrow.filter(pc.is_in(table.arrow[item], pa.array(guesses, pa.string())))
    found = dict(zip(shown[item].to_pylist(), shown["count"].to_pylist(), strict=True))
    return [found.get(guess, 0) for guess in guesses]
