"""Adaptive questions: those whose answers are expected to tell most about the map.

The score of a question is the information that its answer brings about the positions (BALD, Houlsby et al., 2011),

    h(mean p) - mean h(p),

with p the probabilities of its answers at positions drawn from the posterior, and h the entropy. A question that nobody can
answer is uncertain at every draw: both terms are large, and the score is small. Choosing by h(mean p) alone would ask it.

The posterior is Laplace's: normal around the points of ``STE``, with the curvature of the likelihood and of the pull. With many
objects (more than ``MAX_COORDINATES`` coordinates) each object has a posterior of its own, as if the others were known.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from heapq import heapify, heapreplace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfar._tools.arrays import Floats, Indices, Ints
from nearfar._tools.checks import Seed, check_count, generator
from nearfar.design.draws import at_least_three, check_screen
from nearfar.design.questions import Objects, QuestionKind, Questions
from nearfar.errors import NearfarWarning
from nearfar.triplets import Triplets, as_triplets

if TYPE_CHECKING:
    from nearfar.embedding.prior import Prior

MAX_COORDINATES = 1500  # of all points, with one posterior for all of them
DRAWS = 64  # from the posterior
CANDIDATES = 300  # questions that are scored for an anchor
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
    n_components: int = 4,
    seed: Seed = 0,
) -> AdaptiveQuestions:
    """Choose the ``n`` questions that should be asked next.

    Objects that were the anchor least often come first, so that all are it equally often, give or take one (in trios: the
    first of the three, in these questions). No three objects come twice, and no object is an option more than twice as often
    as the average.

    Parameters
    ----------
    answers : those given so far, as Triplets or an (m, 3) array of indices; there may be none.
    objects : names, or their number; None takes those of the answers.
    n : how many questions; None: one for every object.
    kind, size, pick : what is asked, as in ``grid_questions`` and ``trio_questions``.
    features : vectors of the objects, as for ``nearfar.fit``; with them the first questions are good ones.
    n_components : dimensions of the points behind the choice, 2 to 5.
    seed : whole number or numpy Generator; the same answers and seed give the same questions.

    >>> from nearfar import simulate
    >>> points = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = simulate.answers(next_questions([], 12, 60).questions, points=points).triplets
    >>> chosen = next_questions(answers)
    >>> chosen.questions, bool((chosen.score > 0).all())
    (Questions(12 questions, 12 objects), True)
    """
    names = at_least_three(as_triplets(answers).objects if objects is None else objects)
    given = as_triplets(answers, names) if len(answers) else None
    wanted = len(names) if n is None else n
    check_count(wanted, "n")
    check_count(n_components, "n_components", least=2, most=5)
    if kind == "grid":
        check_screen(len(names), size, pick)
    rng = generator(seed)
    draws = _posterior(given, names, features, n_components, rng)
    chosen = _Chooser(draws, kind, size if kind == "grid" else 2, wanted, rng)
    before = np.zeros(len(names), dtype=np.int64)
    if given is not None and kind in ("near", "grid"):
        before += np.bincount(given.anchor, minlength=len(names))
    levels = _filled(before, wanted, rng)
    for anchor in rng.permutation(len(names)).tolist():
        chosen.draw(anchor, levels[anchor])
    order = np.argsort(chosen.turn, kind="stable")  # those that were the anchor least often come first
    rows = np.array(chosen.rows, dtype=np.int32)[order]
    questions = Questions(rows, names, kind, pick if kind == "grid" else 1)
    return AdaptiveQuestions(questions, np.array(chosen.score)[order], np.array(chosen.probability)[order])


def _filled(before: Ints, wanted: int, rng: np.random.Generator) -> list[list[int]]:
    """How often each object has been the anchor, at each of its next questions, when the least asked is always next."""
    levels: list[list[int]] = [[] for _ in before]
    waiting = [
        (int(count), chance, at)
        for at, (count, chance) in enumerate(zip(before, rng.random(len(before)), strict=True))
    ]
    heapify(waiting)
    for _ in range(wanted):
        count, chance, at = waiting[0]
        levels[at].append(count)
        heapreplace(waiting, (count + 1, chance, at))
    return levels


# ---------------------------------------------------------------- the posterior


def _posterior(
    answers: Triplets | None, names: tuple[str, ...], features: Any, d: int, rng: np.random.Generator
) -> Floats:
    """(DRAWS, n, d) positions drawn from the posterior; from the prior while there are fewer answers than objects."""
    from nearfar.embedding import STE
    from nearfar.embedding.prior import Setting, as_vectors

    n = len(names)
    vectors = as_vectors(features, names)
    prior = None
    if vectors is not None:
        weight = 1.0 / len(vectors.sources)
        prior = vectors.prior(Setting(0.8, "gaussian", (weight,) * len(vectors.sources)))
    if answers is None or len(answers) < n:
        points, strength, curvature = np.zeros((n, d)), 0.5, None
    else:
        with warnings.catch_warnings():  # objects without an answer are what the next questions are about
            warnings.simplefilter("ignore", NearfarWarning)
            model = STE(d, prior=prior).fit(answers)
        points, strength = model.embedding_, model._strength
        curvature = _curvature(points, answers.array)
    return points + _normal_draws(n, d, strength, curvature, prior, rng)


def _curvature(points: Floats, triplets: Indices) -> Any:
    """(n d, n d) sparse curvature of -log likelihood: the sum of p (1 - p) g g', with g the slope of its log odds."""
    from scipy.sparse import csr_array

    n, d = points.shape
    anchor, near, far = (points[column] for column in triplets.T)
    odds = np.sum((anchor - far) ** 2 - (anchor - near) ** 2, axis=1)
    slope = np.stack([near - far, anchor - near, far - anchor], axis=1)  # by anchor, near and far
    slope *= 2 * np.sqrt(_logistic(odds) * _logistic(-odds))[:, None, None]
    columns = (triplets[:, :, None] * d + np.arange(d)).ravel()
    starts = np.arange(0, len(columns) + 1, 3 * d)
    rows = csr_array((slope.ravel(), columns, starts), shape=(len(triplets), n * d))
    return rows.T @ rows


def _normal_draws(
    n: int, d: int, strength: float, curvature: Any, prior: Prior | None, rng: np.random.Generator
) -> Floats:
    """(DRAWS, n, d) draws around zero, whose precision is the curvature plus that of the pull."""
    noise = rng.standard_normal((DRAWS, n * d))
    if n * d <= MAX_COORDINATES:
        precision = np.eye(n) if prior is None else prior.precision(np.arange(n))(np.eye(n))
        total = 2 * strength * np.kron(precision, np.eye(d))
        total += 0.0 if curvature is None else curvature.toarray()
        # with H = L L', L'^-1 noise has the covariance H^-1
        draws = np.linalg.solve(np.linalg.cholesky(total).T, noise.T).T
        return np.ascontiguousarray(draws).reshape(DRAWS, n, d)
    blocks = np.zeros((n, d, d)) if curvature is None else _diagonal_blocks(curvature, n, d)
    roots = np.linalg.cholesky(blocks + 2 * strength * np.eye(d))
    draws = np.linalg.solve(roots.transpose(0, 2, 1), noise.reshape(DRAWS, n, d).transpose(1, 2, 0))
    return np.ascontiguousarray(draws.transpose(2, 0, 1))


def _diagonal_blocks(matrix: Any, n: int, d: int) -> Floats:
    """(n, d, d) what belongs to one object at a time."""
    entries = matrix.tocoo()
    same = entries.row // d == entries.col // d
    row, column = entries.row[same], entries.col[same]
    blocks = np.zeros((n, d, d))
    blocks[row // d, row % d, column % d] = entries.data[same]
    return blocks


def _logistic(x: Floats) -> Floats:
    p: Floats = 1.0 / (1.0 + np.exp(-np.clip(x, -500, 500)))
    return p


# ---------------------------------------------------------------- choosing


class _Chooser:
    """Draws questions anchor by anchor; what their answers would tell is taken off the draws, so that the next ones ask for more."""

    def __init__(
        self, draws: Floats, kind: QuestionKind, width: int, wanted: int, rng: np.random.Generator
    ) -> None:
        self.draws, self.kind, self.width, self.rng = draws, kind, width, rng
        n = draws.shape[1]
        self.load = np.zeros(n)
        self.most = max(2.0 * wanted * width / n, 2.0)  # questions that an object may be an option of
        self.trios: set[tuple[int, ...]] = set()
        self.rows: list[Ints] = []
        self.score: list[float] = []
        self.probability: list[float] = []
        self.turn: list[int] = []

    def draw(self, anchor: int, turns: list[int]) -> None:
        """Draw a question of one anchor for each of its turns."""
        if not turns:
            return
        rows = self._candidates(anchor)
        utilities = _utilities(self.draws, rows, self.kind)
        p = np.exp(utilities - utilities.max(axis=2, keepdims=True))
        p /= p.sum(axis=2, keepdims=True)
        score = np.maximum(_entropy(p.mean(axis=0)) - _entropy(p).mean(axis=0), 1e-12)
        weight = (score / score.max()) ** SHARPNESS
        probability = weight / weight.sum()
        order = np.argsort(
            -np.log(probability + 1e-300) - self.rng.gumbel(size=len(rows))
        )  # drawn one after the other
        free = list(reversed(turns))
        for row in order.tolist():
            trio = tuple(sorted(rows[row].tolist()))
            if not free:
                break
            if trio in self.trios or (self.load[rows[row, 1:]] >= self.most).any():
                continue
            self._take(rows[row], trio, score[row], probability[row], free.pop())
            self._learn(utilities[:, row], p[:, row])
        for turn in free:  # few objects: some question comes again
            row = int(self.rng.choice(len(rows), p=probability))
            self._take(rows[row], (), score[row], probability[row], turn)

    def _take(self, row: Ints, trio: tuple[int, ...], score: float, probability: float, turn: int) -> None:
        self.rows.append(row)
        self.trios.add(trio)
        self.load[row[1:]] += 1
        self.score.append(float(score))
        self.probability.append(float(probability))
        self.turn.append(turn)

    def _candidates(self, anchor: int) -> Ints:
        """(c, 1 + width) questions of an anchor: all pairs of options, or some of them at random."""
        n = self.draws.shape[1]
        if self.width == 2 and (n - 1) * (n - 2) // 2 <= CANDIDATES:
            options = np.array(list(combinations(range(n - 1), 2)))
        else:
            keys = self.rng.random((CANDIDATES, n - 1))
            options = (
                np.argpartition(keys, self.width, axis=1)[:, : self.width]
                if self.width < n - 1
                else np.argsort(keys)
            )
        return np.insert(options + (options >= anchor), 0, anchor, axis=1)

    def _learn(self, utilities: Floats, p: Floats) -> None:
        """Narrow the draws by the answer to a question: a Kalman filter of its two likeliest answers' difference."""
        first, second = np.argsort(p.mean(axis=0))[::-1][:2]
        gap = utilities[:, first] - utilities[:, second]
        gap = gap - gap.mean()
        share = p[:, first] / (p[:, first] + p[:, second])
        noise = 1.0 / max(float(np.mean(share * (1 - share))), 1e-6)
        total = float(gap @ gap) / len(gap) + noise
        around = self.draws - self.draws.mean(axis=0)
        gain = np.tensordot(gap, around, axes=1) / (len(gap) * total)
        self.draws = self.draws - gap[:, None, None] * gain / (1.0 + np.sqrt(noise / total))


def _utilities(draws: Floats, rows: Ints, kind: QuestionKind) -> Floats:
    """(draws, questions, answers): the probability of an answer goes with the exponential of its utility."""
    chosen = draws[:, rows]  # draws, questions, objects, coordinates
    if kind in ("near", "grid"):  # an option that is near
        nearness: Floats = -np.sum((chosen[:, :, 1:] - chosen[:, :, :1]) ** 2, axis=3)
        return nearness
    apart: Floats = np.sum(
        (chosen - np.roll(chosen, -1, axis=2)) ** 2, axis=3
    )  # of 0 and 1, 1 and 2, 2 and 0
    pair: Floats = np.roll(apart, -1, axis=2)  # of the two others
    return -pair if kind == "odd" else pair - apart.sum(axis=2, keepdims=True)


def _entropy(p: Floats) -> Floats:
    entropy: Floats = -np.sum(p * np.log(np.maximum(p, 1e-300)), axis=-1)
    return entropy
