"""Synthetic search logs that behave like real ones, labelled synthetic."""

from zealous.generate.corpus import document_frequencies
from zealous.generate.figures import PAPER, Figures, figures
from zealous.generate.people import is_personal
from zealous.generate.write import generate

__all__ = ["PAPER", "Figures", "document_frequencies", "figures", "generate", "is_personal"]
