"""Exact integer noise from the operating system's randomness.

How samples are drawn, and nothing else: which scale and which counts belongs in mechanisms/.

Floating-point noise leaks what it should hide (Mironov 2012), so here no float exists: a sample is
decided by comparing uniform integers with integers. The algorithms are 1 to 3 of Canonne, Kamath
and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), run on arrays.

Arrays keep independence as follows. A slot is decided by its own words; one that needs more rounds
keeps its place and gets fresh words. Which words of the stream those are depends on how the other
slots fared in the past, never on the words themselves, so slots stay independent and alike.
"""

from zealous.noise.capped import CappedLaplace
from zealous.noise.gaussian import DiscreteGaussian
from zealous.noise.laplace import DiscreteLaplace
from zealous.noise.seeded import seeded_bytes
from zealous.noise.uniform import RandomBytes

__all__ = [
    "CappedLaplace",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "RandomBytes",
    "seeded_bytes",
]
