"""GNMDS, CKL, STE, TSTE and SOE: points whose distances agree with the answers.

Each class adds its loss and the loss's parameter to ``Embedding``, which explains what they share. The default
regularization of each was chosen by held-out accuracy on food, car, THINGS, musicians and simulated answers, on
splits other than those the benchmark reports.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nearfar.embedding import losses
from nearfar.embedding.base import Embedding, Init, Optimizer, check_positive
from nearfar.errors import InputError

__all__ = ["CKL", "GNMDS", "SOE", "STE", "TSTE"]


class GNMDS(Embedding):
    """Generalised non-metric multidimensional scaling (Agarwal et al., 2007): a hinge on squared distances.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        max(0, 1 + n - f)

    Parameters
    ----------
    n_components, regularization, optimizer, init, n_init, max_iter, tol, random_state : see ``Embedding``, as for
        what is learnt.

    Examples
    --------
    >>> line = [[0, 1, 2], [0, 2, 3], [0, 1, 3], [3, 2, 1], [3, 1, 0], [3, 2, 0], [1, 0, 3], [2, 3, 0]]
    >>> points = GNMDS(n_components=1, regularization=0.01).fit_transform(line)
    >>> sorted(range(4), key=points[:, 0].tolist().__getitem__) in ([0, 1, 2, 3], [3, 2, 1, 0])
    True
    """

    _kind = losses.GNMDS
    _least_steps = 50


class CKL(Embedding):
    """The crowd kernel (Tamuz et al., 2011): an answer is right with the odds of two squared distances.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        -log (mu + f) / (2 mu + n + f)

    Parameters
    ----------
    mu : squared distances well below it make no difference; it sets the scale of the points. With 0 the loss knows
        no scale, and ``regularization`` must be 0.
    n_components, regularization, optimizer, init, n_init, max_iter, tol, random_state : see ``Embedding``, as for
        what is learnt.

    Examples
    --------
    >>> line = [[0, 1, 2], [0, 2, 3], [0, 1, 3], [3, 2, 1], [3, 1, 0], [3, 2, 0], [1, 0, 3], [2, 3, 0]]
    >>> points = CKL(n_components=1, regularization=0.01).fit_transform(line)
    >>> sorted(range(4), key=points[:, 0].tolist().__getitem__) in ([0, 1, 2, 3], [3, 2, 1, 0])
    True
    """

    _kind = losses.CKL
    _rate = 1e-5

    def __init__(
        self,
        n_components: int = 2,
        *,
        mu: float = 1.0,
        regularization: float = 0.05,
        optimizer: Optimizer = "l-bfgs",
        init: Init | ArrayLike = "kernel",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            regularization=regularization,
            optimizer=optimizer,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )
        self.mu = mu

    def _parameter(self) -> float:
        return float(self.mu)

    def _radius(self) -> float:
        return 0.5 * float(np.sqrt(self.mu)) or 1.0

    def _scale(self) -> tuple[float, float]:
        return float(np.sqrt(self.mu)), 1.0

    def _check_parameter(self) -> None:
        check_positive(self.mu, "mu", zero=True)
        if self.mu == 0 and self.regularization > 0:
            raise InputError(
                f"mu: with 0 the loss knows no scale, and regularization={self.regularization:g} would shrink the "
                "points to nothing; set regularization=0 or mu=1",
            )


class STE(Embedding):
    """Stochastic triplet embedding (van der Maaten and Weinberger, 2012): a logistic model of the answers.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        -log e^-n / (e^-n + e^-f)  =  log(1 + e^(n - f))

    Parameters
    ----------
    n_components, regularization, optimizer, init, n_init, max_iter, tol, random_state : see ``Embedding``, as for
        what is learnt.

    Examples
    --------
    >>> line = [[0, 1, 2], [0, 2, 3], [0, 1, 3], [3, 2, 1], [3, 1, 0], [3, 2, 0], [1, 0, 3], [2, 3, 0]]
    >>> points = STE(n_components=1, regularization=0.01).fit_transform(line)
    >>> sorted(range(4), key=points[:, 0].tolist().__getitem__) in ([0, 1, 2, 3], [3, 2, 1, 0])
    True
    """

    _kind = losses.STE

    def __init__(
        self,
        n_components: int = 2,
        *,
        regularization: float = 0.5,
        optimizer: Optimizer = "l-bfgs",
        init: Init | ArrayLike = "kernel",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            regularization=regularization,
            optimizer=optimizer,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )


class TSTE(Embedding):
    """t-distributed stochastic triplet embedding (van der Maaten and Weinberger, 2012): STE with heavy tails.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        -log t(n) / (t(n) + t(f)),   t(x) = (1 + x / alpha)^(-(alpha + 1) / 2)

    Parameters
    ----------
    alpha : degrees of freedom; None for max(1, n_components - 1).
    n_components, regularization, optimizer, init, n_init, max_iter, tol, random_state : see ``Embedding``, as for
        what is learnt.

    Examples
    --------
    >>> line = [[0, 1, 2], [0, 2, 3], [0, 1, 3], [3, 2, 1], [3, 1, 0], [3, 2, 0], [1, 0, 3], [2, 3, 0]]
    >>> points = TSTE(n_components=1, regularization=0.01).fit_transform(line)
    >>> sorted(range(4), key=points[:, 0].tolist().__getitem__) in ([0, 1, 2, 3], [3, 2, 1, 0])
    True
    """

    _kind = losses.TSTE
    _rate = 2.0

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float | None = None,
        regularization: float = 0.2,
        optimizer: Optimizer = "l-bfgs",
        init: Init | ArrayLike = "kernel",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            regularization=regularization,
            optimizer=optimizer,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )
        self.alpha = alpha

    def _parameter(self) -> float:
        return float(max(1, self.n_components - 1) if self.alpha is None else self.alpha)

    def _radius(self) -> float:
        return 0.5 * float(np.sqrt(self._parameter()))

    def _check_parameter(self) -> None:
        if self.alpha is not None:
            check_positive(self.alpha, "alpha")


class SOE(Embedding):
    """Soft ordinal embedding (Terada and von Luxburg, 2014): a squared hinge on distances.

    Loss of an answer, with n and f the squared distances of the anchor to near and far:

        max(0, margin + sqrt n - sqrt f)^2

    Parameters
    ----------
    margin : by how much the far object should be farther; it sets the scale of the points and nothing else.
    n_components, regularization, optimizer, init, n_init, max_iter, tol, random_state : see ``Embedding``, as for
        what is learnt.

    Examples
    --------
    >>> line = [[0, 1, 2], [0, 2, 3], [0, 1, 3], [3, 2, 1], [3, 1, 0], [3, 2, 0], [1, 0, 3], [2, 3, 0]]
    >>> points = SOE(n_components=1, regularization=0.01).fit_transform(line)
    >>> sorted(range(4), key=points[:, 0].tolist().__getitem__) in ([0, 1, 2, 3], [3, 2, 1, 0])
    True
    """

    _kind = losses.SOE

    def __init__(
        self,
        n_components: int = 2,
        *,
        margin: float = 0.1,
        regularization: float = 1.0,
        optimizer: Optimizer = "l-bfgs",
        init: Init | ArrayLike = "kernel",
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components,
            regularization=regularization,
            optimizer=optimizer,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )
        self.margin = margin

    def _parameter(self) -> float:
        return float(self.margin)

    def _scale(self) -> tuple[float, float]:
        return float(self.margin), float(self.margin) ** 2

    def _check_parameter(self) -> None:
        check_positive(self.margin, "margin")
