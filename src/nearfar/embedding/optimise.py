"""SciPy's L-BFGS on the points that are free to move, with the penalty and the scaling of the variables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from nearfar._tools.progress import step
from nearfar.embedding.loop import Loop, Points
from nearfar.embedding.pull import Pull, answers_per_object

MEMORY = 10  # pairs of steps and gradients that L-BFGS keeps


class Optimum(NamedTuple):
    """Where the search ended.

    Parameters
    ----------
    points : (n, d), all of them.
    objective : the sum of the loss over the answers plus the pull.
    n_iter : iterations of L-BFGS.
    converged : whether the last iteration improved the objective by less than the tolerance asked for.
    improvement : relative improvement of the last iteration.
    """

    points: Points
    objective: float
    n_iter: int
    converged: bool
    improvement: float


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
    loop: Loop,
    start: Points,
    free: NDArray[np.intp],
    *,
    pull: Pull | None,
    max_iter: int,
    tol: float,
    name: str = "embedding",
) -> Optimum:
    """Minimise the sum of losses plus the pull over the rows ``free`` of the points.

    The curvature along an object's coordinates grows with its answers, so L-BFGS sees them multiplied by the root
    of that number: a collection where some objects have many and some few answers takes half the iterations.
    """
    points = np.ascontiguousarray(start, dtype=np.float64).copy()
    scale = 1.0 / np.sqrt(answers_per_object(loop.data)[free] + 10.0)[:, None]
    shape = (len(free), points.shape[1])
    values: list[float] = []

    def scaled(z: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        points[free] = z.reshape(shape) * scale
        value, slopes = objective(loop, points, free, pull)
        return value, (slopes * scale).ravel()

    with step(f"fitting {name}", total=max_iter) as advance:

        def after(intermediate_result: Any) -> None:
            values.append(float(intermediate_result.fun))
            advance(1)

        result = minimize(
            scaled,
            (points[free] / scale).ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=after,
            options={
                "maxiter": max_iter, "maxfun": 20 * max_iter + 20, "maxcor": MEMORY, "ftol": tol, "gtol": 0.0,
            },
        )  # fmt: skip
    points[free] = result.x.reshape(shape) * scale
    last = (values[-2] - values[-1]) / max(abs(values[-1]), 1.0) if len(values) > 1 else 0.0
    return Optimum(points, float(result.fun), int(result.nit), bool(result.status != 1), last)
