"""How people search, as numbers: everything about a generated log that was fitted to figures."""

from dataclasses import dataclass
from typing import NamedTuple


class Popularity(NamedTuple):
    """A law of popularity: rank r in proportion to (r + shift)^-power, see `chance.zipf`."""

    power: float
    shift: float
    size: float


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """How often people search, for what, and what they do next.

    Attributes:
        sessions_a_day: Of an average user, besides the certain one.
        spread: The deviation of the logarithm of activity.
        least: The share of the average activity that everybody has.
        most: The highest activity, as a multiple of the average.
        certain_session: Whether everybody has one session, on any day of the first thirty: a log
            knows a user by something that she asked.
        continues: The chance that another query follows in a session.
        habitual: The chance that a need is one of the user's favourites.
        favourites: How popular these are among all topics, such as the sites that everybody goes
            to; where None, they are topics of the user's own subjects, popular as all are.
        topics: How popular the topics of a subject are.
        words: How popular the words of a subject are.
        added: The chances that a query has a word added to its topic, and that it has two.
        steps: The chances of what follows a query, in the order of `days.Step`.
        clicks: The chances of 0, 1, ... clicks on a page of results.
        newcomer_clicks: The share of them that people make who have the certain session alone, but
            for those who want one site.
        wants_brand: The chance that who asks for a brand wants its own site.
        wants_best: The chance that who asks for a popular topic wants the best site.
    """

    sessions_a_day: float
    spread: float
    least: float
    most: float
    certain_session: bool
    continues: float
    habitual: float
    favourites: Popularity | None
    topics: Popularity
    words: Popularity
    added: tuple[float, float]
    steps: tuple[float, float, float, float, float]
    clicks: tuple[float, ...]
    newcomer_clicks: float
    wants_brand: float
    wants_best: float


# Everybody comes back a few times a month. Fitted to the averages and the distinct items of the
# paper's log, which it has; of the tables of released items it has those for small m alone.
REGULARS = Behaviour(
    sessions_a_day=0.303,
    spread=1.25,
    least=0.25,
    most=40,
    certain_session=False,
    continues=0.545,  # 2.2 queries a session
    habitual=0.25,
    favourites=None,
    topics=Popularity(1.17, 3.0, 2e5),
    words=Popularity(1.16, 5.0, 1e6),
    added=(0.65, 0.26),
    steps=(0.37, 0.20, 0.05, 0.09, 0.29),
    clicks=(0.54, 0.33, 0.08, 0.03, 0.02),
    newcomer_clicks=1.0,
    wants_brand=0.6,
    wants_best=0.5,
)

# Most people come once, look through some pages of results and are not seen again; a few search all
# the time. Fitted to the tables of released items as well (`benchmarks/synthetic.py`).
VISITORS = Behaviour(
    sessions_a_day=3.8 / 30,
    spread=2.05,
    least=0.0,
    most=2000,
    certain_session=True,
    continues=0.76,
    habitual=0.22,
    favourites=Popularity(1.29, 3.2, 5e5),
    topics=Popularity(1.06, 3.0, 2e5),
    words=Popularity(1.25, 22.0, 1e6),
    added=(0.72, 0.30),
    steps=(0.57, 0.045, 0.065, 0.045, 0.275),
    clicks=(0.36, 0.46, 0.11, 0.04, 0.03),
    newcomer_clicks=0.1,
    wants_brand=0.98,
    wants_best=0.25,
)
