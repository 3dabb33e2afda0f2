"""Learning curves as power laws, from the last measured point on: accuracy = a - b m^-c after m answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PowerLaws", "fit_power_laws"]

EXPONENTS = np.linspace(0.0, 1.5, 31)  # every doubling brings at most as much as the one before it
LEAST_NOISE = 0.003  # of a measured accuracy about its curve


@dataclass(frozen=True)
class PowerLaws:
    """Several curves at once: ``last + slope x(m)`` with ``x(m) = (1 - (m / scale)^-c) / c``, log(m / scale) for c = 0.

    Every doubling brings 2^-c times what the one before it brought: as much each time for c = 0.
    """

    last: NDArray[np.float64]
    slope: NDArray[np.float64]
    c: NDArray[np.float64]
    scale: float

    def at(self, m: float) -> NDArray[np.float64]:
        """Accuracy of every curve after m answers."""
        x = np.array([_bent(np.array([m / self.scale]), c)[0] for c in self.c])
        expected: NDArray[np.float64] = self.last + self.slope * x
        return expected


def fit_power_laws(
    m: NDArray[np.float64], accuracies: NDArray[np.float64], rng: np.random.Generator | None = None
) -> PowerLaws:
    """Curves through (curves, sizes) accuracies: for each exponent of a grid a least-squares line in m^-c.

    The shape is fitted to all sizes, the height taken from the last one. A few noisy points hardly tell one exponent
    from another: with ``rng`` each curve gets one drawn by how well it fits, so that resampled curves also vary in what
    they expect beyond the last point. Without, the mean over exponents weighted in the same way.

    >>> m = np.array([100.0, 200, 400, 800])
    >>> law = fit_power_laws(m, (0.9 - 0.3 * (m / 100) ** -0.5)[None])
    >>> 0.81 < law.at(1600)[0] < 0.83
    np.True_
    """
    scale = float(m[-1])
    fits = [_line(_bent(m / scale, c), accuracies) for c in EXPONENTS]
    slopes = np.stack([slope for slope, _ in fits])
    errors = np.stack([error for _, error in fits])
    noise = np.maximum(errors.min(axis=0) / max(len(m) - 2, 1), LEAST_NOISE**2)
    weights = np.exp(-(errors - errors.min(axis=0)) / (2 * noise))
    weights /= weights.sum(axis=0)
    if rng is None:
        middle = np.argmin(np.abs(np.cumsum(weights, axis=0) - 0.5), axis=0)
    else:
        middle = (np.cumsum(weights, axis=0) < rng.random(weights.shape[1])).sum(axis=0)
    middle = np.minimum(middle, len(EXPONENTS) - 1)
    return PowerLaws(accuracies[:, -1], slopes[middle, np.arange(len(accuracies))], EXPONENTS[middle], scale)


def _bent(ratio: NDArray[np.float64], c: float) -> NDArray[np.float64]:
    bent: NDArray[np.float64] = np.log(ratio) if abs(c) < 1e-9 else (1 - ratio**-c) / c
    return bent


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least squares ``y = y0 + slope x`` with slope >= 0 for every row of y: slope and squared error."""
    x = x - x.mean()
    y = y - y.mean(axis=1, keepdims=True)
    slope = np.maximum(0.0, y @ x / np.sum(x**2))
    return slope, np.sum((y - slope[:, None] * x) ** 2, axis=1)
