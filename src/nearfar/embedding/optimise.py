"""The search for the points that are free to move, by SciPy's L-BFGS, and where it starts.

It adds a pull to the centre to the losses, which keeps objects from being placed far out to satisfy a few answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from nearfar._tools.progress import step
from nearfar.embedding.loop import Loop, Merged, Points
from nearfar.embedding.prior import Prior

MEMORY = 10  # pairs of steps and gradients that L-BFGS keeps
FLOOR = 1e-4  # share of the largest eigenvalue that every axis gets: a flat axis could never unfold

# what is added to the loss at some points: (value, gradient)
Pull = Callable[[Points], tuple[float, Points]]


def answers_per_object(data: Merged) -> NDArray[np.float64]:
    """(n,) how many answers name each object, in any role."""
    anchors, options = _roles(data)
    return anchors + options


def _roles(data: Merged) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n,) how many answers each object is the anchor of, and of how many it is one of the two others."""
    anchors, near, far = (np.bincount(role, data.weight, data.n_objects) for role in data[:3])
    return anchors.astype(np.float64), (near + far).astype(np.float64)


class Emphasis(NamedTuple):
    """How much the squared length of an object counts, by the number k of its answers: (k / mean) ** power.

    The power is 0 where all objects play both roles, and nears 1 where few objects, the landmarks, are asked about
    all others. Counted alike, landmarks far out and all others near the centre would be cheapest.
    """

    mean: float
    power: float

    @classmethod
    def of(cls, data: Merged) -> Emphasis:
        """With s the ratio of the effective numbers of anchors and of options, the power is (1 - s) ** 2."""
        anchors, options = _roles(data)
        sizes = sorted(float(counts.sum() ** 2 / (counts @ counts)) for counts in (anchors, options))
        total = anchors + options
        return cls(float(total[total > 0].mean()), (1.0 - sizes[0] / sizes[1]) ** 2)

    def __call__(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) weights of objects with so many answers."""
        return np.asarray((counts / self.mean) ** self.power)


class LearntPull:
    """A pull whose own strength is learnt with the points.

    With n objects, k answers per object and q the points' mean squared length on the scale of the loss, lengths counted
    by ``weights`` (with a prior, those of its coefficients), it adds

        strength * n * sqrt(k) * log(1 + q),

    the logarithm of a normal prior whose width is not known beforehand. Answers that contradict each other leave q small and
    the pull strong, so that no object is placed far out to satisfy a few of them; answers that agree make it weak.
    """

    def __init__(
        self, strength: float, weights: Points, k: float, scale: float, scale_loss: float, n_objects: int = 0
    ) -> None:
        n = n_objects or len(weights)
        self._weights = weights[:, None]
        self._size = strength * n * float(np.sqrt(k)) * scale_loss
        self._width = n * scale * scale

    def __call__(self, points: Points) -> tuple[float, Points]:
        """Value and gradient."""
        counted = self._weights * points
        squares = float(np.vdot(points, counted))
        slope = 2.0 * self._size / (self._width + squares)
        return self._size * float(np.log1p(squares / self._width)), slope * counted

    def strength(self, points: Points) -> float:
        """What a squared length costs at these points."""
        return self._size / (self._width + float(np.vdot(points, self._weights * points)))


def steady_pull(strengths: NDArray[np.float64]) -> Pull:
    """A pull of fixed strength: ``strengths`` (n,) times the squared lengths."""
    each = strengths[:, None]
    return lambda points: (float(np.vdot(points, each * points)), 2.0 * each * points)


class Optimum(NamedTuple):
    """Where the search ended: all ``points`` (n, d), and with a prior its ``coefficients``.

    ``converged`` : whether the last iteration improved the objective (losses and pull) by less than the tolerance;
    ``improvement`` : by which share; ``tol`` : the tolerance.
    """

    points: Points
    objective: float
    n_iter: int
    converged: bool
    improvement: float
    tol: float
    coefficients: Points | None = None


def optimise(
    loop: Loop, start: Points, free: NDArray[np.intp], *, pull: Pull | None, max_iter: int, tol: float,
    name: str = "embedding", prior: Prior | None = None,
    bounds: tuple[float | None, float | None] | None = None,
) -> Optimum:  # fmt: skip
    """Minimise the sum of losses plus the pull over the rows ``free`` of the points, or over all coefficients of a prior.

    ``bounds`` : of the points, 0 or infinite, without a prior.

    The curvature along an object's coordinates grows with its answers, so L-BFGS sees them multiplied by the root
    of that number: a collection where some objects have many and some few answers takes half the iterations.
    """
    points = np.ascontiguousarray(start, dtype=np.float64).copy()
    counts = answers_per_object(loop.data)
    scale: Any = 1.0 / np.sqrt(counts[free] + 10.0)[:, None] if prior is None else 1.0
    first = points[free] / scale if prior is None else _start(prior, points, counts > 0)
    values: list[float] = []

    def placed(moved: Points) -> Points:
        if prior is not None:
            return prior.points(moved)
        points[free] = moved
        return points

    def scaled(z: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        moved = z.reshape(first.shape) * scale
        value, gradient = loop(placed(moved))
        more, tilt = (0.0, 0.0) if pull is None else pull(moved)
        slope = gradient[free] if prior is None else prior.coefficients(gradient)
        return value + more, ((slope + tilt) * scale).ravel()

    with step(f"fitting {name}", total=max_iter) as advance:

        def after(intermediate_result: Any) -> None:
            values.append(float(intermediate_result.fun))
            advance(1)

        limits: Any = {"maxiter": max_iter, "maxfun": 20 * max_iter + 20}
        limits |= {"maxcor": MEMORY, "ftol": tol, "gtol": 0.0}
        within: Any = None if bounds is None else [bounds] * points[free].size
        result = minimize(
            scaled, first.ravel(), jac=True, method="L-BFGS-B", bounds=within, callback=after, options=limits
        )
    ended = result.x.reshape(first.shape) * scale
    last = (values[-2] - values[-1]) / max(abs(values[-1]), 1.0) if len(values) > 1 else 0.0
    reached = float(result.fun), int(result.nit), bool(result.status != 1), last, tol
    return Optimum(placed(ended), *reached, None if prior is None else ended)


def _start(prior: Prior, points: Points, asked: NDArray[np.bool_]) -> Points:
    """Coefficients whose points are smooth in the vectors, and as wide as those given.

    Objects that nobody was asked about have no own part: nothing would move it from where it starts.
    """
    first = prior.coefficients(points)
    first[: len(asked)][~asked] = 0.0
    return first * (np.linalg.norm(points) / max(float(np.linalg.norm(prior.points(first))), 1e-300))


# -------------------------------------------------------------------- the start


def kernel_start(data: Merged, informed: NDArray[np.intp], n_components: int) -> Points:
    """Where a search starts: (n, d) points with root mean square length 1 over the informed objects, the others at zero.

    It is a rank-based classical-scaling map of the answers, deterministic and O(m) a step. How much nearer than others i
    was said to be to a, whatever the comparison, is

        S[a, i] = sum_j #(a, i, j) - #(a, j, i),

    so -(S + S') plays the part of squared distances and classical scaling asks for the top eigenvectors of
    J (S + S') J, J = I - 1 1'/n. S is sparse; for many objects Lanczos' method needs products with it only.
    """
    points = np.zeros((data.n_objects, n_components))
    count = len(informed)
    k = min(n_components, count - 1)
    net = _net_scores(data)[informed][:, informed]
    if count <= 256:  # all eigenvectors of a small matrix cost less than Lanczos' method
        dense = net.toarray() - net.mean(axis=0)
        values, vectors = eigh(
            dense - dense.mean(axis=1, keepdims=True), subset_by_index=(count - k, count - 1)
        )
    else:
        values, vectors = _lanczos(net, k)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    lengths = np.sqrt(np.maximum(values, FLOOR * max(values.max(initial=0.0), 1e-300)))
    points[informed, : vectors.shape[1]] = vectors * lengths
    if vectors.shape[1] < n_components:  # more axes than objects can span, or than Lanczos found
        noise = np.random.default_rng(0).normal(size=(count, n_components - vectors.shape[1]))
        size = np.sqrt(FLOOR / count) * max(lengths.max(initial=0.0), 1.0)
        points[informed, vectors.shape[1] :] = noise * size
    points /= np.sqrt(np.mean(np.sum(points[informed] ** 2, axis=1)))
    return points


def _net_scores(data: Merged) -> Any:
    """S + S', sparse."""
    cells = np.tile(data.anchor, 2), np.concatenate([data.near, data.far])
    net = csr_array((np.concatenate([data.weight, -data.weight]), cells), shape=(data.n_objects,) * 2)
    return net + net.T


def _lanczos(net: Any, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The top eigenvalues and eigenvectors of J (S + S') J, about."""

    def centred_product(x: NDArray[Any]) -> NDArray[Any]:
        y = net @ (x.ravel() - x.mean())
        return np.asarray(y - y.mean())

    operator = LinearOperator(net.shape, matvec=centred_product, dtype=np.float64)
    first = np.random.default_rng(0).normal(size=net.shape[0])
    try:
        values, vectors = eigsh(operator, k=k, which="LA", v0=first, tol=1e-2, maxiter=20)  # not exact
    except ArpackNoConvergence as stopped:
        values, vectors = np.real(stopped.eigenvalues), np.real(stopped.eigenvectors)
    # the sign that Lanczos' method returns is not a property of the answers
    return values, vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
