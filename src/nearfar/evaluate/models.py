"""Models that can be judged: a kernel as it is, its kernel PCA, an embedding, or anything with ``fit_transform``.

A model has a ``name`` and ``fit(answers) -> Fitted``. Names: a kernel ("k1", "k1+k2", "score"), a kernel with the
dimensions of its PCA ("score pca-5"), an embedding with its dimensions ("ste-2").
"""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.errors import InputError
from nearfar.evaluate.predictions import Fitted
from nearfar.triplets import Triplets, as_triplets

__all__ = [
    "EMBEDDINGS",
    "Features",
    "Model",
    "as_model",
    "as_models",
    "default_names",
    "fit_model",
    "most_components",
]

KERNELS = ("k1", "k2", "k1+k2", "score")
EMBEDDINGS = {"ste": "STE", "tste": "TSTE", "ckl": "CKL", "soe": "SOE", "gnmds": "GNMDS"}
PCA_DIMENSIONS = (2, 5, 10)
EMBEDDING_DIMENSIONS = (2, 5)


class Features:
    """Phi and its kernel PCA for several models of the same answers, each computed once.

    Parameters
    ----------
    answers : the answers.
    components : per kernel, the most dimensions that will be asked for: fewer are the first of them.

    Attributes
    ----------
    saved : seconds that were not spent again.
    """

    def __init__(self, answers: Triplets, components: Mapping[str, int] | None = None) -> None:
        self.answers = answers
        self.saved = 0.0
        self._components = dict(components or {})
        self._done: dict[tuple[str, str], tuple[Any, float]] = {}

    def phi(self, kernel: str) -> Any:
        """Phi of one kernel."""
        from nearfar.features import FeatureMap

        return self._once(("phi", kernel), lambda: FeatureMap(kernel).fit_transform(self.answers))

    def points(self, kernel: str, phi: Any, components: int) -> NDArray[Any]:
        """Coordinates by kernel PCA of ``phi``, which is that of the kernel."""
        from nearfar.methods import KernelPCA

        most = max(components, self._components.get(kernel, 0))
        points = self._once((f"pca-{most}", kernel), lambda: KernelPCA(n_components=most).fit_transform(phi))
        return np.ascontiguousarray(points[:, :components])

    def _once(self, key: tuple[str, str], make: Callable[[], Any]) -> Any:
        if key in self._done:
            self.saved += self._done[key][1]
        else:
            start = time.perf_counter()
            made = make()
            self._done[key] = (made, time.perf_counter() - start)
        return self._done[key][0]


class Model(Protocol):
    """Something that can be fitted to answers and then asked."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    def fit(self, answers: Triplets, features: Features | None = None) -> Fitted:
        """Fit to answers; ``features`` holds Phi of the same answers for reuse."""


@dataclass(frozen=True)
class KernelModel:
    """A kernel as it is, or the first ``components`` of its kernel PCA."""

    kernel: str
    components: int | None = None

    @property
    def name(self) -> str:
        """The kernel's name, with the dimensions of the map if it is one."""
        return self.kernel if self.components is None else f"{self.kernel} pca-{self.components}"

    def fit(self, answers: Triplets, features: Features | None = None) -> Fitted:
        """Phi, and its map if dimensions were named; an object with a zero row stays unknown."""
        from nearfar.kernel.factored import informed_rows

        features = features or Features(answers)
        phi = features.phi(self.kernel)
        known = np.zeros(answers.n_objects, dtype=bool)
        known[informed_rows(phi)] = True
        if self.components is None:
            return Fitted(self.name, answers.objects, None, phi, known)
        if not known.any():
            return unknown(self.name, answers)
        points = features.points(self.kernel, phi, self.components)
        return Fitted(self.name, answers.objects, points, None, known)


@dataclass(frozen=True)
class EmbeddingModel:
    """One of nearfar's embeddings with ``components`` dimensions."""

    loss: str
    components: int

    @property
    def name(self) -> str:
        """Such as "ste-2"."""
        return f"{self.loss}-{self.components}"

    def fit(self, answers: Triplets, features: Features | None = None) -> Fitted:
        """Coordinates; an object without answers stays unknown."""
        from nearfar import embedding

        method = getattr(embedding, EMBEDDINGS[self.loss])(n_components=self.components)
        return _fitted_points(self.name, method, answers)


@dataclass(frozen=True)
class EstimatorModel:
    """Any object whose ``fit_transform(answers)`` gives coordinates, one row per object (FeatureMap: Phi)."""

    name: str
    estimator: Any

    def fit(self, answers: Triplets, features: Features | None = None) -> Fitted:
        """Fit a fresh copy."""
        from nearfar.features import FeatureMap

        if not isinstance(self.estimator, FeatureMap):
            return _fitted_points(self.name, _fresh(self.estimator), answers)
        phi = _fresh(self.estimator).fit_transform(answers)
        return Fitted(self.name, answers.objects, None, phi, _seen(answers))


def fit_model(model: str | Any, answers: Triplets | ArrayLike) -> Fitted:
    """Fit one model, given by name or as an object, e.g. to ask it with ``predict_answers``.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 1, 3], [1, 0, 2], [2, 3, 0], [3, 2, 1]])
    >>> fitted = fit_model("score", answers)
    >>> fitted.predict_answers([[0, 2, 1], [3, 2, 0]]).triplets.array.tolist()
    [[0, 1, 2], [3, 2, 0]]
    """
    answers = as_triplets(answers)
    model = as_model(model)
    return model.fit(answers) if len(answers) else unknown(model.name, answers)


def unknown(name: str, answers: Triplets) -> Fitted:
    """A model of no answers: it knows nobody, every question is a tie."""
    n = answers.n_objects
    return Fitted(name, answers.objects, np.zeros((n, 1)), None, np.zeros(n, dtype=bool))


def default_names(n_objects: int) -> list[str]:
    """What ``compare`` looks at by itself; simpler models first, none with more dimensions than objects allow."""
    maps = [f"{kernel} pca-{d}" for kernel in KERNELS for d in PCA_DIMENSIONS if d < n_objects - 1]
    embeddings = [f"{loss}-{d}" for loss in EMBEDDINGS for d in EMBEDDING_DIMENSIONS if d < n_objects - 1]
    return [*KERNELS, *maps, *embeddings]


def most_components(models: Iterable[Model]) -> dict[str, int]:
    """Per kernel, the most dimensions of its kernel PCA among these models."""
    most: dict[str, int] = {}
    for model in models:
        model = model.model if isinstance(model, _Renamed) else model
        if isinstance(model, KernelModel) and model.components is not None:
            most[model.kernel] = max(most.get(model.kernel, 0), model.components)
    return most


def as_models(models: Mapping[str, Any] | Iterable[Any]) -> list[Model]:
    """Models from a list of names and objects, or from a dict of own names; two of one name are refused."""
    if isinstance(models, str):
        models = [models]
    if isinstance(models, Mapping):
        found = [as_model(value, str(name)) for name, value in models.items()]
    else:
        found = [as_model(value) for value in models]
    names = [model.name for model in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice or not found:
        raise InputError(
            f"models: {twice[0]!r} is there twice; give a dict of own names to tell them apart"
            if twice
            else "models: an empty list came, expected at least one model",
        )
    return found


def as_model(model: Any, name: str | None = None) -> Model:
    """A model from its name, from an estimator, or as it is.

    >>> as_model("score pca-5"), as_model("ste-2").name
    (KernelModel(kernel='score', components=5), 'ste-2')
    """
    if isinstance(model, str):
        found = _from_name(model)
        return found if name is None or name == found.name else _Renamed(name, found)
    if hasattr(model, "fit_transform"):
        return EstimatorModel(name or " ".join(repr(model).split()), model)
    if hasattr(model, "fit") and hasattr(model, "name"):
        named: Model = model if name is None else _Renamed(name, model)
        return named
    raise InputError(
        f"models: {model!r} is no model; expected a name or an object with fit_transform(answers)",
    )


@dataclass(frozen=True)
class _Renamed:
    """A model under another name."""

    name: str
    model: Model

    def fit(self, answers: Triplets, features: Features | None = None) -> Fitted:
        """As the model itself."""
        return self.model.fit(answers, features)


def _from_name(text: str) -> Model:
    from nearfar.features import parse_kernel

    name = " ".join(text.lower().split())
    of_loss = re.fullmatch(rf"({'|'.join(EMBEDDINGS)})-([1-9]\d*)", name)
    if of_loss is not None:
        return EmbeddingModel(of_loss[1], int(of_loss[2]))
    kernel, cut, components = name.partition(" pca-")
    try:
        parse_kernel(kernel)
        return KernelModel(kernel, _dimensions(components) if cut else None)
    except InputError as error:
        raise InputError(
            f"models: {text!r} is not known; known are the kernels {', '.join(KERNELS)} and other sums, each also "
            f"with kernel PCA such as 'score pca-5', and the embeddings {', '.join(f'{e}-2' for e in EMBEDDINGS)} "
            "with any number of dimensions",
        ) from error


def _dimensions(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d*", text):
        raise InputError(
            f"models: {text!r} is no number of dimensions",
        )
    return int(text)


def _fitted_points(name: str, method: Any, answers: Triplets) -> Fitted:
    points = np.asarray(method.fit_transform(answers), dtype=np.float64)
    if points.ndim != 2 or len(points) != answers.n_objects:
        raise InputError(
            f"models: {name} gave an array of shape {points.shape} for {answers.n_objects} objects; "
            "expected one row of coordinates per object",
        )
    return Fitted(name, answers.objects, points, None, _seen(answers))


def _seen(answers: Triplets) -> NDArray[np.bool_]:
    """(n,) whether any answer speaks about the object."""
    seen = np.zeros(answers.n_objects, dtype=bool)
    for role in (answers.anchor, answers.near, answers.far):
        seen[role] = True
    return seen


def _fresh(estimator: Any) -> Any:
    """An unfitted copy."""
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)
