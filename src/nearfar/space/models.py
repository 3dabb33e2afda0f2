"""Models: whatever turns answers into a space.

A model has a ``name`` and ``fit(answers) -> Space``. Names are a kernel ("k1", "k1+k2", "score"), a kernel's PCA with
its dimensions ("score-5"), or an embedding with its dimensions ("soe-8"). Any object with ``fit_transform(answers)``
is a model, too. "auto", the model that predicts held-out answers best, is chosen one room further, in ``evaluate``.
"""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.checks import brief
from nearfar._tools.memory import check_points
from nearfar.errors import InputError
from nearfar.space.space import Space
from nearfar.triplets import Triplets, as_triplets

__all__ = [
    "EMBEDDINGS",
    "KERNELS",
    "FitCache",
    "KernelModel",
    "Model",
    "empty_space",
    "fit_space",
    "kernel_of",
    "most_components",
    "parse_model",
    "parse_models",
]

KERNELS = ("k1", "k2", "k1+k2", "score")
EMBEDDINGS = {"ste": "STE", "tste": "TSTE", "ckl": "CKL", "soe": "SOE", "gnmds": "GNMDS"}


class FitCache:
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

    def feature_map(self, model: KernelModel) -> Any:
        """The fitted feature map of a kernel."""
        from nearfar.features import TripletMap

        make = TripletMap(model.kernel, landmarks=model.landmarks).fit
        return self._once(("map", model.key), lambda: make(self.answers))

    def pca(self, model: KernelModel, phi: Any) -> Any:
        """The fitted kernel PCA of ``phi``, which is that of the kernel, in at least the model's dimensions."""
        from nearfar.methods import PrincipalAxes

        most = max(model.n_components or 0, self._components.get(model.kernel, 0))
        return self._once((f"pca-{most}", model.key), lambda: PrincipalAxes(n_components=most).fit(phi))

    def _once(self, key: tuple[str, str], make: Callable[[], Any]) -> Any:
        if key in self._done:
            self.saved += self._done[key][1]
        else:
            start = time.perf_counter()
            made = make()
            self._done[key] = (made, time.perf_counter() - start)
        return self._done[key][0]


class Model(Protocol):
    """Something that turns answers into a space.

    Examples
    --------
    >>> model = parse_model("soe-3")
    >>> isinstance(model.name, str), model.n_components
    (True, 3)
    """

    @property
    def name(self) -> str:
        """What it is called in tables."""

    @property
    def n_components(self) -> int | None:
        """Dimensions of its points; None for a kernel, or where that is not known before the fit."""

    def fit(self, answers: Triplets, cache: FitCache | None = None) -> Space:
        """Fit to answers; ``cache`` holds what other models of the same answers have computed."""


@dataclass(frozen=True)
class KernelModel:
    """A kernel as it is, or the first ``n_components`` of its kernel PCA."""

    kernel: str
    n_components: int | None = None
    landmarks: tuple[Any, ...] | None = None

    @property
    def name(self) -> str:
        """The kernel's name, with the dimensions of its PCA."""
        return self.kernel if self.n_components is None else f"{self.kernel}-{self.n_components}"

    @property
    def key(self) -> str:
        """What distinguishes feature maps: the kernel and the landmarks."""
        return f"{self.kernel} {self.landmarks}"

    def fit(self, answers: Triplets, cache: FitCache | None = None) -> Space:
        """Phi, or its first coordinates; an object with a zero row is uninformed."""
        cache = cache or FitCache(answers)
        found = cache.feature_map(self)
        phi, informed = found.features_, found.informed_
        if self.n_components is None:
            return Space(
                phi, answers.objects, kind="kernel", informed=informed, model=self.name, estimator=found
            )
        if not informed.any():
            return empty_space(self.name, answers, self.n_components)
        pca = cache.pca(self, phi)
        return Space(
            np.array(pca.embedding_[:, : self.n_components], dtype=np.float64),
            answers.objects,
            kind="points",
            informed=informed,
            model=self.name,
            estimator=_FeaturesThenPCA(found, pca, self.n_components),
        )


@dataclass(frozen=True)
class _FeaturesThenPCA:
    """A fitted feature map and the PCA of its rows, as one: new objects get coordinates."""

    feature_map: Any
    pca: Any
    n_components: int

    def transform(self, answers: Triplets) -> NDArray[Any]:
        """(n, n_components) coordinates of the objects of these answers, each taken as a new one."""
        points: NDArray[Any] = self.pca.transform(self.feature_map.transform(answers))[:, : self.n_components]
        return points


@dataclass(frozen=True)
class EmbeddingModel:
    """One of nearfar's embeddings with ``n_components`` dimensions."""

    loss: str
    n_components: int

    @property
    def name(self) -> str:
        """Such as "soe-8"."""
        return f"{self.loss}-{self.n_components}"

    def fit(self, answers: Triplets, cache: FitCache | None = None) -> Space:
        """Coordinates; an object without answers is uninformed."""
        from nearfar import embedding

        method = getattr(embedding, EMBEDDINGS[self.loss])(n_components=self.n_components)
        return _space_of_estimator(self.name, method, answers)


@dataclass(frozen=True)
class EstimatorModel:
    """Any object whose ``fit_transform(answers)`` gives coordinates, one row per object (FeatureMap: Phi)."""

    name: str
    estimator: Any

    @property
    def n_components(self) -> int | None:
        """The estimator's parameter of that name, where it has one."""
        value = getattr(self.estimator, "n_components", None)
        return None if value is None else int(value)

    def fit(self, answers: Triplets, cache: FitCache | None = None) -> Space:
        """Fit a fresh copy."""
        return _space_of_estimator(self.name, _fresh(self.estimator), answers)


@dataclass(frozen=True)
class _Renamed:
    """A model under another name."""

    name: str
    model: Model

    @property
    def n_components(self) -> int | None:
        """As the model's."""
        return self.model.n_components

    def fit(self, answers: Triplets, cache: FitCache | None = None) -> Space:
        """As the model's."""
        return self.model.fit(answers, cache)


def fit_space(answers: Triplets | ArrayLike, model: Any, *, landmarks: Sequence[Any] | None = None) -> Space:
    """The space that one model, given by name or as an object, makes of answers.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 1, 3], [1, 0, 2], [2, 3, 0], [3, 2, 1]])
    >>> fit_space(answers, "score").predict([[0, 2, 1], [3, 2, 0]]).triplets.array.tolist()
    [[0, 1, 2], [3, 2, 0]]
    """
    answers = as_triplets(answers)
    found = parse_model(model, landmarks=landmarks)
    return found.fit(answers) if len(answers) else empty_space(found.name, answers, found.n_components)


def empty_space(name: str, answers: Triplets, n_components: int | None = None) -> Space:
    """The space of a model of no answers: every object is uninformed, every question a tie."""
    n = answers.n_objects
    check_points(n, n_components or 2)
    return Space(
        np.zeros((n, n_components or 2)),
        answers.objects,
        kind="points",
        informed=np.zeros(n, dtype=bool),
        model=name,
    )


def kernel_of(model: Model) -> str | None:
    """The kernel that a model is made of, whatever the model is called; None where there is none.

    >>> kernel_of(parse_model("k1+k2-5", "mine")), kernel_of(parse_model("soe-8"))
    ('k1+k2', None)
    """
    from nearfar.features import TripletMap

    if isinstance(model, _Renamed):
        return kernel_of(model.model)
    if isinstance(model, EstimatorModel) and isinstance(model.estimator, TripletMap):
        return str(model.estimator.kernel)
    return model.kernel if isinstance(model, KernelModel) else None


def most_components(models: Iterable[Model]) -> dict[str, int]:
    """Per kernel, the most dimensions of its PCA among these models."""
    most: dict[str, int] = {}
    for model in models:
        model = model.model if isinstance(model, _Renamed) else model
        if isinstance(model, KernelModel) and model.n_components is not None:
            most[model.kernel] = max(most.get(model.kernel, 0), model.n_components)
    return most


def parse_models(models: Mapping[str, Any] | Iterable[Any]) -> list[Model]:
    """Models from a list of names and objects, or from a dict of own names; two of one name are refused.

    Examples
    --------
    >>> [model.name for model in parse_models(["k1+k2", "soe-3"])]
    ['k1+k2', 'soe-3']
    """
    if isinstance(models, str):
        models = [models]
    if isinstance(models, Mapping):
        found = [parse_model(value, str(name)) for name, value in models.items()]
    else:
        found = [parse_model(value) for value in models]
    names = [model.name for model in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice or not found:
        raise InputError(
            f"models: {twice[0]!r} is listed twice; give a dict with a name of your own for each"
            if twice
            else "models: got an empty list, expected at least one model",
        )
    return found


def parse_model(model: Any, name: str | None = None, *, landmarks: Sequence[Any] | None = None) -> Model:
    """A model from its name, from an estimator, or as it is.

    ``landmarks`` : the objects that the columns of a kernel are made of, as for ``FeatureMap``.

    >>> parse_model("score-5").name, parse_model("k1").n_components, parse_model("ste-2").n_components
    ('score-5', None, 2)
    """
    found: Model
    if isinstance(model, str):
        found = _from_name(model)
    elif isinstance(model, type):
        raise InputError(
            f"model: got the class {model.__name__}; expected a name or an object, such as {model.__name__}()"
        )
    elif hasattr(model, "fit_transform"):
        found = EstimatorModel(name or _name_of(model), model)
    elif hasattr(model, "fit") and hasattr(model, "name"):
        found = model
    else:
        raise InputError(
            f"model: {brief(model)} is not a model; expected a name or an object with fit_transform(answers)",
        )
    if landmarks is not None:
        if not isinstance(found, KernelModel):
            raise InputError(
                f"landmarks: {found.name} has no columns to choose; landmarks go with a kernel such as 'k1' or 'score-5'"
            )
        found = replace(found, landmarks=tuple(landmarks))
    return found if name is None or name == found.name else _Renamed(name, found)


def _name_of(estimator: Any) -> str:
    """How it shows itself, on one line; the name of its class where that would be an address in memory."""
    shown = repr(estimator)
    return type(estimator).__name__ if shown == object.__repr__(estimator) else " ".join(shown.split())


def _from_name(text: str) -> Model:
    from nearfar.features import parse_kernel

    name = "".join(text.lower().split())
    if name == "auto":
        raise InputError(
            "model: 'auto' chooses among models and is none of them; name one, such as 'score' or 'soe-8'"
        )
    base, dash, digits = name.rpartition("-") if re.search(r"-\d+$", name) else (name, "", "")
    dimensions = int(digits) if dash and len(digits) < 10 else 0
    if base in EMBEDDINGS and dimensions > 0:
        return EmbeddingModel(base, dimensions)
    if base in EMBEDDINGS and not dash:
        raise InputError(f"model: {text!r} needs a number of dimensions, such as '{base}-2' or '{base}-8'")
    try:
        parse_kernel(base)
        if dash and dimensions < 1:
            raise InputError(f"model: {text!r} needs at least one dimension")
        return KernelModel(base, dimensions or None)
    except InputError as error:
        known = ", ".join(f"{loss}-2" for loss in EMBEDDINGS)
        raise InputError(
            f"model: {text!r} is not known; known are auto, the kernels {', '.join(KERNELS)} and other sums, their PCA "
            f"such as 'score-5', and the embeddings {known} with any number of dimensions",
        ) from error


def _space_of_estimator(name: str, estimator: Any, answers: Triplets) -> Space:
    """What an estimator makes of answers: Phi of a FeatureMap, coordinates of anything else."""
    from nearfar.features import TripletMap

    rows = estimator.fit_transform(answers)
    if isinstance(estimator, TripletMap):
        informed = estimator.informed_
        return Space(rows, answers.objects, kind="kernel", informed=informed, model=name, estimator=estimator)
    points = np.asarray(rows, dtype=np.float64)
    if points.ndim != 2 or len(points) != answers.n_objects:
        raise InputError(
            f"model: {name} gave an array of shape {points.shape} for {answers.n_objects} objects, expected one row "
            "of coordinates per object",
        )
    return Space(
        points, answers.objects, kind="points", informed=_mentioned(answers), model=name, estimator=estimator
    )


def _mentioned(answers: Triplets) -> NDArray[np.bool_]:
    """(n,) whether any answer concerns the object."""
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
