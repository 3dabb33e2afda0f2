"""How sure a mean over answers is, where answers of one person, and answers to one trio, hang together.

Answers are drawn in two ways at once: people are drawn, and trios are drawn. A standard error that knows only one
of them is too small wherever the other repeats (many people and the same 80 trios; or two people). With V_p and V_u
the variances by person and by unit (the trio, or the screen), and V_pu that by both,

    V = V_pu + [V_p - V_pu]+ + [V_u - V_pu]+,

each of them the delete-one-group jackknife, and intervals are those of Student's t with as many degrees of freedom
as there are (effective) groups, less one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.arrays import Codes, Floats
from nearfar.evaluate.splits import split_units
from nearfar.evaluate.undecided import chosen_undecided
from nearfar.triplets import Triplets

__all__ = [
    "FEW_PEOPLE",
    "Covariance",
    "Estimate",
    "Groups",
    "cluster_kind",
    "clustered_mean_error",
    "covariance_of_means",
    "dense_codes",
    "difference_estimate",
    "effective_groups",
    "error_clusters",
    "error_groups",
    "mean_estimate",
    "speakers",
]

ClusterKind = Literal["participant", "statement", "trio"]
BETWEEN_FOLDS = (
    1.5  # variance of a cross-validated mean over that of independent answers (see covariance_of_means)
)
FEW_PEOPLE = 10  # below so many (effective) people nothing is said about people who were not asked


def speakers(answers: Triplets) -> Codes:
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


def cluster_kind(answers: Triplets) -> ClusterKind:
    """What errors are clustered by: participants where at least two are known, else what splits keep whole.

    That is the statement where statements span trios, and otherwise the trio: statements about one trio are
    predicted alike, so they go together (one trio of the car data was asked 127 times).
    """
    if answers.participant is not None and len(answers.participant.present) > 1:
        return "participant"
    return "statement" if split_units(answers).spans else "trio"


def error_clusters(answers: Triplets) -> Codes:
    """(m,) codes that errors are clustered by, as ``cluster_kind`` says."""
    return speakers(answers) if cluster_kind(answers) == "participant" else split_units(answers).codes


# ---------------------------------------------------------------- two ways at once


@dataclass(frozen=True, eq=False)
class Groups:
    """Which answers hang together: by ``person`` (None where people are not known, or there is one only), by ``unit``.

    ``few_people`` : how many people there are where they are too few to speak of others; else 0.
    ``chosen`` : whether questions were chosen for being undecided; then answers hang together in ways that are not known.
    """

    person: Codes | None
    unit: Codes
    few_people: int = 0
    chosen: bool = False

    def __getitem__(self, rows: Any) -> Groups:
        """The groups of some of the answers."""
        person = None if self.person is None else dense_codes(self.person[rows])
        return Groups(person, dense_codes(self.unit[rows]), self.few_people, self.chosen)


def error_groups(answers: Triplets) -> Groups:
    """People and units of a collection; with fewer than ``FEW_PEOPLE`` people only the units are a sample.

    >>> answers = Triplets.from_array([[0, 1, 2], [0, 2, 1], [1, 0, 3]], participant=["ann", "bob", "ann"])
    >>> groups = error_groups(answers)
    >>> groups.person, groups.unit, groups.few_people
    (None, array([0, 0, 1]), 2)
    """
    unit, chosen = split_units(answers).codes, chosen_undecided(answers)
    people = speakers(answers)
    known = answers.participant is not None and len(answers.participant.present) > 0
    if known and effective_groups(people) < FEW_PEOPLE:
        few = int(people.max(initial=-1)) + 1 if people.max(initial=0) > 0 else 0
        return Groups(None, unit, few, chosen)
    if known or answers.statement is not None:
        return Groups(people, unit, chosen=chosen)
    return Groups(None, unit, chosen=chosen)


def effective_groups(codes: Codes) -> float:
    """How many groups of equal size would be worth as much as these: (sum n_g)^2 / sum n_g^2.

    >>> effective_groups(np.array([0, 0, 1, 1])), effective_groups(np.array([0] * 98 + [1, 2]))
    (2.0, 1.0410160316468873)
    """
    sizes = np.bincount(codes).astype(np.float64)
    return float(sizes.sum() ** 2 / np.sum(sizes**2)) if len(codes) else 0.0


@dataclass(frozen=True, eq=False)
class Covariance:
    """Of k means over the same answers: ``means`` (k,), ``matrix`` (k, k), degrees of freedom ``df``."""

    means: Floats
    matrix: Floats
    df: float


def covariance_of_means(values: NDArray[Any], groups: Groups, folds: int = 1) -> Covariance:
    """Means of the rows of ``values`` (k, m) and their covariance, clustered two ways; NaN with one group only.

    ``folds`` : in how many folds the values were held out. Every answer stands in the training answers of the other
    folds, so that credits of different folds hang together and their mean varies more than clusters tell (Bates,
    Hastie and Tibshirani 2023): measured over designs, sizes and noise 1.1 to 1.4 times in the standard error; it is
    taken as the root of ``BETWEEN_FOLDS``.
    """
    values = np.atleast_2d(np.asarray(values, dtype=np.float64))
    means = values.mean(axis=1) if values.shape[1] else np.full(len(values), np.nan)
    off = (values - means[:, None]) * (np.sqrt(BETWEEN_FOLDS) if folds > 1 else 1.0)
    by_unit, df = _jackknife(off, groups.unit)
    if groups.person is None:
        return Covariance(means, by_unit, df)
    by_person, df_people = _jackknife(off, groups.person)
    both = dense_codes(groups.person * (int(groups.unit.max(initial=-1)) + 1) + groups.unit)
    by_both, _ = _jackknife(off, both)
    if not np.isfinite(by_person).all() or not np.isfinite(by_unit).all():
        return Covariance(means, np.full_like(by_both, np.nan), 0.0)
    matrix = by_both + _positive(by_person - by_both) + _positive(by_unit - by_both)
    return Covariance(means, matrix, min(df, df_people))


def _jackknife(off: Floats, codes: Codes) -> tuple[Floats, float]:
    """Covariance of the means, one group left out at a time, and the effective number of groups less one."""
    sizes = np.bincount(codes).astype(np.float64)
    count, total = len(sizes), sizes.sum()
    if count < 2:
        return np.full((len(off), len(off)), np.nan), 0.0
    sums = np.stack([np.bincount(codes, weights=row, minlength=count) for row in off])
    moved = sums / (total - sizes)
    return (count - 1) / count * moved @ moved.T, effective_groups(codes) - 1


def _positive(matrix: Floats) -> Floats:
    """The nearest covariance: negative eigenvalues set to 0."""
    if len(matrix) == 1:
        return np.maximum(matrix, 0.0)
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


# ---------------------------------------------------------------- one mean


@dataclass(frozen=True)
class Estimate:
    """A share with its standard error and its 95 % interval; both are NaN where they are not known.

    ``few_people`` : how many people there are where they are too few to speak of others; else 0.
    """

    value: float
    standard_error: float
    low: float
    high: float
    few_people: int = 0


def mean_estimate(values: ArrayLike, groups: Groups, *, folds: int = 1, level: float = 0.95) -> Estimate:
    """The mean of (m,) values between 0 and 1 with an interval that never leaves 0 to 1.

    The interval is symmetric in the logit. Where all values are alike there is no spread to go by; then it is the exact
    one of as many coins as there are groups. Unknown (NaN) with too few people, and where questions were chosen for being
    undecided. ``folds`` as for ``covariance_of_means``.

    >>> value = mean_estimate([1, 0, 1, 1, 1, 0], Groups(None, np.arange(6)))
    >>> round(value.value, 2), round(value.low, 2), round(value.high, 2)
    (0.67, 0.15, 0.96)
    """
    from scipy.stats import t

    values = np.asarray(values, dtype=np.float64)
    found = covariance_of_means(values, groups, folds)
    mean, df = float(found.means[0]), found.df
    error = float(np.sqrt(found.matrix[0, 0])) if df > 0 else np.nan
    if groups.few_people or groups.chosen or not np.isfinite(error) or df <= 0:
        return Estimate(mean, np.nan, np.nan, np.nan, groups.few_people)
    alpha = 1 - level
    if not 0 < mean < 1 or error == 0:
        slack = 1 - (alpha / 2) ** (1 / (df + 1))
        return Estimate(mean, error, max(0.0, mean - slack), min(1.0, mean + slack))
    width = float(t.ppf(1 - alpha / 2, df)) * error / (mean * (1 - mean))
    logit = np.log(mean / (1 - mean))
    low, high = (1 / (1 + np.exp(-np.clip([logit - width, logit + width], -500, 500)))).tolist()
    return Estimate(mean, error, low, high)


def difference_estimate(
    values: ArrayLike, groups: Groups, *, folds: int = 1, level: float = 0.95
) -> Estimate:
    """A mean of differences between -1 and 1 with its interval by Student's t, clustered two ways."""
    from scipy.stats import t

    found = covariance_of_means(np.asarray(values, dtype=np.float64), groups, folds)
    mean, df = float(found.means[0]), found.df
    error = float(np.sqrt(found.matrix[0, 0])) if df > 0 else np.nan
    if groups.few_people or not np.isfinite(error):
        return Estimate(mean, np.nan, np.nan, np.nan, groups.few_people)
    width = float(t.ppf((1 + level) / 2, df)) * error
    return Estimate(mean, error, max(-1.0, mean - width), min(1.0, mean + width))


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


def dense_codes(ids: NDArray[Any]) -> Codes:
    """Ids numbered 0, 1, ... in their order."""
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)
