"""A fitted FeatureMap as an NPZ file: plain arrays, never pickle."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy import sparse

from nearfar._tools.atomic import atomic_path
from nearfar.errors import FileError

if TYPE_CHECKING:
    from nearfar.features.mapping import TripletMap

AnyMap = TypeVar("AnyMap", bound="TripletMap")

FORMAT = "nearfar feature map 1"


def save(feature_map: TripletMap, path: str | os.PathLike[str]) -> None:
    """Write parameters, objects, columns and Phi."""
    phi = feature_map.features_
    given = feature_map.landmarks
    landmarks = None if given is None else [v if isinstance(v, str) else int(v) for v in given]
    head = {
        "format": FORMAT,
        "kernel": feature_map.kernel,
        "landmarks": landmarks,
        "layout": feature_map.layout,
        "dtype": np.dtype(feature_map.dtype).name,
        "coverage": feature_map.coverage_,
        "n_parts": len(feature_map._codes),
    }
    arrays: dict[str, Any] = {
        "head": np.array(json.dumps(head)),
        "objects": np.array(json.dumps(feature_map.objects_)),
        "mark_objects": feature_map._mark_objects,
        "informed": feature_map.informed_,
    }
    arrays |= {f"codes_{i}": codes for i, codes in enumerate(feature_map._codes)}
    if isinstance(phi, np.ndarray):
        arrays["phi"] = phi
    else:
        arrays |= {name: getattr(phi, name) for name in ("data", "indices", "indptr", "shape")}
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def load(kind: type[AnyMap], path: str | os.PathLike[str]) -> AnyMap:
    """Read what ``save`` wrote."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        head = json.loads(str(arrays["head"]))
        if head["format"] != FORMAT:
            raise ValueError(head["format"])
    except FileNotFoundError:
        raise FileError(f"{path}: there is no such file") from None
    except Exception as error:
        raise FileError(
            f"{path}: this is not a feature map ({error}); expected an NPZ file written by FeatureMap.save"
        ) from error
    settings = {name: head[name] for name in ("landmarks", "layout", "dtype")}
    feature_map = kind(head["kernel"], **settings)
    feature_map.objects_ = tuple(json.loads(str(arrays["objects"])))
    feature_map._mark_objects = arrays["mark_objects"]
    feature_map._informed = arrays["informed"]
    feature_map._coverage = head["coverage"]
    feature_map._codes = [arrays[f"codes_{i}"] for i in range(head["n_parts"])]
    if "phi" in arrays:
        feature_map._phi = arrays["phi"]
    else:
        csr = (arrays["data"], arrays["indices"], arrays["indptr"])
        feature_map._phi = sparse.csr_array(csr, shape=tuple(arrays["shape"]))
    return feature_map
