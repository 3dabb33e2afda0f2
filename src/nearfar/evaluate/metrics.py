"""How good is it: purity of clusters, accuracy on answers that were held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.checks import check_rows
from nearfar._tools.records import Record
from nearfar.errors import InputError
from nearfar.space import as_questions
from nearfar.space.margins import kernel_margins, point_margins
from nearfar.triplets import Triplets

__all__ = ["TripletAccuracy", "answer_credits", "purity", "triplet_accuracy"]


@dataclass(frozen=True)
class TripletAccuracy(Record):
    """Share of answers that a model predicts; a tie counts one half. ``float(result)`` is the accuracy.

    Parameters
    ----------
    accuracy : share of answers predicted, ties counted one half; NaN without answers.
    ties : share of answers where the model sees no difference.
    n_answers : how many answers were judged.

    >>> print(TripletAccuracy(0.75, 0.5, 4))
    0.750 of 4 answers (50.0% ties)
    """

    accuracy: float
    ties: float
    n_answers: int

    def __float__(self) -> float:
        return self.accuracy

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} of {self.n_answers:,} answers ({self.ties:.1%} ties)"


def purity(labels: ArrayLike, truth: ArrayLike) -> float:
    """Share of objects that belong to the most frequent class of their cluster.

    ``1/n sum_clusters max_classes |cluster and class|``. It is 1 when every object is a cluster of its own:
    compare it only at the same number of clusters.

    Parameters
    ----------
    labels : (n,) cluster of each object, numbers or text.
    truth : (n,) class of each object, numbers or text.

    >>> purity([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"])
    0.8
    """
    cluster, known = np.asarray(labels), np.asarray(truth)
    if cluster.ndim != 1 or cluster.shape != known.shape or not len(cluster):
        got = f"got shapes {cluster.shape} and {known.shape}"
        raise InputError(f"purity: expected one label and one class per object, {got}")
    from sklearn.metrics.cluster import contingency_matrix

    return float(contingency_matrix(known, cluster).max(axis=0).sum() / len(cluster))


def triplet_accuracy(
    held_out: Triplets | ArrayLike, *, points: ArrayLike | None = None, K: ArrayLike | None = None
) -> TripletAccuracy:
    """Share of answers that points or a kernel predict: near must be nearer to the anchor than far.

    Points predict by Euclidean distance, a kernel by distance in its feature space,
    ``||phi_a - phi_x||^2 = K_aa + K_xx - 2 K_ax``: near is nearer where ``K_an - K_nn / 2 > K_af - K_ff / 2``.
    Two squared distances that differ only by rounding are a tie. A kernel with K_xx = 0 knows nothing about
    x (x is uninformed), so an answer about x is a tie, not a point at the origin.

    Parameters
    ----------
    held_out : answers, Triplets or an (m, 3) array of indices; the fit should not have seen them.
    points : (n, d) coordinates, one row per object, in the order of ``held_out.objects``; rows of a pandas data frame are
        matched by the names of its index. Say which of the two it is; nothing is guessed.
    K : (n, n) kernel matrix.

    Examples
    --------
    >>> result = triplet_accuracy([[0, 1, 2], [1, 0, 2], [2, 0, 1]], points=[[0.0], [1.0], [2.0]])
    >>> float(result), result.ties
    (0.5, 0.3333333333333333)
    >>> print(result)
    0.500 of 3 answers (33.3% ties)
    """
    credit = answer_credits(held_out, points=points, K=K)
    if not len(credit):
        return TripletAccuracy(np.nan, np.nan, 0)
    accuracy = float(credit.mean(dtype=np.float64))  # exact: a sum of halves
    return TripletAccuracy(accuracy, float(np.mean(credit == 0.5)), len(credit))


def answer_credits(
    held_out: Triplets | ArrayLike, *, points: ArrayLike | None = None, K: ArrayLike | None = None
) -> NDArray[np.float32]:
    """(m,) what each answer scores in ``triplet_accuracy``: 1 predicted, 0 not, 0.5 a tie.

    >>> answer_credits([[0, 1, 2], [1, 0, 2], [2, 0, 1]], points=[[0.0], [1.0], [2.0]])
    array([1. , 0.5, 0. ], dtype=float32)
    """
    if (points is None) == (K is None):
        got = "none" if points is None else "both"
        raise InputError(f"triplet_accuracy: expected points=... or K=..., got {got}")
    name = "K" if points is None else "points"
    given: Any = K if points is None else points
    if isinstance(K, str):
        raise InputError(f"K: expected a matrix, got the name {K!r}; kernel_matrix(answers, {K!r}) makes it")
    if isinstance(held_out, Triplets) and hasattr(given, "columns") and hasattr(given, "index"):
        names = tuple(map(str, given.index))  # a data frame of pandas names its rows
        if set(names) & set(held_out.objects):
            held_out = as_questions(held_out, names)
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        got = f"got a {type(given).__name__}; a Space has score(answers)"
        raise InputError(f"{name}: expected one row of numbers per object, {got}")
    if not isinstance(held_out, Triplets):
        n = len(array) if array.ndim else None
        held_out = Triplets.from_array(held_out, n_objects=n)
    matrix = check_rows(array, held_out.n_objects, name)
    if name == "K" and matrix.shape[0] != matrix.shape[1]:
        wanted = f"({len(matrix)}, {len(matrix)}), got {matrix.shape}"
        raise InputError(f"K: expected shape {wanted}; coordinates or features go in as points=")
    margins = kernel_margins if name == "K" else point_margins
    margin = margins(matrix, held_out.anchor, held_out.near, held_out.far)
    return ((1 + np.sign(margin)) / 2).astype(np.float32)
