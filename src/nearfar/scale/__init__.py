"""The same verbs past one machine and past memory: on the workers of Dask, or with rows on disk.

Inside ``with connect("local"):`` or ``with scratch("/big/disk"):``, ``read_triplets``, ``FeatureMap`` and
``kernel_matrix`` of this module work in pieces; what they make are row blocks (``nearfar.blocks.RowBlocks``), which
the methods of nearfar take as they take matrices. This module owns no mathematics.
"""

from nearfar.methods import KernelKMeans, KernelPCA, medoid, neighbours, outliers
from nearfar.scale._answers import Answers
from nearfar.scale._connect import connect
from nearfar.scale._engine import scratch
from nearfar.scale.accuracy import triplet_accuracy
from nearfar.scale.blocks import from_dask, to_dask
from nearfar.scale.feature_map import FeatureMap
from nearfar.scale.kernel import gram, kernel_matrix
from nearfar.scale.reading import read_triplets

__all__ = [
    "Answers", "FeatureMap", "KernelKMeans", "KernelPCA", "connect", "from_dask", "gram", "kernel_matrix",
    "medoid", "neighbours", "outliers", "read_triplets", "scratch", "to_dask", "triplet_accuracy",
]  # fmt: skip
