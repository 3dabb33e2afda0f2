"""Kernel methods on Phi: clusters, maps, trees, neighbours, medoids, outliers."""

from nearfar.methods.kernel_kmeans import KernelKMeans
from nearfar.methods.kernel_pca import KernelPCA
from nearfar.methods.medoids_outliers import Medoids, Outliers, find_outliers, medoid, outliers
from nearfar.methods.neighbours import Neighbours, nearest_among, neighbours
from nearfar.methods.trees import ClusterTree, Tree, cut, link_clusters, linkage, with_uninformed

__all__ = [
    "ClusterTree",
    "KernelKMeans",
    "KernelPCA",
    "Medoids",
    "Neighbours",
    "Outliers",
    "Tree",
    "cut",
    "find_outliers",
    "link_clusters",
    "linkage",
    "medoid",
    "nearest_among",
    "neighbours",
    "outliers",
    "with_uninformed",
]
