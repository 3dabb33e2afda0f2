"""Answers in, answers out: one file per dialect, one per format, all ending as Triplets."""

from nearfar.io.objects import ObjectList, read_objects
from nearfar.io.quadruplets import Quadruplets, read_quadruplets
from nearfar.io.reading import ReadResult, read_answers, read_triplets, scan_triplets
from nearfar.io.table_writing import write_triplets

__all__ = [
    "ObjectList", "Quadruplets", "ReadResult", "read_answers", "read_objects", "read_quadruplets", "read_triplets",
    "scan_triplets", "write_triplets",
]  # fmt: skip
