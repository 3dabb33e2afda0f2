"""Phi -> K: the kernel matrix, kernels between collections, the diagonal shift."""

from nearfar.kernel.gram import gram
from nearfar.kernel.matrix import cross_kernel, kernel_matrix
from nearfar.kernel.shift import reduce_diagonal, smallest_eigenvalue

__all__ = ["cross_kernel", "gram", "kernel_matrix", "reduce_diagonal", "smallest_eigenvalue"]
