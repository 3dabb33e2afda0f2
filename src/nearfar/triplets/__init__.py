"""The noun: frozen Triplets, its optional columns, ids, joining, and answers as data frames."""

from nearfar.triplets.columns import random_rows
from nearfar.triplets.core import Triplets, UniqueTriplets, as_triplets

__all__ = ["Triplets", "UniqueTriplets", "as_triplets", "random_rows"]
