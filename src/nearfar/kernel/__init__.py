"""Phi -> K: the kernel matrix, kernels between collections, the diagonal shift."""

from nearfar.kernel.gram import gram
from nearfar.kernel.matrix import cross_kernel, kernel_matrix
from nearfar.kernel.shift import ShiftedKernel, reduce_diagonal, shifted_kernel, smallest_eigenvalue

__all__ = [
    "ShiftedKernel",
    "cross_kernel",
    "gram",
    "kernel_matrix",
    "reduce_diagonal",
    "shifted_kernel",
    "smallest_eigenvalue",
]
