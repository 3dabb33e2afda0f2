"""Who would answer what: answers to questions from points, distances or a function, with flips and ties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from nearfar.errors import InputError
from nearfar.progress import step
from nearfar.threads import blocks, run
from nearfar.triplets import Triplets

if TYPE_CHECKING:
    from nearfar.design import Questions

__all__ = ["SimulatedAnswers", "answers"]

Pairwise = Callable[[NDArray[Any], NDArray[Any]], ArrayLike]

CHUNK = 1 << 18  # questions answered at a time
CELLS = 1 << 20  # numbers in a temporary of pairs of points


@dataclass(frozen=True)
class SimulatedAnswers:
    """What was answered, and how many questions were ties (dropped, or answered at random)."""

    triplets: Triplets
    ties: int


def answers(
    questions: Questions,
    *,
    points: ArrayLike | None = None,
    distances: ArrayLike | None = None,
    distance: Pairwise | None = None,
    metric: str | Pairwise = "euclidean",
    flip: float = 0.0,
    ties: Literal["drop", "random"] = "drop",
    seed: int | np.random.Generator = 0,
) -> SimulatedAnswers:
    """Answer questions by distance: near is the one with the smaller distance from the anchor.

    Give one of ``points``, ``distances`` and ``distance``.

    Parameters
    ----------
    questions : what is asked, from ``nearfar.design``.
    points : (n, d) coordinates of all objects, compared by ``metric``.
    distances : (n, n) distances; row is the anchor. Infinite ones are allowed, two of them tie.
    distance : function of two equally long arrays of indices (anchors, others) that returns their distances.
    metric : "euclidean", "manhattan", "chebyshev" or "cosine"; or a function of two (m, d) arrays that
        returns the m distances between their rows.
    flip : each answer is turned round with this probability, independently of all others.
    ties : what happens where both distances are equal: "drop" the question, or answer at "random".
    seed : whole number or numpy Generator.

    Returns
    -------
    SimulatedAnswers with ``triplets`` (in the order of the questions) and ``ties``, how many there were.

    Examples
    --------
    >>> from nearfar import design
    >>> result = answers(design.random_questions(3, 3), points=[[0.0], [1.0], [2.0]])
    >>> sorted(result.triplets.array.tolist()), result.ties
    ([[0, 1, 2], [2, 1, 0]], 1)
    """
    if not 0 <= flip <= 1:
        raise InputError(
            f"flip: expected a probability, got {flip}",
        )
    if ties not in ("drop", "random"):
        raise InputError(
            f"ties: expected 'drop' or 'random', got {ties!r}",
        )
    measure = _measure(len(questions.objects), points, distances, distance, metric)
    # Two streams, so that the flips stay the same whatever is done about ties.
    flips, coins = np.random.default_rng(seed).spawn(2)
    m = len(questions)
    out = np.empty((3, m), dtype=np.int32)
    done = n_ties = 0
    with step("simulating answers", total=m) as advance:
        for start in range(0, m, CHUNK):
            rows = slice(start, min(start + CHUNK, m))
            anchor, one, other = questions.anchor[rows], questions.one[rows], questions.other[rows]
            d_one, d_other = measure(anchor, one), measure(anchor, other)
            tie = d_one == d_other
            n_ties += int(tie.sum())
            swap = (d_one > d_other) ^ (flips.random(len(anchor)) < flip)
            keep = ~tie
            if ties == "random":
                swap[tie] = coins.random(int(tie.sum())) < 0.5
                keep[:] = True
            stop = done + int(keep.sum())
            out[0, done:stop] = anchor[keep]
            out[1, done:stop] = np.where(swap, other, one)[keep]
            out[2, done:stop] = np.where(swap, one, other)[keep]
            done = stop
            advance(len(anchor))
    return SimulatedAnswers(Triplets(out[0, :done], out[1, :done], out[2, :done], questions.objects), n_ties)


# ---------------------------------------------------------------- distances between pairs of objects


def _measure(
    n: int,
    points: ArrayLike | None,
    distances: ArrayLike | None,
    distance: Pairwise | None,
    metric: str | Pairwise,
) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]:
    """The one function (anchors, others) -> distances that the caller described."""
    given = [
        name
        for name, v in (("points", points), ("distances", distances), ("distance", distance))
        if v is not None
    ]
    if len(given) != 1:
        raise InputError(
            f"simulate.answers: expected one of points, distances and distance, got {' and '.join(given) or 'none'}",
        )
    if points is not None:
        return _between_points(check_rows(points, n, "points"), metric)
    if distances is not None:
        matrix = check_rows(distances, n, "distances", finite=False)
        if matrix.shape != (n, n):
            raise InputError(
                f"distances: expected shape ({n}, {n}), got {matrix.shape}",
            )
        return lambda i, j: matrix[i, j]
    return lambda i, j: _checked(distance(i, j) if distance else [], len(i), "distance")


def check_rows(values: ArrayLike, n: int, name: str, *, finite: bool = True) -> NDArray[Any]:
    """A 2-d array of numbers with one row per object and no NaN (nor infinity, where ``finite``)."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        array = array.astype(np.float64)
    if array.ndim != 2 or len(array) != n:
        raise InputError(
            f"{name}: expected one row for each of the {n:,} objects, got an array of shape {array.shape}",
        )
    bad = np.isnan(array).any() or (finite and not np.isfinite(array).all())
    if bad:
        row = int(np.argmax((~np.isfinite(array) if finite else np.isnan(array)).any(axis=1)))
        raise InputError(
            f"{name}, row {row}: a value is NaN or infinite; leave such objects out of the questions",
        )
    return array


def _between_points(points: NDArray[Any], metric: str | Pairwise) -> Callable[..., NDArray[np.float64]]:
    if isinstance(metric, str) and metric in ("euclidean", "sqeuclidean"):
        return lambda i, j: squared_distances(points, i, j)  # the same order as their roots
    if isinstance(metric, str) and metric not in METRICS:
        raise InputError(
            f"metric: {metric!r} is not known; expected euclidean, {', '.join(METRICS)} or a function",
        )
    rows_apart: Pairwise = METRICS[metric] if isinstance(metric, str) else metric
    width = max(1, CELLS // max(1, points.shape[1]))

    def measure(i: NDArray[Any], j: NDArray[Any]) -> NDArray[np.float64]:
        parts = [slice(start, start + width) for start in range(0, len(i), width)]
        done = [_checked(rows_apart(real(i[p]), real(j[p])), len(i[p]), "metric") for p in parts]
        return np.concatenate(done) if done else np.empty(0)

    def real(rows: NDArray[Any]) -> NDArray[Any]:
        chosen: NDArray[Any] = points[rows]  # differences of unsigned pixels would wrap round
        return chosen if chosen.dtype.kind == "f" else chosen.astype(np.float64)

    return measure


def _checked(values: ArrayLike, m: int, name: str) -> NDArray[np.float64]:
    result = np.asarray(values, dtype=np.float64)
    if result.shape != (m,) or np.isnan(result).any():
        raise InputError(
            f"{name}: expected a function that returns {m} distances for two arrays of {m}, got "
            + (
                "NaN"
                if result.shape == (m,)
                else f"shape {result.shape}; np.vectorize helps with one for numbers"
            ),
        )
    return result


def _cosine(u: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    norms = np.sqrt(np.einsum("ij,ij->i", u, u) * np.einsum("ij,ij->i", v, v))
    dots = np.einsum("ij,ij->i", u, v)
    # The zero vector points nowhere: it counts as orthogonal to everything.
    cosines: NDArray[Any] = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
    return 1.0 - cosines


METRICS: dict[str, Pairwise] = {
    "manhattan": lambda u, v: np.abs(u - v).sum(axis=1),
    "cityblock": lambda u, v: np.abs(u - v).sum(axis=1),
    "chebyshev": lambda u, v: np.abs(u - v).max(axis=1, initial=0.0),
    "cosine": _cosine,
}


def squared_distances(points: NDArray[Any], i: NDArray[Any], j: NDArray[Any]) -> NDArray[np.float64]:
    """(m,) squared Euclidean distances between rows i[t] and j[t] of points.

    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0]), np.array([1]))
    array([25.])
    """
    out = np.empty(len(i))
    run(_squared_distances, [(points, i[a:b], j[a:b], out[a:b]) for a, b in blocks(len(i), 8)])
    return out


# Sums may be taken in another order (several at a time); no fused multiply-add, which would make
# dx*dx + dy*dy differ from dy*dy + dx*dx and so break ties between mirror images.
@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _squared_distances(points, i, j, out):  # type: ignore[no-untyped-def]
    """out[t] = sum_c (points[i[t], c] - points[j[t], c])^2; in: points (n, d), i, j (m,); out: out (m,)."""
    for t in range(len(i)):
        total = 0.0
        for c in range(points.shape[1]):
            gap = np.float64(points[i[t], c]) - np.float64(points[j[t], c])
            total += gap * gap
        out[t] = total
