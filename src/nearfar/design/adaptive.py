"""Adaptive questions: those whose answers are expected to tell most about the map.

The score of a question is the information that its answer brings about the positions (BALD, Houlsby et al., 2011),

    h(mean p) - mean h(p),

with p the probabilities of its answers at positions from the posterior, and h the entropy. A question that nobody can
answer is uncertain at every position: both terms are large, and the score is small. Choosing by h(mean p) alone would ask it.

The likelihood of an answer is logistic in the difference of two distances. The posterior is Laplace's: normal around the points
of ``SOE``, on the scale on which the differences are as large as their noise, with the curvature of the likelihood and of a
normal prior. The distances that a question compares are then nearly normal, with a covariance V, and the score is
1/2 log det(1 + F V), with F = diag(p) - p p' the Fisher information of an answer. With many objects (more than
``MAX_COORDINATES`` coordinates) each object has a posterior of its own, as if the others were known.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfar._tools.arrays import Floats, Indices, Ints, pair_of
from nearfar._tools.checks import Seed, check_count, generator
from nearfar.design.draws import at_least_three, check_screen
from nearfar.design.questions import Objects, QuestionKind, Questions
from nearfar.errors import InputError, NearfarWarning
from nearfar.triplets import Triplets, as_triplets, positions

if TYPE_CHECKING:
    from nearfar.embedding.prior import Prior

MAX_COORDINATES = 1500  # of all points, with one posterior for all of them
CANDIDATES = 300  # questions that are scored for an anchor
LEAST_SLOPE = 1.0  # noise as large as the radius of the map, while nothing is known
CAUTION = 0.8  # of the likeliest slope: answers fit the points that are made of them too well
SHARPNESS = 30.0  # a question is drawn with a probability that goes with this power of its score


@dataclass(frozen=True, eq=False)
class AdaptiveQuestions:
    """Questions with the reason for each.

    Attributes
    ----------
    questions : in the order in which they should be asked.
    score : (m,) expected information about the positions, in nats.
    probability : (m,) with which the question was drawn among the candidates of its anchor.

    >>> next_questions([], 5, 3).questions
    Questions(3 questions, 5 objects)
    """

    questions: Questions
    score: Floats
    probability: Floats


def next_questions(
    answers: Any,
    objects: Objects | None = None,
    n: int | None = None,
    *,
    kind: QuestionKind = "near",
    size: int = 8,
    pick: int = 2,
    features: Any = None,
    n_components: int = 5,
    seed: Seed = 0,
) -> AdaptiveQuestions:
    """Choose the ``n`` questions that should be asked next.

    Objects that were the anchor least often come first, so that all are it equally often, give or take one (in trios: the
    first of the three, in these questions). No three objects come twice, and no object is an option more than twice as often
    as the average, unless an anchor's candidates run out (there are 300). Who answered is not known here: leave out the
    questions that a person has had.

    Parameters
    ----------
    answers : those given so far, as Triplets, whose objects are matched by name, or an (m, 3) array of indices; there may
        be none.
    objects : names, or their number; None takes those of the answers.
    n : how many questions; None: one for every object.
    kind, size, pick : what is asked, as in ``grid_questions`` and ``trio_questions``.
    features : vectors of the objects, as for ``nearfar.fit``; with them the first questions are good ones.
    n_components : dimensions of the points (of ``soe``) behind the choice, 2 to 5.
    seed : whole number or numpy Generator; the same answers and seed give the same questions.

    >>> from nearfar import simulate
    >>> points = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = simulate.answers(next_questions([], 12, 60).questions, points=points).triplets
    >>> chosen = next_questions(answers)
    >>> chosen.questions, bool((chosen.score > 0).all())
    (Questions(12 questions, 12 objects), True)
    """
    names = at_least_three(as_triplets(answers).objects if objects is None else objects)
    given = _about(answers, names)
    wanted = len(names) if n is None else n
    check_count(wanted, "n")
    check_count(n_components, "n_components", least=2, most=5)
    if kind == "grid":
        check_screen(len(names), size, pick)
    rng = generator(seed)
    points, covariance = _posterior(given, names, features, n_components, rng)
    chosen = _Chooser(points, covariance, kind, size if kind == "grid" else 2, wanted, rng)
    before = np.zeros(len(names), dtype=np.int64)
    if kind in ("near", "grid"):
        before += np.bincount(given.anchor, minlength=len(names))
    levels = _filled(before, wanted, rng)
    for anchor in rng.permutation(len(names)).tolist():
        if levels[anchor]:
            chosen.draw(anchor, levels[anchor])
    # those that were the anchor least often come first
    _, rows, score, probability = zip(*sorted(chosen.taken, key=itemgetter(0)), strict=True)
    questions = Questions(np.array(rows, dtype=np.int32), names, kind, pick if kind == "grid" else 1)
    return AdaptiveQuestions(questions, np.array(score), np.array(probability))


def _about(answers: Any, names: tuple[str, ...]) -> Triplets:
    """The answers, with the indices of these objects."""
    given = as_triplets(answers, names)
    at = positions(given.objects, names)
    if (at < 0).any():
        unknown = given.objects[int(np.argmin(at))]
        raise InputError(
            f"answers: {unknown!r} is not among the {len(names)} objects; name all objects of the answers"
        )
    return Triplets.from_array(at[given.array], names)


def _filled(before: Ints, wanted: int, rng: np.random.Generator) -> list[list[int]]:
    """How often each object has been the anchor, at each of its next questions, when the least asked is always next."""
    levels: list[list[int]] = [[] for _ in before]
    waiting = before + rng.random(len(before))  # ties are broken at random
    for _ in range(wanted):
        at = int(np.argmin(waiting))
        levels[at].append(int(waiting[at]))
        waiting[at] += 1
    return levels


# ---------------------------------------------------------------- the posterior


def _posterior(
    answers: Triplets, names: tuple[str, ...], features: Any, d: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """(n, d) points and the covariance of their coordinates, (n d, n d), or (n d, d) with each object by itself.

    A length of 1 is as much as the noise of an answer. While there are fewer answers than objects, the points are drawn from the
    prior of the vectors; without vectors they are all the same, and so is the score of every question.
    """
    from nearfar.embedding import SOE
    from nearfar.embedding.left_open import steepness
    from nearfar.embedding.prior import Setting, as_vectors

    n, prior, slope, told = len(names), None, LEAST_SLOPE, answers.array
    points, vectors = np.zeros((n, d)), as_vectors(features, names)
    if vectors is not None:
        weight = 1.0 / len(vectors.sources)
        prior = vectors.prior(Setting(0.8, 1.2, (weight,) * len(vectors.sources)))
    if len(answers) >= n:
        # objects without an answer are what the next questions are about
        with warnings.catch_warnings(action="ignore", category=NearfarWarning):
            points = SOE(d, prior=prior).fit(answers).embedding_
        points = points / (np.sqrt(np.sum(points**2) / n) or 1.0)
        near, far = (_directions(points, answers.anchor, option)[0] for option in (answers.near, answers.far))
        slope = CAUTION * max(steepness(far - near), LEAST_SLOPE)
    else:
        told = told[:0]
        if prior is not None:
            points = prior.points(rng.normal(size=(n + prior.basis.shape[1], d))) / np.sqrt(d)
    points = slope * points
    return points, _covariance(_curvature(points, told), d, slope**2 / d, prior)


def _directions(points: Floats, one: Any, other: Any) -> tuple[Floats, Floats]:
    """Distances between pairs of points, and the slopes of these, (..., d): unit vectors from ``other`` to ``one``, or 0."""
    apart = points[one] - points[other]
    distance = np.sqrt(np.sum(apart**2, axis=-1))
    return distance, apart / np.where(distance > 0, distance, 1.0)[..., None]


def _curvature(points: Floats, triplets: Indices) -> Any:
    """(n d, n d) sparse curvature of -log likelihood: the sum of p (1 - p) g g', with g the slope of its log odds."""
    from scipy.sparse import csr_array

    n, d = points.shape
    anchor, near, far = triplets.T
    to_near, near_slope = _directions(points, anchor, near)
    to_far, far_slope = _directions(points, anchor, far)
    slope = np.stack([far_slope - near_slope, near_slope, -far_slope], axis=1)  # by anchor, near and far
    slope /= 2 * np.cosh(np.clip((to_far - to_near) / 2, -300, 300))[:, None, None]  # times sqrt(p (1 - p))
    columns = (triplets[:, :, None] * d + np.arange(d)).ravel()
    starts = np.arange(0, len(columns) + 1, 3 * d)
    rows = csr_array((slope.ravel(), columns, starts), shape=(len(triplets), n * d))
    return rows.T @ rows


def _covariance(curvature: Any, d: int, width: float, prior: Prior | None) -> Floats:
    """Inverse of the curvature plus that of the prior, whose coordinates have the variance ``width``; (n d, d) of many objects."""
    n = curvature.shape[0] // d
    if n * d <= MAX_COORDINATES:
        precision = np.eye(n) if prior is None else prior.precision(np.arange(n))(np.eye(n))
        return np.linalg.inv(np.kron(precision, np.eye(d)) / width + curvature.toarray())
    blocks, entries = np.tile(np.eye(d) / width, (n, 1, 1)), curvature.tocoo()
    same = entries.row // d == entries.col // d
    row, column = entries.row[same], entries.col[same]
    blocks[row // d, row % d, column % d] += entries.data[same]
    return np.asarray(np.linalg.inv(blocks).reshape(n * d, d), dtype=np.float64)


# ---------------------------------------------------------------- choosing


@dataclass(eq=False, repr=False)
class _Chooser:
    """Draws questions anchor by anchor; what their answers would tell is taken off the covariance, so that the next ones ask for more."""

    points: Floats
    covariance: Floats
    kind: QuestionKind
    width: int
    wanted: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.load = np.zeros(len(self.points))
        # questions that an object may be an option of
        self.most = max(2.0 * self.wanted * self.width / len(self.points), 2.0)
        self.trios: set[tuple[int, ...]] = set()
        self.taken: list[tuple[int, Ints, float, float]] = []  # turn, question, score, probability

    def draw(self, anchor: int, turns: list[int]) -> None:
        """Draw a question of one anchor for each of its turns."""
        rows = self._candidates(anchor)
        p, fisher, spread = _answers(self.points, self.covariance, rows, self.kind)
        score = np.maximum(_information(p, fisher, spread), 1e-12)
        weight = (score / score.max()) ** SHARPNESS
        probability = weight / weight.sum()
        # drawn one after the other
        order = np.argsort(-np.log(probability + 1e-300) - self.rng.gumbel(size=len(rows)))
        free = list(reversed(turns))
        for row in order.tolist():
            trio = tuple(sorted(rows[row].tolist()))
            if not free:
                break
            if trio in self.trios or (self.load[rows[row, 1:]] >= self.most).any():
                continue
            self.trios.add(trio)
            self._take(rows[row], free.pop(), score[row], probability[row])
            self._learn(rows[row], fisher[row], spread[row])
        for turn in free:  # few objects: some question comes again
            row = int(self.rng.choice(len(rows), p=probability))
            self._take(rows[row], turn, score[row], probability[row])

    def _take(self, row: Ints, turn: int, score: float, probability: float) -> None:
        self.load[row[1:]] += 1
        self.taken.append((turn, row, float(score), float(probability)))

    def _candidates(self, anchor: int) -> Ints:
        """(c, 1 + width) questions of an anchor: all pairs of options, or some of them at random."""
        n = len(self.points)
        if self.width == 2:
            total = (n - 1) * (n - 2) // 2
            numbers = self.rng.choice(total, min(total, CANDIDATES), replace=False)
            options = np.stack(pair_of(numbers), axis=1)
        else:
            options = np.empty((CANDIDATES, 0), dtype=np.int64)
            for last in range(n - 1 - self.width, n - 1):  # different ones, by Floyd's method
                drawn = self.rng.integers(last + 1, size=(CANDIDATES, 1))
                taken = (options == drawn).any(axis=1, keepdims=True)
                options = np.hstack([options, np.where(taken, last, drawn)])
        rows = np.full((len(options), 1 + self.width), anchor)
        rows[:, 1:] = options + (options >= anchor)
        return rows

    def _learn(self, row: Ints, fisher: Floats, spread: Floats) -> None:
        """Narrow the covariance by the answer to a question: a Kalman filter with the answer's information."""
        n, d = self.points.shape
        if self.covariance.shape[1] == d < n * d:
            return  # of many objects: a question tells little about the others of this batch
        one, other = (pair[0] for pair in _pairs(row[None], self.kind))
        _, slope = _directions(self.points, one, other)
        blocks = self.covariance.reshape(n, d, n * d)
        seen = np.einsum("pk,pkx->px", slope, blocks[one] - blocks[other])
        gain = np.linalg.solve(np.eye(len(slope)) + fisher @ spread, fisher) @ seen
        self.covariance -= seen.T @ gain


def _pairs(rows: Ints, kind: QuestionKind) -> tuple[Ints, Ints]:
    """The pairs whose distances decide between the answers: anchor and option; of trios, the two objects that are left."""
    if kind in ("near", "grid"):
        return np.repeat(rows[:, :1], rows.shape[1] - 1, axis=1), rows[:, 1:]
    return rows[:, [1, 2, 0]], rows[:, [2, 0, 1]]


def _answers(
    points: Floats, covariance: Floats, rows: Ints, kind: QuestionKind
) -> tuple[Floats, Floats, Floats]:
    """Of each question: (w,) probabilities of its answers, (w, w) what they tell of the distances, and these' covariance.

    The likelihood of an answer goes with exp(-distance), in ``central`` questions with exp(distance). As the logistic
    function of a normal number, it is taken at the mean divided by sqrt(1 + pi / 8 variance).
    """
    from nearfar.design._moments import distance_covariance

    one, other = _pairs(rows, kind)
    mean, slope = _directions(points, one, other)
    spread = np.empty((*one.shape, one.shape[1]))
    distance_covariance(slope, covariance, one, other, spread)
    w = one.shape[1]
    variance = 2 / (w - 1) * (np.einsum("cpp->c", spread) - np.einsum("cpq->c", spread) / w)
    shrink = 1 / np.sqrt(1 + np.pi / 8 * np.maximum(variance, 0.0))[:, None]
    utility = shrink * (mean if kind == "central" else -mean)
    p = np.exp(utility - utility.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    fisher = shrink[:, :, None] * (p[:, :, None] * np.eye(w) - p[:, :, None] * p[:, None])
    return p, fisher, spread


def _information(p: Floats, fisher: Floats, spread: Floats) -> Floats:
    """(c,) expected information of an answer: half the logarithm of det(1 + fisher spread)."""
    information: Floats = 0.5 * np.log(np.linalg.det(np.eye(p.shape[1]) + fisher @ spread))
    return information
