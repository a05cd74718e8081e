"""Synthetic search logs and purchases that behave like real ones, labelled synthetic."""

from zealous.generate.corpus import document_frequencies
from zealous.generate.figures import PAPER, Figures, figures
from zealous.generate.people import is_personal
from zealous.generate.shop import generate_shop
from zealous.generate.write import generate

__all__ = [
    "PAPER",
    "Figures",
    "document_frequencies",
    "figures",
    "generate",
    "generate_shop",
    "is_personal",
]
