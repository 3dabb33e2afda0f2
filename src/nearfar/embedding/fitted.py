"""What fitted points share, whatever they were fitted by: predictions, scores, objects without an answer, new objects."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nearfar._tools.arrays import Floats
from nearfar._tools.checks import check_count
from nearfar._tools.memory import check_points
from nearfar._tools.text import listed
from nearfar._tools.threads import one_blas_thread
from nearfar.embedding.loop import Merged, Points, merge
from nearfar.embedding.optimise import MEMORY, Optimum
from nearfar.embedding.prior import Prior
from nearfar.errors import InputError, NotConverged, UninformedWarning
from nearfar.io.quadruplets import as_quadruplets
from nearfar.triplets import Triplets, as_triplets, mentioned, positions


class FittedPoints(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Points ``embedding_`` of the objects ``objects_``, of which ``_informed`` have answers.

    A kind of points adds ``fit``, and how new objects are ``_placed`` by answers.
    """

    embedding_: NDArray[np.float64]
    objects_: tuple[str, ...]
    _informed: NDArray[np.bool_]

    def fit_transform(
        self, answers: Triplets | ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """``embedding_`` of the answers, one row per object."""
        return np.asarray(self.fit(answers, sample_weight=sample_weight).embedding_)

    def score(self, answers: Triplets | ArrayLike, y: object = None) -> float:
        """Share of answers that the fitted points predict; a tie, or an object without a point, counts 1/2.

        Objects are matched by name (an array: by index). With it, scikit-learn's ``cross_val_score`` and
        ``GridSearchCV`` work on answers; give them the folds of ``nearfar.kfold``, since others leak.

        >>> from sklearn.model_selection import cross_val_score
        >>> from nearfar import embedding
        >>> from nearfar.evaluate.splits import kfold
        >>> line = [[0, 1, 2], [0, 2, 3], [0, 1, 3], [3, 2, 1], [3, 1, 0], [3, 2, 0], [1, 0, 3], [2, 3, 0]]
        >>> answers = Triplets.from_array(line)
        >>> len(cross_val_score(embedding.STE(1), answers, cv=list(kfold(answers, 2))))
        2
        """
        if (four := as_quadruplets(answers)) is not None:
            a, b, c, d = (self.embedding_[rows] for rows in four.array.T)
            signs = np.sign(((c - d) ** 2).sum(axis=1) - ((a - b) ** 2).sum(axis=1))
        else:
            signs = self.predict(answers)
        return float((1 + signs).mean() / 2) if len(signs) else np.nan

    def predict(self, questions: Triplets | ArrayLike) -> NDArray[np.int8]:
        """(m,) for rows (anchor, one, other): 1 where ``one`` is expected to be nearer, -1 where ``other`` is, 0 for a tie.

        Objects are matched as by ``score``; one without a point makes a tie.
        """
        check_is_fitted(self, "embedding_")
        asked = as_triplets(questions, self.objects_)
        rows = positions(asked.objects, self.objects_)
        anchor, near, far = (rows[role] for role in (asked.anchor, asked.near, asked.far))
        known = np.append(self._informed, False)  # the last one: objects that were not fitted
        usable = known[anchor] & known[near] & known[far]
        points = np.vstack([self.embedding_, np.zeros(self.embedding_.shape[1])])
        one, other = (self._similarity(points[anchor], points[x]) for x in (near, far))
        return np.where(usable, np.sign(one - other), 0).astype(np.int8)

    def _similarity(self, one: Floats, other: Floats) -> Floats:
        """(m,) what grows as two rows of points come nearer."""
        return np.asarray(-((one - other) ** 2).sum(axis=1))

    def transform(self, answers: Triplets | ArrayLike) -> Points:
        """One row per ``answers.objects``: fitted objects keep their points, new ones are placed among them.

        Objects are matched by name (an array: by index). All new objects are placed together, from these answers
        and with the fitted points fixed. A new object that no usable answer names is put at the centre.
        """
        check_is_fitted(self, "embedding_")
        answers = as_triplets(answers, self.objects_)
        known = positions(answers.objects, self.objects_)
        new = known < 0
        points = np.zeros((answers.n_objects, self.embedding_.shape[1]))
        points[~new] = self.embedding_[known[~new]]
        # one about fitted objects alone has nothing to move; a fitted object that never got one says nothing of a new one
        blank = ~new & ~self._informed[known]
        usable = answers[new[answers.array].any(axis=1) & ~blank[answers.array].any(axis=1)]
        named = mentioned(usable)
        if (new & named).any():
            data = merge(usable)
            _guess(data, new, points)
            with one_blas_thread():
                placed = self._placed(data, points, np.flatnonzero(new & named))
            points = placed.points
            self._warn_unless_converged(placed)
        if unknown := [answers.objects[i] for i in np.flatnonzero(new & ~named)]:
            said = f"{len(unknown)} new objects have no usable answer ({listed(unknown, 3)})"
            warnings.warn(f"{said}; they are put at the centre", UninformedWarning, stacklevel=2)
        return points

    def _check(self, answers: Triplets) -> None:
        # arrays of all coordinates: the steps that L-BFGS remembers, and what it works with
        check_points(answers.n_objects, self.n_components or 1, 2 * MEMORY + 12)
        check_count(self.max_iter, "max_iter")
        check_positive(self.regularization, "regularization", zero=True)
        if not len(answers):
            raise InputError("answers: got none; an embedding needs at least one")
        if self.prior is not None and not isinstance(self.prior, Prior):
            way_out = "give vectors to nearfar.fit(features=...)"
            raise InputError(f"prior: expected one that nearfar made; {way_out}")
        if self.prior is not None and self.prior.vectors.objects != answers.objects:
            raise InputError("prior: its vectors are of other objects; make it for those of the answers")

    @property
    def _n_features_out(self) -> int:
        """Columns of ``transform``, for scikit-learn's ``set_output``."""
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        """X is answers, not a matrix of numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    @property
    def informed_(self) -> NDArray[np.bool_]:
        """(n,) which of the fitted objects have an answer, or a vector in the prior."""
        check_is_fitted(self, "embedding_")
        return self._informed

    @property
    def uninformed_(self) -> NDArray[np.intp]:
        """Indices of the fitted objects without an answer; they lie at the centre."""
        check_is_fitted(self, "embedding_")
        return np.flatnonzero(~self._informed)

    @property
    def uninformed_objects_(self) -> list[str]:
        """Names of the fitted objects without an answer."""
        return [self.objects_[i] for i in self.uninformed_]

    def _warn_of_uninformed(self) -> None:
        if missing := self.uninformed_objects_:
            said = f"{len(missing)} of {len(self.objects_)} objects have no answer ({listed(missing, 3)})"
            warnings.warn(f"{said}; they are put at the centre", UninformedWarning, stacklevel=3)

    def _warn_unless_converged(self, ended: Optimum) -> None:
        if not ended.converged:
            stopped = f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations"
            last = f"the last improvement of the loss was {ended.improvement:.1e} of its size"
            text = f"{stopped}; {last} (tol={ended.tol:g}); raise max_iter or tol"
            warnings.warn(text, NotConverged, stacklevel=4)


def _guess(data: Merged, new: NDArray[np.bool_], points: Points) -> None:
    """In and out: the points of new objects become the mean of the fitted objects they were said to be near to."""
    total, sums = np.zeros(len(points)), np.zeros_like(points)
    for one, other in ((data.anchor, data.near), (data.near, data.anchor)):
        rows = new[one] & ~new[other]
        weight = data.weight[rows]
        total += np.bincount(one[rows], weight, len(points))
        for c in range(points.shape[1]):
            sums[:, c] += np.bincount(one[rows], weight * points[other[rows], c], len(points))
    hinted = new & (total > 0)
    points[hinted] = sums[hinted] / total[hinted, None]


def check_positive(value: Any, name: str, *, zero: bool = False) -> None:
    """Raise unless ``value`` is a finite number > 0 (or >= 0, where ``zero`` allows)."""
    wanted = ">= 0" if zero else "> 0"
    number = not isinstance(value, bool) and isinstance(value, (int, float, np.integer, np.floating))
    if not number or not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise InputError(f"{name} must be a finite number {wanted}, got {value!r}")


def check_weights(weights: ArrayLike | None, m: int) -> NDArray[np.float64] | None:
    """One finite number >= 0 for each of m answers, not all 0; None where there are none."""
    if weights is None:
        return None
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (m,) or not np.isfinite(given).all() or given.min() < 0 or not given.any():
        wanted = f"{m} finite numbers >= 0, one per answer and not all 0"
        raise InputError(f"sample_weight: expected {wanted}, got shape {given.shape}")
    return given
