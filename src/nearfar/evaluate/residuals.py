"""What is left of each person's answers when the common map and the person's own ability are taken out.

With m_t the margin of answer t on the common map, the person's answers are explained by a logistic curve of the
person's own slope b_p (ability), and what is left of answer t is r_t = 1 - 1 / (1 + exp(-b_p m_t)). Summed over a
person's answers, + r_t for the pair (anchor, near) and - r_t for the pair (anchor, far), this is a vector over pairs of
objects: which pairs the person sees nearer, and which farther, than everybody. The slope takes out that some people
answer more carefully than others, which is not another way of seeing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats, dense_codes
from nearfar.space.space import Space
from nearfar.triplets import Triplets

__all__ = ["PeopleLeft", "PeopleVectors", "people_left", "people_vectors", "slopes"]

STEPS = 25  # of Newton's method for the slopes
PRIOR = 4.0  # weight of the common slope in a person's own, as if from so many answers


class PeopleVectors(NamedTuple):
    """(P,) codes of the participants in order, (P,) answers of each, and what is left of their answers, (P, pairs) sparse."""

    people: NDArray[np.int64]
    counts: NDArray[np.int64]
    vectors: Any


@dataclass(frozen=True, eq=False)
class PeopleLeft:
    """How alike two people are in what is left of their answers.

    Attributes
    ----------
    people : (P,) codes of the participants, in order.
    counts : (P,) answers of each.
    gram : (P, P) inner products of their vectors, 0 on the diagonal (a person is always like themselves).
    """

    people: NDArray[np.int64]
    counts: NDArray[np.int64]
    gram: Floats

    @classmethod
    def of(cls, found: PeopleVectors, chosen: NDArray[np.bool_] | slice = slice(None)) -> PeopleLeft:
        """Of the people chosen."""
        vectors = found.vectors[chosen]
        gram = np.asarray((vectors @ vectors.T).todense(), dtype=np.float64)
        np.fill_diagonal(gram, 0.0)
        return cls(found.people[chosen], found.counts[chosen], gram)


def people_left(answers: Triplets, space: Space) -> PeopleLeft:
    """Inner products of the vectors of all participants."""
    return PeopleLeft.of(people_vectors(answers, space))


def people_vectors(answers: Triplets, space: Space) -> PeopleVectors:
    """Vectors of all participants over pairs of objects."""
    from scipy.sparse import coo_array

    assert answers.participant is not None
    codes = answers.participant.codes.astype(np.int64)
    people, person = np.unique(codes, return_inverse=True)
    margin = scaled_margins(answers, space)
    left = 1 - _logistic(slopes(margin, person)[person] * margin)
    n = answers.n_objects
    rows = np.concatenate([person, person])
    columns = np.concatenate([_pair(answers.anchor, answers.near, n), _pair(answers.anchor, answers.far, n)])
    columns = dense_codes(columns)
    values = np.concatenate([left, -left])
    vectors: Any = coo_array((values, (rows, columns)), shape=(len(people), int(columns.max(initial=-1)) + 1))
    return PeopleVectors(people, np.bincount(person), vectors.tocsr())


def scaled_margins(answers: Triplets, space: Space) -> Floats:
    """Margins of the answers as differences of lengths, of typical size 1."""
    margin = space.margins(answers.anchor, answers.near, answers.far)
    size = float(np.sqrt(np.mean(margin**2))) if len(margin) else 0.0
    return margin / size if size > 0 else margin


def slopes(margin: Floats, person: NDArray[np.integer]) -> Floats:
    """(P,) slope of each person's logistic curve, drawn towards the slope of all together.

    >>> margin = np.array([1.0, 2.0, -1.0, 1.5, -1.0, 1.0])
    >>> careful, careless = slopes(np.repeat(margin, 50), np.repeat([0, 0, 1, 0, 1, 1], 50))
    >>> bool(careful > careless)
    True
    """
    count = int(person.max(initial=-1)) + 1
    everybody = _newton(margin, np.zeros(len(margin), dtype=np.int64), np.zeros(1), np.zeros(1))[0]
    variance = np.mean(margin**2) / 4 if len(margin) else 0.0
    return _newton(margin, person, np.full(count, everybody), np.full(count, PRIOR * variance))


def _newton(margin: Floats, person: NDArray[np.integer], start: Floats, weight: Floats) -> Floats:
    """Maximise sum_t log logistic(b_p m_t) - weight_p (b_p - start_p)^2 / 2, which is concave."""
    slope = start.copy()
    for _ in range(STEPS):
        p = _logistic(slope[person] * margin)
        first = np.bincount(person, weights=(1 - p) * margin, minlength=len(slope)) - weight * (slope - start)
        second = np.bincount(person, weights=p * (1 - p) * margin**2, minlength=len(slope)) + weight
        slope = np.clip(slope + np.clip(first / np.maximum(second, 1e-9), -2, 2), -50, 50)
    return slope


def _logistic(x: Floats) -> Floats:
    p: Floats = 1 / (1 + np.exp(-np.clip(x, -500, 500)))
    return p


def _pair(i: NDArray[Any], j: NDArray[Any], n: int) -> NDArray[np.int64]:
    return np.asarray(np.minimum(i, j).astype(np.int64) * n + np.maximum(i, j))
