"""Data to work on: made here, with the truth known, and fetched, with checksums and citations.

A ``fetch_...`` function raises ``UnreachableError`` where data is not at hand and its server does not answer, and
``FileError`` where a file does not have the checksum or the counts it was published with.
"""

from nearfar.datasets._readers import Dataset
from nearfar.datasets.colours import Colours, ColourTruth, make_colours
from nearfar.datasets.digits import Digits, fetch_mnist, fetch_usps
from nearfar.datasets.published import (
    fetch_car,
    fetch_food,
    fetch_material,
    fetch_musicians,
    fetch_nature,
    fetch_things,
    fetch_vogue,
)
from nearfar.datasets.toys import TOYS, Toy, make_toy

__all__ = [
    "TOYS", "ColourTruth", "Colours", "Dataset", "Digits", "Toy", "fetch_car", "fetch_food", "fetch_material", "fetch_mnist",
    "fetch_musicians", "fetch_nature", "fetch_things", "fetch_usps", "fetch_vogue", "make_colours", "make_toy",
]  # fmt: skip
