"""Learning curves that leave chance, rise and saturate: accuracy = 1/2 + B m^h / (m^h + K^h) after m answers.

A power law has no bend, so it is wrong on one side of it: in simulations the exponent of a - b m^-c grows from below 0 (every
doubling brings more than the one before) to 1.5 along one and the same curve. The Hill function starts at chance, as
every model does, accelerates up to m = K and then levels off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfar.arrays import Floats
from nearfar.evaluate.uncertainty import Covariance

__all__ = ["SaturatingCurves", "draw_curves"]

STEEPNESS = np.linspace(0.6, 2.2, 17)  # h
HALFWAY = 2.0 ** np.linspace(-6, 5, 45)  # K, as multiples of the last measured size
FIT_NOISE = 0.004  # standard deviation of a measured accuracy by which answers were fitted
OFF_THE_LAW = 0.45  # of the logarithm of a gain: real curves are no Hill functions
NEXT_ANSWERS = 0.004  # of a gain, by which answers the next ones are
DRAWS = 2000


@dataclass(frozen=True, eq=False)
class SaturatingCurves:
    """Curves that are consistent with what was measured, drawn by how well they fit.

    ``rise`` B, ``steepness`` h, ``halfway`` K (in answers), and per curve how far a gain is ``off`` the law (a factor) and
    ``next`` (a summand).
    """

    rise: Floats
    steepness: Floats
    halfway: Floats
    off: Floats
    next: Floats

    def at(self, m: float) -> Floats:
        """Accuracy of every curve after m answers."""
        reached: Floats = 0.5 + self.rise / (1 + (self.halfway / m) ** self.steepness)
        return reached

    def gain(self, m: float, more: float) -> Floats:
        """What every curve gains from m to ``more`` answers, with its departure from the law."""
        gained: Floats = (self.at(more) - self.at(m)) * self.off + self.next
        return gained

    def accelerates(self, m: float) -> float:
        """The share of curves that still accelerate at m answers: nothing measured says where they will bend."""
        return float(np.mean(self.halfway > m))


def draw_curves(
    m: Floats, measured: Covariance, most: float, rng: np.random.Generator
) -> SaturatingCurves | None:
    """Draw curves through accuracies measured at growing sizes; None where their errors are not known.

    For every h and K of a grid, B is a weighted least-squares estimate under the covariance of the measured accuracies,
    between 0 and ``most`` - 1/2; grid points weigh by their likelihood.

    Parameters
    ----------
    m : (sizes,) numbers of answers, ascending.
    measured : the accuracies, their covariance over sizes, and its degrees of freedom.
    most : accuracy that no curve exceeds.

    Examples
    --------
    >>> m = 1000 * 2.0 ** np.arange(-5, 0.5)
    >>> exact = Covariance(0.5 + 0.3 / (1 + 200 / m), np.eye(6) * 1e-6, 100.0)
    >>> curves = draw_curves(m, exact, 1.0, np.random.default_rng(0))
    >>> abs(np.median(curves.at(2000)) - (0.5 + 0.3 / 1.1)) < 0.005
    np.True_
    """
    from scipy.special import stdtr, stdtrit

    if measured.df <= 0 or not np.isfinite(measured.matrix).all():
        return None
    scale = float(m[-1])
    h, k = (grid.ravel() for grid in np.meshgrid(STEEPNESS, HALFWAY, indexing="ij"))
    shape = 1 / (1 + (k[:, None] / (m / scale)) ** h[:, None])
    precision = np.linalg.inv(measured.matrix + FIT_NOISE**2 * np.eye(len(m)))
    above = measured.means - 0.5
    information = np.einsum("gi,ij,gj->g", shape, precision, shape)
    best, error = shape @ precision @ above / information, 1 / np.sqrt(information)
    rest = above - best[:, None] * shape
    misfit = np.einsum("gi,ij,gj->g", rest, precision, rest)
    low, high = stdtr(measured.df, -best / error), stdtr(measured.df, (most - 0.5 - best) / error)
    inside = np.maximum(high - low, 1e-300)
    logs = np.log(inside) + np.log(error) - misfit / 2
    weights = np.exp(logs - logs.max())
    at = rng.choice(len(weights), size=DRAWS, p=weights / weights.sum())
    probability = np.clip(low[at] + rng.random(DRAWS) * (high - low)[at], 1e-12, 1 - 1e-12)
    rise = np.clip(best[at] + error[at] * stdtrit(measured.df, probability), 0.0, most - 0.5)
    return SaturatingCurves(
        rise,
        h[at],
        k[at] * scale,
        np.exp(OFF_THE_LAW * rng.standard_normal(DRAWS)),
        NEXT_ANSWERS * rng.standard_normal(DRAWS),
    )
