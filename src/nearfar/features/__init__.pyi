from .feature_map import FeatureMap as FeatureMap
from .mapping import PARTS as PARTS
from .mapping import TripletMap as TripletMap
from .mapping import parse_kernel as parse_kernel
from .part import Columns as Columns
from .rows import Phi as Phi
