"""The same verbs on Dask: answers past one machine and past memory. Cuts work into blocks, owns no mathematics."""

from nearfar.scale._answers import Answers
from nearfar.scale._connect import connect
from nearfar.scale.accuracy import triplet_accuracy
from nearfar.scale.feature_map import FeatureMap
from nearfar.scale.kernel import gram, kernel_matrix
from nearfar.scale.kernel_kmeans import KernelKMeans
from nearfar.scale.kernel_pca import KernelPCA
from nearfar.scale.near import neighbours
from nearfar.scale.reading import read_triplets
from nearfar.scale.typical import medoid

__all__ = [
    "Answers",
    "FeatureMap",
    "KernelKMeans",
    "KernelPCA",
    "connect",
    "gram",
    "kernel_matrix",
    "medoid",
    "neighbours",
    "read_triplets",
    "triplet_accuracy",
]
