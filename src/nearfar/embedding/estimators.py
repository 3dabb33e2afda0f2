"""GNMDS, CKL, STE, TSTE and SOE: points whose distances agree with the answers.

Each class adds its loss and the loss's parameter to ``Embedding``, which explains what they share. The default
regularization of each was chosen by held-out accuracy on food, car, THINGS, musicians and simulated answers, on
splits other than those the benchmark reports.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nearfar.embedding import losses
from nearfar.embedding.base import Embedding
from nearfar.errors import InputError
from nearfar.triplets import Triplets


class GNMDS(Embedding):
    """Generalised non-metric multidimensional scaling (Agarwal et al., 2007): a hinge on squared distances.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        max(0, 1 + n - f)

    Parameters
    ----------
    n_components, regularization, optimizer, init, n_init, max_iter, tol, random_state, prior : see ``Embedding``.
    """

    _kind = losses.GNMDS
    _least_steps = 50


@dataclass(eq=False, repr=False, kw_only=True)
class CKL(Embedding):
    """The crowd kernel (Tamuz et al., 2011): an answer is right with the odds of two squared distances.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        -log (mu + f) / (2 mu + n + f)

    Parameters
    ----------
    mu : squared distances well below it make no difference; it sets the scale of the points. With 0 the loss knows
        no scale, and ``regularization`` must be 0.
    n_components, regularization, optimizer, init, n_init, max_iter, tol, random_state, prior : see ``Embedding``.
    """

    mu: float = 1.0
    regularization: float = 0.05

    _kind = losses.CKL
    _own = "mu"
    _rate = 1e-5

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
    n_components, regularization, optimizer, init, n_init, max_iter, tol, random_state, prior : see ``Embedding``.
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
    n_components, regularization, optimizer, init, n_init, max_iter, tol, random_state, prior : see ``Embedding``.
    """

    alpha: float | None = None
    regularization: float = 0.2

    _kind = losses.TSTE
    _own = "alpha"
    _rate = 2.0

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
    n_components, regularization, optimizer, init, n_init, max_iter, tol, random_state, prior : see ``Embedding``.
    """

    margin: float = 0.1

    _kind = losses.SOE
    _own = "margin"

    def _scale(self) -> tuple[float, float]:
        return float(self.margin), float(self.margin) ** 2
