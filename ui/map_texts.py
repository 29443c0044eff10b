"""The words of an attention map, which the lens of a notebook shares."""

from viz.lens.map_texts import map_texts

__all__ = ["map_texts"]
