"""Points from answers: GNMDS, CKL, STE, TSTE and SOE on one compiled loop, started from a rank-based map."""

from nearfar.embedding.base import Embedding
from nearfar.embedding.estimators import CKL, GNMDS, SOE, STE, TSTE

__all__ = ["CKL", "GNMDS", "SOE", "STE", "TSTE", "Embedding"]
