"""Gradient descent with an adaptive step: slow, and kept for comparison with results published with it.

This is the search of the Matlab programs that came with van der Maaten and Weinberger's paper of 2012, which most
published figures on GNMDS, CKL, STE and t-STE rest on. Described step by step:

1. Move all points against the gradient, by a step of ``rate * n / m`` for n objects and m answers.
2. If the objective fell by more than the tolerance since the step before, multiply the rate by 1.01, else halve it.
   A step that made things worse is not taken back.
3. Stop after five such failures in a row, or after ``max_iter`` steps; return the best points seen.

From points near the origin it has to leave a saddle: all distances are about zero there, and the gradient vanishes
with them. Where few objects (landmarks) are in most of the answers, their steps are too long for that, and the best
points seen may remain those it started from.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.progress import step
from nearfar.embedding.loop import Loop, Points
from nearfar.embedding.optimise import Optimum, objective
from nearfar.embedding.pull import Pull


def descend(
    loop: Loop,
    start: Points,
    free: NDArray[np.intp],
    *,
    rate: float,
    least_steps: int = 0,
    pull: Pull | None,
    max_iter: int,
    tol: float,
    name: str = "embedding",
) -> Optimum:
    """Minimise the sum of losses plus the pull over the rows ``free`` of the points; see the module's description.

    ``rate`` is the first one; ``least_steps`` are made however many of them fail. Both are published for each loss.
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
