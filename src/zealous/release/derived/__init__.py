"""Figures that follow from published tables, at no further cost."""
