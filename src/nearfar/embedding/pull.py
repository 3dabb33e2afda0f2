"""The pull to the centre that keeps objects from being placed far out to satisfy a few answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar.embedding.loop import Merged, Points

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
