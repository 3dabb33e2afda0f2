"""Models: whatever turns answers into a space.

Names are a kernel ("k1", "k1+k2", "score"), a kernel's PCA with its dimensions ("score-5"), or an embedding with its
dimensions ("soe-8"; "nonneg" alone chooses them), with vectors of the objects as a prior where they are given
("soe-8+features"). Any object with ``fit_transform(answers)`` is a model, too. "auto", the model that predicts held-out answers best, is chosen one room further, in ``evaluate``.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from nearfar import features, methods
from nearfar._tools.checks import brief
from nearfar._tools.memory import check_points, check_square
from nearfar.errors import InputError
from nearfar.io.quadruplets import Quadruplets, as_quadruplets
from nearfar.kernel import shifted_kernel
from nearfar.space.space import Space
from nearfar.triplets import Triplets, as_triplets, mentioned

if TYPE_CHECKING:
    from nearfar.embedding.prior import Prior, Vectors

KERNELS = ("k1", "k2", "k1+k2", "score")
WITH_FEATURES = "+features"  # what the name of a model with vectors ends with
EMBEDDINGS = {
    "ste": "STE", "tste": "TSTE", "ckl": "CKL", "soe": "SOE", "gnmds": "GNMDS", "nonneg": "NonNegative",
}  # fmt: skip


class FitCache:
    """Phi and its kernel PCA for several ``models`` of the same answers, each computed once.

    ``saved`` : seconds that were not spent again.
    """

    def __init__(self, answers: Triplets, models: Iterable[Model] = ()) -> None:
        self.answers, self.saved = answers, 0.0
        self.models = [model for model in models if model.estimator is None]
        self._done: dict[tuple[Any, ...], tuple[Any, float]] = {}

    def once(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """What ``make`` gives, made at the first call with this key."""
        if key in self._done:
            self.saved += self._done[key][1]
        else:
            start = time.perf_counter()
            made = make()
            self._done[key] = (made, time.perf_counter() - start)
        return self._done[key][0]


@dataclass(frozen=True)
class Model:
    """Something that turns answers into a space.

    Parameters
    ----------
    name : what it is called in tables.
    base : a kernel, or the loss of an embedding; "" for an estimator.
    n_components : dimensions of its points; None for a kernel, or where that is not known before the fit.
    landmarks : the objects that the columns of a kernel are made of; None for all.
    estimator : an object whose ``fit_transform(answers)`` gives coordinates, one row per object (FeatureMap: Phi).
    prior : vectors of the objects (``evaluate`` chooses how they enter), or the prior made of them; None without.

    >>> parse_model("soe-3").n_components
    3
    """

    name: str
    base: str = ""
    n_components: int | None = None
    landmarks: tuple[Any, ...] | None = None
    estimator: Any = None
    prior: Vectors | Prior | None = None

    @property
    def takes_vectors(self) -> bool:
        """Whether it is an embedding, which vectors can enter as a prior."""
        return self.base in EMBEDDINGS or hasattr(self.estimator, "prior")

    def with_vectors(self, vectors: Vectors) -> Model:
        """This embedding with vectors as a prior; kernels are made of answers alone."""
        if not self.takes_vectors:
            way_out = "name an embedding such as 'soe-5', or 'auto'"
            raise InputError(f"features: {self.name} is made of answers alone; {way_out}")
        return replace(self, name=f"{self.name}{WITH_FEATURES}", prior=vectors)

    @property
    def kernel(self) -> str | None:
        """The kernel that it is made of, whatever the model is called; None where there is none.

        >>> parse_model("k1+k2-5", "mine").kernel, parse_model("soe-8").kernel
        ('k1+k2', None)
        """
        if isinstance(self.estimator, features.TripletMap):
            return str(self.estimator.kernel)
        return self.base if self.base and self.base not in EMBEDDINGS else None

    def fit(self, answers: Triplets, cache: FitCache | None = None) -> Space:
        """Fit to answers; ``cache`` holds what other models of the same answers have computed."""
        if self.estimator is not None:
            from sklearn.base import clone

            method = clone(self.estimator, safe=False)
            if self.name.endswith(WITH_FEATURES):
                method.set_params(prior=self.prior)
            return _space_of_estimator(self._fitted_name, method, answers)
        if isinstance(answers, Quadruplets) and self.base not in set(EMBEDDINGS) - {"nonneg"}:
            raise InputError(f"{self.name}: quadruplets have no anchor; name an embedding, such as 'soe-2'")
        if self.base in EMBEDDINGS:
            from nearfar import embedding

            method = getattr(embedding, EMBEDDINGS[self.base])(self.n_components, prior=self.prior)
            return _space_of_estimator(self._fitted_name, method, answers)
        return self._fit_kernel(answers, cache or FitCache(answers))

    @property
    def _fitted_name(self) -> str:
        """What a space is called: vectors that do not enter are not named."""
        return self.name if self.prior is not None else self.name.removesuffix(WITH_FEATURES)

    def _fit_kernel(self, answers: Triplets, cache: FitCache) -> Space:
        """Phi, or the first coordinates of its PCA; an object with a zero row is uninformed."""
        key, count = (self.base, str(self.landmarks)), self.n_components
        make = features.TripletMap(self.base, landmarks=self.landmarks).fit
        mapped = cache.once(("map", *key), lambda: make(answers))
        facts = {"informed": mapped.informed_, "model": self.name}
        if count is None:
            return Space(mapped.features_, answers.objects, kind="kernel", estimator=mapped, **facts)
        if not mapped.informed_.any():
            return empty_space(self.name, answers, count)
        asked = [model.n_components or 0 for model in cache.models if model.base == self.base]
        axes = methods.PrincipalAxes(max([count, *asked]))  # fewer components are the first of them
        pca = cache.once(("pca", axes.n_components, *key), lambda: axes.fit(mapped.features_))
        points = np.array(pca.embedding_[:, :count], dtype=np.float64)
        both = _FeaturesThenPCA(mapped, pca, count)
        return Space(points, answers.objects, kind="points", estimator=both, **facts)


@dataclass(frozen=True)
class _FeaturesThenPCA:
    """A fitted feature map and the PCA of its rows, as one: new objects get coordinates."""

    feature_map: Any
    pca: Any
    n_components: int

    def transform(self, answers: Triplets) -> NDArray[Any]:
        """(n, n_components) coordinates of the objects of these answers, each taken as a new one."""
        return np.asarray(self.pca.transform(self.feature_map.transform(answers))[:, : self.n_components])


def fit(answers: Triplets | ArrayLike, model: Any, *, landmarks: Sequence[Any] | None = None) -> Space:
    """The space that one model, given by name or as an object, makes of answers.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 1, 3], [1, 0, 2], [2, 3, 0], [3, 2, 1]])
    >>> fit(answers, "score").predict([[0, 2, 1], [3, 2, 0]]).triplets.array.tolist()
    [[0, 1, 2], [3, 2, 0]]
    """
    four: Any = as_quadruplets(answers)
    answers = as_triplets(answers) if four is None else four
    chosen = parse_model(model, landmarks=landmarks)
    return chosen.fit(answers) if len(answers) else empty_space(chosen.name, answers, chosen.n_components)


def kernel_matrix(
    answers: Triplets | ArrayLike, model: Any, *, landmarks: Sequence[Any] | None = None,
    diagonal: Literal["shift", "keep"] = "shift", dtype: DTypeLike = np.float64,
) -> NDArray[Any]:  # fmt: skip
    """The (n, n) kernel matrix of a collection of answers.

    For a kernel it is Phi Phi' with the diagonal shifted: the smallest eigenvalue over informed objects is taken off
    their diagonal entries, against diagonal dominance (section 2.1 of the paper), unless ``diagonal="keep"``. For an
    embedding it is the inner products of the points, centred and scaled to a mean squared length of 1.

    Parameters
    ----------
    answers : Triplets, an (m, 3) array of indices, or a data frame.
    model : a name such as "k1", "score-5" or "soe-8", or an object with ``fit_transform(answers)``; for the model that
        predicts best, use ``nearfar.fit(answers).kernel()``.
    landmarks : names or indices of the objects that the columns of a kernel are made of.
    diagonal : "shift" or "keep".
    dtype : float64 or float32.

    Kernel values say how alike two objects were answered about; they are not distances.

    Examples
    --------
    >>> line = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 0, 2], [1, 0, 3], [1, 2, 3]]
    >>> line += [[2, 3, 1], [2, 3, 0], [2, 1, 0], [3, 2, 1], [3, 2, 0], [3, 1, 0]]  # points at 0, 1, 5, 6
    >>> kernel_matrix(line, "k1", diagonal="keep").round(2)[0]
    array([ 1.  ,  0.33, -0.33, -0.33])
    """
    answers, chosen = as_triplets(answers), parse_model(model, landmarks=landmarks)
    if chosen.kernel is None or chosen.estimator is not None or chosen.n_components is not None:
        return fit(answers, chosen).kernel(diagonal).astype(dtype, copy=False)
    check_square(answers.n_objects, np.dtype(dtype).itemsize, copies=2 if diagonal == "shift" else 1)
    feature_map = features.TripletMap(chosen.kernel, landmarks=landmarks, dtype=dtype)
    K, shift, _ = shifted_kernel(feature_map.fit_transform(answers), diagonal=diagonal)
    K[feature_map._informed, feature_map._informed] = 1.0 - shift  # exactly: the rows of Phi have unit length
    return K


def empty_space(name: str, answers: Triplets, n_components: int | None = None) -> Space:
    """The space of a model of no answers: every object is uninformed, every question a tie."""
    n, d = answers.n_objects, n_components or 2
    check_points(n, d)
    nothing = np.zeros(n, dtype=bool)
    return Space(np.zeros((n, d)), answers.objects, kind="points", informed=nothing, model=name)


def parse_models(models: Mapping[str, Any] | Iterable[Any]) -> list[Model]:
    """Models from a list of names and objects, or from a dict of own names; two of one name are refused.

    >>> [model.name for model in parse_models(["k1+k2", "soe-3"])]
    ['k1+k2', 'soe-3']
    """
    if isinstance(models, Mapping):
        chosen = [parse_model(value, str(name)) for name, value in models.items()]
    else:
        chosen = [parse_model(value) for value in ([models] if isinstance(models, str) else models)]
    names = [model.name for model in chosen]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"models: {twice[0]!r} is listed twice; give a dict with a name for each")
    if not chosen:
        raise InputError("models: got an empty list, expected at least one model")
    return chosen


def parse_model(model: Any, name: str | None = None, *, landmarks: Sequence[Any] | None = None) -> Model:
    """A model from its name, from an estimator, or as it is.

    ``landmarks`` : the objects that the columns of a kernel are made of, as for ``FeatureMap``.

    >>> parse_model("score-5").name, parse_model("k1").n_components, parse_model("ste-2").n_components
    ('score-5', None, 2)
    """
    if isinstance(model, str):
        chosen = _from_name(model)
    elif isinstance(model, type):
        name = model.__name__
        raise InputError(f"model: got the class {name}; expected a name or an object, such as {name}()")
    elif isinstance(model, Model):
        chosen = model
    elif hasattr(model, "fit_transform"):
        dimensions, shown = getattr(model, "n_components", None), repr(model)
        own = type(model).__name__ if shown == object.__repr__(model) else " ".join(shown.split())
        chosen = Model(own, "", None if dimensions is None else int(dimensions), estimator=model)
    else:
        expected = "expected a name or an object with fit_transform(answers)"
        raise InputError(f"model: {brief(model)} is not a model; {expected}")
    if landmarks is not None:
        if chosen.estimator is not None or chosen.kernel is None:
            way_out = "landmarks go with a kernel such as 'k1' or 'score-5'"
            raise InputError(f"landmarks: {chosen.name} has no columns to choose; {way_out}")
        chosen = replace(chosen, landmarks=tuple(landmarks))
    return chosen if name is None else replace(chosen, name=name)


def _from_name(text: str) -> Model:
    name = "".join(text.lower().split())
    if name == "auto":
        raise InputError("model: 'auto' is not allowed here; give a model name such as 'score' or 'soe-8'")
    base, dash, digits = name.rpartition("-") if re.search(r"-\d+$", name) else (name, "", "")
    dimensions = int(digits) if dash and len(digits) < 10 else 0
    if base in EMBEDDINGS and dimensions > 0:
        return Model(f"{base}-{dimensions}", base, dimensions)
    if base == "nonneg" and not dash:
        return Model(base, base)
    if base in EMBEDDINGS and not dash:
        raise InputError(f"model: {text!r} needs a number of dimensions, such as '{base}-2' or '{base}-8'")
    try:
        features.parse_kernel(base)
        if dash and dimensions < 1:
            raise InputError(f"model: {text!r} needs at least one dimension")
        return Model(f"{base}-{dimensions}" if dash else base, base, dimensions or None)
    except InputError as error:
        close = difflib.get_close_matches(name, ["auto", *(f"{loss}-2" for loss in EMBEDDINGS), *KERNELS], 1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        if name.endswith(WITH_FEATURES):
            hint = f"; name {name.removesuffix(WITH_FEATURES)!r}, and give the vectors as features."
        raise InputError(
            f"model: {text!r} is not known{hint} Models: auto; embeddings {', '.join(EMBEDDINGS)} with a number of "
            f"dimensions, such as soe-2 or soe-8; kernels {', '.join(KERNELS)}, or their PCA such as 'score-5'"
        ) from error


def _space_of_estimator(name: str, estimator: Any, answers: Triplets) -> Space:
    """What an estimator makes of answers: Phi of a FeatureMap, coordinates of anything else."""
    rows = estimator.fit_transform(answers)
    facts = {"model": name, "estimator": estimator}
    if isinstance(estimator, features.TripletMap):
        return Space(rows, answers.objects, kind="kernel", informed=estimator.informed_, **facts)
    points = np.asarray(rows, dtype=np.float64)
    if points.ndim != 2 or len(points) != answers.n_objects:
        got = f"an array of shape {points.shape} for {answers.n_objects} objects"
        raise InputError(f"model: {name} gave {got}, expected one row of coordinates per object")
    informed = estimator.informed_ if hasattr(estimator, "informed_") else mentioned(answers)
    similarity = getattr(estimator, "similarity", "distance")
    placed = informed & ~np.isin(np.arange(answers.n_objects), answers.array)
    facts |= {"similarity": similarity, "informed": informed, "placed": placed}
    return Space(points, answers.objects, kind="points", **facts)
