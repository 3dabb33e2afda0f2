"""Phi -> K: the kernel matrix, kernels between collections, the diagonal shift."""

from nearfar.kernel.gram import cross_kernel, gram
from nearfar.kernel.shift import ShiftedKernel, shifted_kernel, smallest_eigenvalue

__all__ = [
    "ShiftedKernel",
    "cross_kernel",
    "gram",
    "shifted_kernel",
    "smallest_eigenvalue",
]
