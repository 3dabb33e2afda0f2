"""The same verbs on Dask: answers past one machine and past memory. Cuts work into blocks, owns no mathematics."""

from nearfar.scale.connect import connect
from nearfar.scale.feature_map import FeatureMap

__all__ = ["FeatureMap", "connect"]
