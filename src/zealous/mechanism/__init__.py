"""Mechanisms, one a file: each turns counts of a log into what may be published."""

from zealous.mechanism.gaussian import Gaussian
from zealous.mechanism.laplace import Laplace
from zealous.mechanism.protocol import Calibrated, Count, Mechanism
from zealous.mechanism.selection import Selection
from zealous.mechanism.zealous import Zealous

__all__ = ["Calibrated", "Count", "Gaussian", "Laplace", "Mechanism", "Selection", "Zealous"]
