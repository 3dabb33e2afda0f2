"""Points from answers: GNMDS, CKL, STE, TSTE and SOE on one compiled loop; non-negative dimensions."""

from nearfar.embedding.base import Embedding
from nearfar.embedding.estimators import CKL, GNMDS, SOE, STE, TSTE
from nearfar.embedding.nonneg import NonNegative

__all__ = ["CKL", "GNMDS", "SOE", "STE", "TSTE", "Embedding", "NonNegative"]
