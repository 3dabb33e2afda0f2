"""GNMDS, CKL, STE, TSTE and SOE: points whose distances agree with the answers.

Each class adds its loss and the loss's parameter to ``Embedding``, which explains what they share. The default
regularization of each was chosen by held-out accuracy on food, car, THINGS, musicians and simulated answers, on
splits other than those the benchmark reports. ``fit_lapses`` is for people who sometimes answer without looking.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats
from nearfar.embedding import losses
from nearfar.embedding.base import Embedding
from nearfar.embedding.loop import Points
from nearfar.errors import InputError, NearfarWarning
from nearfar.triplets import Triplets

STEADY = 0.003  # the share of lapses has settled when it moves less


class GNMDS(Embedding):
    """Generalised non-metric multidimensional scaling (Agarwal et al., 2007): a hinge on squared distances.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        max(0, 1 + n - f)

    Parameters
    ----------
    """

    _kind = losses.GNMDS


@dataclass(eq=False, repr=False, kw_only=True)
class CKL(Embedding):
    """The crowd kernel (Tamuz et al., 2011): an answer is right with the odds of two squared distances.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        -log (mu + f) / (2 mu + n + f)

    Parameters
    ----------
    mu : squared distances well below it make no difference; it sets the scale of the points. With 0 the loss knows
        no scale, and ``regularization`` must be 0.
    """

    mu: float = 1.0
    regularization: float = 0.05

    law: ClassVar[str] = "ratio"  # of squared distances, that answers go by
    _kind = losses.CKL
    _own = "mu"

    def _scale(self) -> tuple[float, float]:
        return float(np.sqrt(self.mu)), 1.0

    def _check(self, answers: Triplets) -> None:
        super()._check(answers)
        if self.mu == 0 and self.regularization > 0:
            shrinks = f"with 0 the loss knows no scale, and regularization={self.regularization:g} would shrink the points"
            raise InputError(f"mu: {shrinks} to nothing; set regularization=0 or mu=1")


@dataclass(eq=False, repr=False, kw_only=True)
class STE(Embedding):
    """Stochastic triplet embedding (van der Maaten and Weinberger, 2012): a logistic model of the answers.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        -log e^-n / (e^-n + e^-f)  =  log(1 + e^(n - f))

    Parameters
    ----------
    """

    regularization: float = 0.5

    _kind = losses.STE


@dataclass(eq=False, repr=False, kw_only=True)
class TSTE(Embedding):
    """t-distributed stochastic triplet embedding (van der Maaten and Weinberger, 2012): STE with heavy tails.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        -log t(n) / (t(n) + t(f)),   t(x) = (1 + x / alpha)^(-(alpha + 1) / 2)

    Parameters
    ----------
    alpha : degrees of freedom; None for max(1, n_components - 1).
    """

    alpha: float | None = None
    regularization: float = 0.2

    _kind = losses.TSTE
    _own = "alpha"

    def _parameter(self) -> float:
        return float(max(1, self.n_components - 1) if self.alpha is None else self.alpha)

    def _radius(self) -> float:
        return 0.5 * float(np.sqrt(self._parameter()))


@dataclass(eq=False, repr=False, kw_only=True)
class SOE(Embedding):
    """Soft ordinal embedding (Terada and von Luxburg, 2014): a squared hinge on distances.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        max(0, margin + sqrt n - sqrt f)^2

    Parameters
    ----------
    margin : by how much the far object should be farther; it sets the scale of the points and nothing else.
    """

    margin: float = 0.1

    law: ClassVar[str] = "root"  # of squared distances: answers go by the difference of two lengths
    _kind = losses.SOE
    _own = "margin"

    def _scale(self) -> tuple[float, float]:
        return float(self.margin), float(self.margin) ** 2


# -------------------------------------------------------------------- lapses


class LapseMap(NamedTuple):
    """``points`` (n, d), the share of ``lapses`` that goes with them, and which objects (n,) are ``informed``.

    ``landmarks`` : 0 where all objects play all roles, near 1 where few are asked about all others (the power of ``Emphasis``).
    """

    points: Points
    lapses: float
    informed: NDArray[np.bool_]
    landmarks: float

    def log_probability(self, answers: Triplets) -> Floats:
        """(m,) logarithm of the probability of every answer."""
        surely = _surely(self.points, answers)
        return np.asarray(np.log(self.lapses / 2 + (1 - self.lapses) * surely))


class _WithLapses(Embedding):
    """The embedding with a given share of lapses, from given points on."""

    _kind = losses.LAPSE
    _own = "lapses"

    def __init__(self, start: Points, lapses: float) -> None:
        super().__init__(start.shape[1], regularization=0.05, init=start, max_iter=300)
        self.lapses = lapses


def fit_lapses(answers: Triplets, n_components: int) -> LapseMap:
    """Points and the share of lapses by which the answers are likeliest, under a pull to the centre.

    A person answers at random with probability l (a lapse). Otherwise the nearer object is chosen with a probability that
    is logistic in the difference of the two distances:

        p = l / 2 + (1 - l) / (1 + e^(sqrt n - sqrt f)).

    With the other losses, a few lapses about objects that lie far apart draw all clusters together. Here an answer costs at most
    -log(l / 2). Predictions are not better for it, but the gaps between clusters are, and ``nearfar.evaluate.clusters`` counts these.
    Lapses are those of psychometric functions (Wichmann and Hill, 2001); finding points with them is ours.
    """
    with warnings.catch_warnings(action="ignore", category=NearfarWarning):
        points = SOE(n_components).fit_transform(answers)
        points *= 2.0 / max(float(np.sqrt(np.mean(np.sum(points**2, axis=1)))), 1e-300)
        lapses = 0.1
        for _ in range(8):  # points and the share of lapses in turn
            fitted = _WithLapses(points, lapses).fit(answers)
            points = fitted.embedding_
            before, lapses = lapses, _likeliest(_surely(points, answers), lapses)
            if abs(lapses - before) < STEADY:
                break
    return LapseMap(points, lapses, fitted.informed_, fitted._emphasis.power)


def _surely(points: Points, answers: Triplets) -> Floats:
    """(m,) probability of every answer where there is no lapse."""
    others = (answers.near, answers.far)
    near, far = (np.linalg.norm(points[answers.anchor] - points[other], axis=1) for other in others)
    return np.asarray(1 / (1 + np.exp(np.clip(near - far, -36, 36))))


def _likeliest(surely: Floats, lapses: float) -> float:
    """The share of lapses that makes answers likeliest, at these points: expectation and maximisation in turn."""
    for _ in range(50):
        guessed = lapses / 2 / (lapses / 2 + (1 - lapses) * surely)
        before, lapses = lapses, float(np.clip(guessed.mean(), 1e-4, 0.9))
        if abs(lapses - before) < STEADY / 10:
            break
    return lapses
