"""nearfar: kernels, clusters, maps and trees from answers "A is nearer to B than to C".

Triplets -> Phi -> anything. Names resolve on first use, so that ``import nearfar`` is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> the module it lives in
_HOMES = {
    "Triplets": "nearfar.triplets",
    "read_triplets": "nearfar.io",
    "read_answers": "nearfar.io",
    "scan_triplets": "nearfar.io",
    "write_triplets": "nearfar.io",
    "read_objects": "nearfar.io",
    "FeatureMap": "nearfar.features",
    "kernel_matrix": "nearfar.kernel",
    "cross_kernel": "nearfar.kernel",
    "reduce_diagonal": "nearfar.kernel",
    "noise_ceiling": "nearfar.evaluate.ceiling",
    "compare": "nearfar.evaluate.compare",
    "learning_curve": "nearfar.evaluate.curve",
    "choose_dimension": "nearfar.evaluate.dimension",
    "stability": "nearfar.evaluate.stability",
    "fit_model": "nearfar.evaluate.models",
    "predict_answers": "nearfar.evaluate.predict",
    "KernelKMeans": "nearfar.methods",
    "KernelPCA": "nearfar.methods",
    "linkage": "nearfar.methods",
}
_ROOMS = (
    "design",
    "simulate",
    "datasets",
    "errors",
    "features",
    "io",
    "kernel",
    "metrics",
    "evaluate",
    "triplets",
    "methods",
    "embedding",
    "scale",
    "report",
    "progress",
)

__all__ = [
    "FeatureMap",
    "KernelKMeans",
    "KernelPCA",
    "Triplets",
    "choose_dimension",
    "compare",
    "cross_kernel",
    "datasets",
    "design",
    "embedding",
    "errors",
    "evaluate",
    "features",
    "fit_model",
    "io",
    "kernel",
    "kernel_matrix",
    "learning_curve",
    "linkage",
    "methods",
    "metrics",
    "noise_ceiling",
    "predict_answers",
    "progress",
    "read_answers",
    "read_objects",
    "read_triplets",
    "reduce_diagonal",
    "report",
    "scale",
    "scan_triplets",
    "simulate",
    "stability",
    "triplets",
    "write_triplets",
]

if TYPE_CHECKING:
    from nearfar import (
        datasets,
        design,
        embedding,
        errors,
        evaluate,
        features,
        io,
        kernel,
        methods,
        progress,
        report,
        scale,
        simulate,
        triplets,
    )
    from nearfar.evaluate import metrics
    from nearfar.evaluate.ceiling import noise_ceiling
    from nearfar.evaluate.compare import compare
    from nearfar.evaluate.curve import learning_curve
    from nearfar.evaluate.dimension import choose_dimension
    from nearfar.evaluate.models import fit_model
    from nearfar.evaluate.predict import predict_answers
    from nearfar.evaluate.stability import stability
    from nearfar.features import FeatureMap
    from nearfar.io import read_answers, read_objects, read_triplets, scan_triplets, write_triplets
    from nearfar.kernel import cross_kernel, kernel_matrix, reduce_diagonal
    from nearfar.methods import KernelKMeans, KernelPCA, linkage
    from nearfar.triplets import Triplets


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = importlib.import_module(
            "nearfar.evaluate.metrics" if name == "metrics" else f"nearfar.{name}"
        )
    else:
        raise AttributeError(f"module 'nearfar' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
