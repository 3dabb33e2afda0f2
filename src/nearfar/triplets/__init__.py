"""The noun: frozen Triplets, its optional columns, ids, joining, and answers as data frames."""

from nearfar.triplets.columns import mentioned, random_rows
from nearfar.triplets.core import Triplets, UniqueTriplets, as_triplets
from nearfar.triplets.ids import positions

__all__ = ["Triplets", "UniqueTriplets", "as_triplets", "mentioned", "positions", "random_rows"]
