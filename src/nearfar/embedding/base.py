"""What the five embeddings share: answers in, points out, new objects placed among fixed ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from nearfar.embedding.loop import Loop, Merged, Points, merge
from nearfar.embedding.optimise import Optimum, optimise
from nearfar.embedding.place import match
from nearfar.embedding.pull import Emphasis, LearntPull, Pull, answers_per_object, steady_pull
from nearfar.embedding.start import kernel_start, random_start
from nearfar.errors import InputError, NotConverged, UninformedWarning
from nearfar.threads import one_blas_thread
from nearfar.triplets import Triplets, as_triplets

__all__ = ["Embedding", "Init", "check_positive"]

Init = Literal["kernel", "random"]


class Embedding(BaseEstimator):  # type: ignore[misc]
    """Base of GNMDS, CKL, STE, TSTE and SOE: points found by L-BFGS on the sum of a loss over all answers.

    Parameters
    ----------
    n_components : dimensions of the points.
    regularization : strength of the pull to the centre, see Notes; 0 switches it off.
    init : "kernel" starts from a rank-based classical-scaling map of the answers: deterministic, and near enough
        that tens of iterations do. "random" starts from small random points. Or (n, n_components) points.
    n_init : how many random starts to try; the lowest objective wins. Only with ``init="random"``.
    max_iter : iterations of L-BFGS, at most; if they do not do, there is a ``NotConverged`` warning.
    tol : stop when an iteration improves the objective by less than this share of it.
    random_state : fixes the random starts.

    Attributes
    ----------
    embedding_ : (n, n_components) points, centred, the widest axis first.
    objects_ : names of the n objects.
    loss_ : mean loss of an answer at ``embedding_``, the pull left out.
    n_iter_ : iterations of the best start.
    converged_ : whether it ended by ``tol``, not by ``max_iter``.
    uninformed_ : names of the objects that no answer names; they lie at the centre.

    Notes
    -----
    What is minimised is the sum of the loss over all answers plus

        regularization * n * sqrt(k) * log(1 + q),

    with n informed objects, k answers per object, and q the mean squared length of the points in the loss's own
    unit: the logarithm of a normal prior whose width is learnt. Answers that contradict each other make the pull
    strong, so that an object with few answers is not flung away to please each of them; answers that agree make it
    weak. Without it, STE in five dimensions agrees with 98 % of the answers about musicians that it was fitted on
    and with 61 % of new ones; with it, with 67 % of new ones. In a landmark design an object's squared length counts
    by its answers: else landmarks would lie far out, and all others in a heap.
    """

    _kind: ClassVar[int]

    def __init__(
        self,
        n_components: int,
        *,
        regularization: float,
        init: Init | ArrayLike,
        n_init: int,
        max_iter: int,
        tol: float,
        random_state: Any,
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _parameter(self) -> float:
        """The loss's own number."""
        raise NotImplementedError

    def _radius(self) -> float:
        """Root mean square length of the points that the search starts from."""
        raise NotImplementedError

    def _unit(self) -> tuple[float, float]:
        """The length that the loss measures points with, and the loss that goes with it."""
        return 1.0, 1.0

    def _check_parameter(self) -> None:
        """Complain about the loss's own number."""

    # ---------------------------------------------------------------- fitting

    def fit(self, answers: Triplets | ArrayLike, y: object = None) -> Embedding:
        """Find points that agree with the answers (Triplets or an (m, 3) array of indices)."""
        answers = as_triplets(answers)
        self._check(answers)
        data = merge(answers)
        counts = answers_per_object(data)
        informed = np.flatnonzero(counts)
        self._emphasis = Emphasis.of(data)
        pull = None
        if self.regularization > 0:
            weights = self._emphasis(counts[informed])
            pull = LearntPull(self.regularization, weights, counts[informed].mean(), *self._unit())
        with self._loop(data) as loop:
            starts = self._starts(loop, informed)
            best = min((self._optimise(loop, start, informed, pull) for start in starts), key=_objective)
            self.embedding_ = _canonical(best.points, informed)
            self.loss_ = loop(self.embedding_)[0] / len(answers)
        self.objects_ = answers.objects
        self.n_iter_, self.converged_ = best.n_iter, best.converged
        self._informed = np.zeros(answers.n_objects, dtype=bool)
        self._informed[informed] = True
        self._strength = 0.0 if pull is None else pull.strength(self.embedding_[informed])
        self._warn(best)
        return self

    def fit_transform(self, answers: Triplets | ArrayLike, y: object = None) -> Points:
        """``embedding_`` of the answers, one row per object."""
        points: Points = self.fit(answers).embedding_
        return points

    @contextmanager
    def _loop(self, data: Merged) -> Iterator[Loop]:
        loop = Loop(data, self._kind, self._parameter(), self.n_components)
        with one_blas_thread(), loop:
            yield loop

    def _starts(self, loop: Loop, informed: NDArray[np.intp]) -> Iterator[Points]:
        n = loop.data.n_objects
        if not isinstance(self.init, str):
            yield self._given_start(n)
        elif self.init == "kernel":
            yield kernel_start(loop.data, informed, self.n_components) * self._radius()
        else:
            state = check_random_state(self.random_state)
            for _ in range(self.n_init):
                yield random_start(n, self.n_components, state) * self._radius()

    def _given_start(self, n_objects: int) -> Points:
        start = np.asarray(self.init, dtype=np.float64)
        if start.shape != (n_objects, self.n_components) or not np.isfinite(start).all():
            raise InputError(
                f"init: an array of shape {start.shape} came; expected 'kernel', 'random', or finite points of shape "
                f"({n_objects}, {self.n_components})",
            )
        return start

    def _optimise(self, loop: Loop, start: Points, free: NDArray[np.intp], pull: Pull | None) -> Optimum:
        return optimise(
            loop,
            start,
            free,
            pull=pull,
            max_iter=self.max_iter,
            tol=self.tol,
            name=type(self).__name__,
        )

    # ---------------------------------------------------------------- new objects

    def transform(self, answers: Triplets | ArrayLike) -> Points:
        """One row per ``answers.objects``: fitted objects keep their points, new ones are placed among them.

        Objects are matched by name (an array: by index). All new objects are placed together, from these answers
        and with the fitted points fixed. A new object that no usable answer names is put at the centre.
        """
        check_is_fitted(self, "embedding_")
        answers = as_triplets(answers, self.objects_)
        places = match(answers, self.objects_, self.embedding_, self._informed)
        points = places.points
        if len(places.free):
            weights = self._emphasis(answers_per_object(places.data)[places.free])
            with self._loop(places.data) as loop:
                found = self._optimise(loop, points, places.free, steady_pull(self._strength * weights))
            points = found.points
            self._warn_unless_converged(found)
        if len(places.unknown):
            names = [answers.objects[i] for i in places.unknown]
            warnings.warn(
                f"{len(names)} new objects have no usable answer ({_some(names)}); they are put at the centre",
                UninformedWarning,
                stacklevel=2,
            )
        return points

    # ---------------------------------------------------------------- words

    @property
    def uninformed_(self) -> list[str]:
        """Names of the fitted objects that no answer names; they lie at the centre."""
        check_is_fitted(self, "embedding_")
        return [self.objects_[i] for i in np.flatnonzero(~self._informed)]

    def _check(self, answers: Triplets) -> None:
        _whole(self.n_components, "n_components")
        _whole(self.n_init, "n_init")
        _whole(self.max_iter, "max_iter")
        check_positive(self.tol, "tol")
        check_positive(self.regularization, "regularization", zero=True)
        self._check_parameter()
        if isinstance(self.init, str) and self.init not in ("kernel", "random"):
            raise InputError(
                f"init: {self.init!r} is not known; expected 'kernel', 'random', or an array of points",
            )
        if not len(answers):
            raise InputError(
                "answers: there are none; an embedding needs at least one",
            )

    def _warn(self, found: Optimum) -> None:
        missing = self.uninformed_
        if missing:
            warnings.warn(
                f"{len(missing)} of {len(self.objects_)} objects have no answer ({_some(missing)}); "
                "they are put at the centre",
                UninformedWarning,
                stacklevel=3,
            )
        self._warn_unless_converged(found)

    def _warn_unless_converged(self, found: Optimum) -> None:
        if not found.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations, the last of which still "
                f"improved the loss by {found.improvement:.1e} of its size (tol={self.tol:g}); raise max_iter or tol",
                NotConverged,
                stacklevel=4,
            )


def _objective(found: Optimum) -> float:
    return found.objective


def _canonical(points: Points, informed: NDArray[np.intp]) -> Points:
    """The same shape in one position: centred, widest axis first, the coordinate of largest size positive.

    Distances do not know position, rotation or reflection; pictures and reruns should agree on them.
    """
    shape = points[informed] - points[informed].mean(axis=0)
    _, _, axes = np.linalg.svd(shape.T @ shape)
    shape = shape @ axes.T
    shape *= np.where(shape[np.abs(shape).argmax(axis=0), np.arange(shape.shape[1])] < 0, -1.0, 1.0)
    placed = np.zeros_like(points)
    placed[informed] = shape
    return placed


def _whole(value: Any, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(
            f"{name}: {value!r} came, expected a whole number, at least 1",
        )


def check_positive(value: Any, name: str, *, zero: bool = False) -> None:
    """Complain unless ``value`` is a finite number above zero (or at it, where ``zero`` allows)."""
    wanted = "a number, at least 0" if zero else "a number above 0"
    number = not isinstance(value, bool) and isinstance(value, (int, float, np.integer, np.floating))
    if not number or not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise InputError(
            f"{name}: {value!r} came, expected {wanted}",
        )


def _some(names: list[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
