"""Learning curves that leave chance, rise and saturate: accuracy = 1/2 + B (1 + T / (g m))^-g after m answers.

Every doubling of the answers brings more than the one before up to m = T, less from there on, and in the end half as much: what is
lost by having estimated from m answers falls like 1/m. A power law has no bend, and the tail of a Hill function is as steep as its
start, which is wrong for embeddings: they start steeply and end slowly (its forecasts were off by a factor of 2.6 in simulations).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfar._tools.arrays import Floats
from nearfar.evaluate.uncertainty import Covariance

__all__ = ["SaturatingCurves", "draw_curves"]

STEEPNESS = np.geomspace(0.4, 6.0, 17)  # g
TURN = 2.0 ** np.linspace(-6, 5, 45)  # T, as multiples of the last measured size
FIT_NOISE = 0.08  # standard deviation of an accuracy by which m answers were fitted, times the root of m
# of what was gained over what the law says, in the logarithm: spread, and spread for every e-fold of steepness above 1
SPREAD, SPREAD_STEEP = 0.1, 0.2
DRAWS = 2000


@dataclass(frozen=True, eq=False)
class SaturatingCurves:
    """Curves that are consistent with what was measured, drawn by how well they fit.

    ``rise`` B, ``steepness`` g, ``turn`` T (in answers), and per curve how far a gain is ``off`` the law (a factor).
    """

    rise: Floats
    steepness: Floats
    turn: Floats
    off: Floats

    def at(self, m: float) -> Floats:
        """Accuracy of every curve after m answers."""
        reached: Floats = 0.5 + self.rise * _shape(m, self.turn, self.steepness)
        return reached

    def gain(self, m: float, more: float) -> Floats:
        """What every curve gains from m to ``more`` answers, with its departure from the law."""
        gained: Floats = (self.at(more) - self.at(m)) * self.off
        return gained

    def accelerates(self, m: float) -> float:
        """The share of curves that still accelerate at m answers: nothing measured says where they will bend."""
        return float(np.mean(self.turn > m))


def draw_curves(
    m: Floats, measured: Covariance, most: float, off_the_law: float, rng: np.random.Generator
) -> SaturatingCurves | None:
    """Draw curves through accuracies measured at growing sizes; None where their errors are not known.

    For every g and T of a grid, B is a weighted least-squares estimate under the covariance of the measured accuracies,
    between 0 and ``most`` - 1/2; grid points weigh by their likelihood.

    Parameters
    ----------
    m : (sizes,) numbers of answers, ascending.
    measured : the accuracies, their covariance over sizes, and its degrees of freedom.
    most : accuracy that no curve exceeds.
    off_the_law : mean logarithm of what is gained over what the law says.

    Examples
    --------
    >>> m = 1000 * 2.0 ** np.arange(-5, 0.5)
    >>> exact = Covariance(0.5 + 0.3 / (1 + 200 / m), np.eye(6) * 1e-6, 100.0)
    >>> curves = draw_curves(m, exact, 1.0, 0.0, np.random.default_rng(0))
    >>> abs(np.median(curves.at(2000)) - (0.5 + 0.3 / 1.1)) < 0.005
    np.True_
    """
    from scipy.special import stdtr, stdtrit

    if measured.df <= 0 or not np.isfinite(measured.matrix).all():
        return None
    scale = float(m[-1])
    g, turn = (grid.ravel() for grid in np.meshgrid(STEEPNESS, TURN, indexing="ij"))
    shape = _shape(m / scale, turn[:, None], g[:, None])
    precision = np.linalg.inv(measured.matrix + np.diag(FIT_NOISE**2 / m))
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
    spread = SPREAD + SPREAD_STEEP * np.log(np.maximum(g[at], 1.0))
    off = np.exp(off_the_law + spread * rng.standard_normal(DRAWS))
    return SaturatingCurves(rise, g[at], turn[at] * scale, off)


def _shape(m: Floats | float, turn: Floats, steepness: Floats) -> Floats:
    reached: Floats = (1 + turn / (steepness * m)) ** -steepness
    return reached
