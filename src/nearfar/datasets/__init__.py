"""Data to work on: made here, with the truth known, and fetched, with checksums and citations."""

from nearfar.datasets.colours import Colours, ColourTruth, make_colours

__all__ = ["ColourTruth", "Colours", "make_colours"]
