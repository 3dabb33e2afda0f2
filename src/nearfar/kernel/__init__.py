"""Phi -> K: the kernel matrix, kernels between collections, the diagonal shift."""

from nearfar.kernel.shift import reduce_diagonal, smallest_eigenvalue

__all__ = ["reduce_diagonal", "smallest_eigenvalue"]
