"""Two searches for the points that are free to move: SciPy's L-BFGS, and gradient descent as published.

Both add a pull to the centre to the losses, which keeps objects from being placed far out to satisfy a few answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from nearfar._tools.progress import step
from nearfar.embedding.loop import Loop, Merged, Points
from nearfar.embedding.prior import Prior

MEMORY = 10  # pairs of steps and gradients that L-BFGS keeps

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
        value = self._size * float(np.log1p(self._squares(points) / self._width))
        return value, 2.0 * self.strength(points) * self._weights * points

    def strength(self, points: Points) -> float:
        """What a squared length costs at these points."""
        return self._size / (self._width + self._squares(points))

    def _squares(self, points: Points) -> float:
        return float(np.vdot(points, self._weights * points))


def steady_pull(strengths: NDArray[np.float64]) -> Pull:
    """A pull of fixed strength: ``strengths`` (n,) times the squared lengths."""
    each = strengths[:, None]
    return lambda points: (float(np.vdot(points, each * points)), 2.0 * each * points)


class Optimum(NamedTuple):
    """Where the search ended: all ``points`` (n, d), and with a prior its ``coefficients``.

    ``converged`` : whether the last iteration improved the objective (losses and pull) by less than the tolerance;
    ``improvement`` : by which share.
    """

    points: Points
    objective: float
    n_iter: int
    converged: bool
    improvement: float
    coefficients: Points | None = None


def objective(loop: Loop, points: Points, free: NDArray[np.intp], pull: Pull | None) -> tuple[float, Points]:
    """The sum of losses plus the pull, and its gradient at the rows that move."""
    value, gradient = loop(points)
    slopes = gradient[free]
    if pull is not None:
        more, tilt = pull(points[free])
        value += more
        slopes += tilt
    return value, slopes


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
    scale = 1.0 / np.sqrt(counts[free] + 10.0)[:, None]
    first = points[free] / scale if prior is None else _start(prior, points, counts > 0)
    values: list[float] = []

    def scaled(z: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        given = z.reshape(first.shape)
        if prior is not None:
            value, gradient = loop(prior.points(given))
            more, tilt = (0.0, 0.0) if pull is None else pull(given)
            return value + more, (prior.coefficients(gradient) + tilt).ravel()
        points[free] = given * scale
        value, slopes = objective(loop, points, free, pull)
        return value, (slopes * scale).ravel()

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
    ended = result.x.reshape(first.shape)
    if prior is None:
        points[free] = ended * scale
    else:
        points = prior.points(ended)
    last = (values[-2] - values[-1]) / max(abs(values[-1]), 1.0) if len(values) > 1 else 0.0
    reached = float(result.fun), int(result.nit), bool(result.status != 1), last
    return Optimum(points, *reached, None if prior is None else ended)


def _start(prior: Prior, points: Points, asked: NDArray[np.bool_]) -> Points:
    """Coefficients whose points are smooth in the vectors, and as wide as those given.

    Objects that nobody was asked about have no own part: nothing would move it from where it starts.
    """
    first = prior.coefficients(points)
    first[: len(asked)][~asked] = 0.0
    return first * (np.linalg.norm(points) / max(float(np.linalg.norm(prior.points(first))), 1e-300))


def descend(
    loop: Loop, start: Points, free: NDArray[np.intp], *, rate: float, least_steps: int = 0, pull: Pull | None,
    max_iter: int, tol: float, name: str = "embedding",
) -> Optimum:  # fmt: skip
    """As ``optimise`` by gradient descent with an adaptive step: slow, and kept for comparison with published results.

    This is the search of the Matlab programs that came with van der Maaten and Weinberger's paper of 2012, which most
    published figures on GNMDS, CKL, STE and t-STE rest on:

    1. Move all points against the gradient, by a step of ``rate * n / m`` for n objects and m answers.
    2. If the objective fell by more than the tolerance since the step before, multiply the rate by 1.01, else halve
       it. A step that made things worse is not taken back.
    3. Stop after five such failures in a row, or after ``max_iter`` steps; return the best points seen.

    ``rate`` is the first one; ``least_steps`` are made however many of them fail. Both are published for each loss.
    From points near the origin, where few objects (landmarks) are in most answers, it may never leave its start.
    """
    patience = 5  # failures in a row
    points = np.ascontiguousarray(start, dtype=np.float64).copy()
    best, lowest = points.copy(), np.inf
    before, improvement, failures, steps = np.inf, 0.0, 0, 0
    scale = len(free) / float(loop.data.weight.sum())
    with step(f"fitting {name}", total=max_iter) as advance:
        while steps < max_iter and (failures < patience or steps < least_steps):
            value, slopes = objective(loop, points, free, pull)
            if not np.isfinite(value) or not np.isfinite(slopes).all():
                failures = patience  # no later step could be finite again
                break
            if value < lowest:
                best, lowest = points.copy(), value
            points[free] -= rate * scale * slopes
            if before - value > tol:
                failures, rate = 0, rate * 1.01
                improvement = (before - value) / max(abs(value), 1.0) if np.isfinite(before) else 0.0
            else:
                failures, rate = failures + 1, rate / 2
            before = value
            steps += 1
            advance(1)
    return Optimum(best, float(lowest), steps, failures >= patience, improvement)
