"""Held-out credits of models, added up by who spoke, so that errors and paired differences know about clusters."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import NearfarWarning
from nearfar.evaluate.models import Features, Model, unknown
from nearfar.evaluate.predictions import Fitted
from nearfar.evaluate.uncertainty import error_clusters
from nearfar.triplets import Triplets

__all__ = ["Tally", "answer_credit", "clustered_error", "fit_timed"]


def answer_credit(fitted: Fitted, held_out: Triplets) -> NDArray[np.float64]:
    """(m,) 1 where the model expects the answer, 0 where it expects the other one, 0.5 for a tie."""
    margin = fitted.margins(held_out.anchor, held_out.near, held_out.far)
    return (1 + np.sign(margin)) / 2


@dataclass
class Tally:
    """Credits of one model: sums per cluster, the number of ties, the seconds of each fit, the warnings heard.

    clusters : (m,) codes of all answers; sums : (C,) credits so far of each cluster.
    """

    clusters: NDArray[np.int64]
    sums: NDArray[np.float64]
    ties: int = 0
    seconds: list[float] = field(default_factory=list)
    heard: Counter[str] = field(default_factory=Counter)

    @classmethod
    def empty(cls, answers: Triplets) -> Tally:
        """No credits yet."""
        clusters = error_clusters(answers)
        return cls(clusters, np.zeros(int(clusters.max(initial=-1)) + 1))

    def add(self, fitted: Fitted, answers: Triplets, test: NDArray[np.intp]) -> NDArray[np.float64]:
        """Judge a fitted model by the answers in rows ``test``; returns their credits."""
        credit = answer_credit(fitted, answers[test])
        self.sums += np.bincount(self.clusters[test], weights=credit, minlength=len(self.sums))
        self.ties += int((credit == 0.5).sum())
        return credit

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(C,) answers of each cluster."""
        return np.bincount(self.clusters, minlength=len(self.sums))

    @property
    def accuracy(self) -> float:
        """Mean credit over all answers."""
        return float(self.sums.sum() / len(self.clusters))

    @property
    def standard_error(self) -> float:
        """Of the accuracy, clustered."""
        return clustered_error(self.sums, self.sizes)


def clustered_error(sums: NDArray[Any], sizes: NDArray[Any]) -> float:
    """Standard error of ``sum(sums) / sum(sizes)`` over independent clusters; NaN for one cluster.

    With mean v: ``sqrt(C / (C - 1) sum_c (s_c - v n_c)^2) / sum_c n_c``.

    >>> clustered_error(np.array([2.0, 0.0]), np.array([2, 2]))
    0.5
    """
    count = len(sums)
    if count < 2:
        return float("nan")
    off = sums - sums.sum() / sizes.sum() * sizes
    return float(np.sqrt(count / (count - 1) * np.sum(off**2)) / sizes.sum())


def fit_timed(model: Model, train: Triplets, features: Features, tally: Tally) -> Fitted:
    """Fit a model; its time (with that of features it found ready) and nearfar's warnings go to the tally."""
    if not len(train):
        tally.seconds.append(0.0)
        return unknown(model.name, train)
    features.saved = 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NearfarWarning)
        start = time.perf_counter()
        fitted = model.fit(train, features)
        tally.seconds.append(time.perf_counter() - start + features.saved)
    for warning in caught:
        if not issubclass(warning.category, NearfarWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno, source=warning.source
            )
    tally.heard.update({w.category.__name__ for w in caught if issubclass(w.category, NearfarWarning)})
    return fitted
