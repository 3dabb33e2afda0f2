"""Who spoke: answers of one participant (or of one statement) are not independent, and errors must know it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.evaluate.splits import split_units
from nearfar.triplets import Triplets

__all__ = ["cluster_kind", "clustered_mean_error", "dense_codes", "error_clusters", "speakers"]

Kind = Literal["participant", "statement", "trio"]


def speakers(answers: Triplets) -> NDArray[np.int64]:
    """(m,) code of who spoke: the participant, and the statement where the participant is not known.

    >>> speakers(Triplets.from_array([[0, 1, 2], [0, 1, 3], [1, 2, 3]], participant=["ann", "ann", ""]))
    array([0, 0, 1])
    """
    statements = answers.statement_ids
    if answers.participant is None:
        return dense_codes(statements)
    people = answers.participant.codes.astype(np.int64)
    unknown = answers.participant == ""
    return dense_codes(np.where(unknown, len(answers.participant.names) + statements, people))


def cluster_kind(answers: Triplets) -> Kind:
    """What errors are clustered by: participants where at least two are known, else what splits keep whole.

    That is the statement where statements span trios, and otherwise the trio: statements about one trio are
    predicted alike, so they go together (one trio of the car data was asked 127 times).
    """
    if answers.participant is not None and len(answers.participant.present) > 1:
        return "participant"
    return "statement" if split_units(answers).spans else "trio"


def error_clusters(answers: Triplets) -> NDArray[np.int64]:
    """(m,) codes that errors are clustered by, as ``cluster_kind`` says."""
    return speakers(answers) if cluster_kind(answers) == "participant" else split_units(answers).codes


def clustered_mean_error(
    values: ArrayLike, clusters: NDArray[Any], weights: NDArray[np.float64] | None = None
) -> float:
    """Standard error of the (weighted) mean of ``values`` where values of one cluster may depend on each other.

    ``sqrt(C / (C - 1) sum_c (sum_{t in c} w_t (v_t - mean))^2) / sum_t w_t`` with C clusters; NaN for one cluster.

    >>> clustered_mean_error([1, 1, 0, 0], np.array([0, 0, 1, 1]))
    0.5
    >>> round(clustered_mean_error([1, 1, 0, 0], np.arange(4)), 3)
    0.289
    """
    values = np.asarray(values, dtype=np.float64)
    if weights is None:
        weights = np.ones(len(values))
    count = len(np.unique(clusters))
    if count < 2:
        return float("nan")
    mean = np.sum(weights * values) / weights.sum()
    sums = np.bincount(clusters, weights=weights * (values - mean))
    return float(np.sqrt(count / (count - 1) * np.sum(sums**2)) / weights.sum())


def dense_codes(ids: NDArray[Any]) -> NDArray[np.int64]:
    """Ids numbered 0, 1, ... in their order."""
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)
