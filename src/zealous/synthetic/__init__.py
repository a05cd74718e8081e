"""Synthetic search logs and purchases that behave like real ones, labelled synthetic.

The only package that draws pseudo-random numbers. Nothing here sees real data.
"""

from zealous.synthetic.behaviour import REGULARS, VISITORS, Behaviour
from zealous.synthetic.corpus import document_frequencies
from zealous.synthetic.figures import PAPER, Figures, figures
from zealous.synthetic.people import is_personal
from zealous.synthetic.shop import generate_shop
from zealous.synthetic.write import generate

__all__ = [
    "PAPER",
    "REGULARS",
    "VISITORS",
    "Behaviour",
    "Figures",
    "document_frequencies",
    "figures",
    "generate",
    "generate_shop",
    "is_personal",
]
