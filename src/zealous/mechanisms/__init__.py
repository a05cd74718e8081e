"""Mechanisms, one a file: each turns counts of a log into what may be published.

A mechanism draws the noise, decides what is published and states its delta. How a law of noise
is sampled belongs in noise/, its mathematics in privacy/accounting/.

Why a release is private, in the order of the code: each user counts for at most m items, chosen by
her own entries and a public key (counting/bound.py). So one person moves at most m counts by one,
or 2m where a history is replaced (counting/histogram.py). A mechanism adds noise of that size to
every count. What it publishes is either known to be possible without the log (`known_list`), or
has a noisy count so high that an item of one person hardly ever gets there (`thresholds`): delta
bounds how often. The loss of each table is composed with the others (privacy/composition/).
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
