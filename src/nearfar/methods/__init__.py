"""Kernel methods on Phi: clusters, maps, trees, neighbours, medoids, outliers."""

from nearfar.methods.kernel_kmeans import KernelKMeans
from nearfar.methods.kernel_pca import KernelPCA

__all__ = ["KernelKMeans", "KernelPCA"]
