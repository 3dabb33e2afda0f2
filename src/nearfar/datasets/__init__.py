"""Data to work on: made here, with the truth known, and fetched, with checksums and citations."""

from nearfar.datasets._dataset import Dataset
from nearfar.datasets.car import fetch_car
from nearfar.datasets.colours import Colours, ColourTruth, make_colours
from nearfar.datasets.digits import Digits, fetch_mnist, fetch_usps
from nearfar.datasets.food import fetch_food
from nearfar.datasets.material import fetch_material
from nearfar.datasets.musicians import fetch_musicians
from nearfar.datasets.scenes import fetch_nature, fetch_vogue
from nearfar.datasets.things import fetch_things
from nearfar.datasets.toys import TOYS, Toy, make_toy

__all__ = [
    "TOYS",
    "ColourTruth",
    "Colours",
    "Dataset",
    "Digits",
    "Toy",
    "fetch_car",
    "fetch_food",
    "fetch_material",
    "fetch_mnist",
    "fetch_musicians",
    "fetch_nature",
    "fetch_things",
    "fetch_usps",
    "fetch_vogue",
    "make_colours",
    "make_toy",
]
