from .columns import Columns as Columns
from .feature_map import FeatureMap as FeatureMap
from .mapping import PARTS as PARTS
from .mapping import TripletMap as TripletMap
from .mapping import parse_kernel as parse_kernel
from .stack import Phi as Phi
