"""Mechanisms, one a file: each turns counts of a log into what may be published.

A mechanism draws the noise, decides what is published and states its delta. How a law of noise
is sampled belongs in noise/, its mathematics in privacy/accounting/.

Why a release is private, in the order of the code:

1. Each user counts for at most m items, chosen by her own entries and a public key
   (counting/bound.py).
2. So one person moves at most m counts by one, or 2m where a history is replaced
   (counting/histogram.py).
3. A mechanism adds noise of that size to every count. It sees the log only through these counts,
   and what its `release` returns is all that is published (`protocol`). `pooled` and `prior` first
   find items by weights instead: each user spreads a vector of bounded length over her items, in
   several rounds, and noise covers that length (`pooled`). In `selection-twice` each user counts
   for one of her m items, and once more for one that she chooses by the noisy counts.
4. What it publishes is either known to be possible without the log (`known_list`), or has a noisy
   count or weight so high that an item of one person hardly ever gets there (`thresholds`,
   `pooled`): delta bounds how often.
5. What each table tells is composed with the others (privacy/composition/).

Read `protocol`, `laws` and `thresholds` first, then `zealous`, the default. The others:

- Noise between two thresholds: `joint` with `laplace` and `gaussian`; `selection`, and
  `selection_twice`, in which users choose the item that they count for by earlier noisy counts.
- Noise on each item of a list that is known without the log: `known_list` and `over_known_list`
  with `domain`, `results`, `listed`, `of_keywords` and `of_smaller`.
- Items are found in rounds, and counted then: `key_counts` with `pooled` and `prior`.
- Those of earlier releases, which nothing draws with: `retired`.
- Chosen by what was published before: `after_look`. Chosen by a rule: `choose`.
- The public files that some of them read: `public_files`.
- What a release says of each: `descriptions`.
"""

from zealous.mechanisms.gaussian import Gaussian
from zealous.mechanisms.laplace import Laplace
from zealous.mechanisms.protocol import CalibratedMechanism, Count, Mechanism
from zealous.mechanisms.selection import Selection
from zealous.mechanisms.zealous import Zealous

__all__ = [
    "CalibratedMechanism",
    "Count",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "Selection",
    "Zealous",
]
