"""Triplets -> Phi: k1, k2, score and their sums, one file each; counting and rows are shared."""

from nearfar.features.columns import Columns
from nearfar.features.feature_map import PARTS, FeatureMap, coverage, parse_kernel
from nearfar.features.stack import Phi

__all__ = ["PARTS", "Columns", "FeatureMap", "Phi", "coverage", "parse_kernel"]
