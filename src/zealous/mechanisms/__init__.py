"""Mechanisms, one a file: each turns counts of a log into what may be published.

A mechanism draws the noise, decides what is published and states its delta. How a law of noise
is sampled belongs in noise/, its mathematics in privacy/accounting/.
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
