"""Objects of many shapes and answers by many laws: how many dimensions they are given, and whether ``auto`` draws a scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import size
from nearfar import choose_dimension
from nearfar.evaluate.judging import Judging
from nearfar.triplets import Triplets

Points = NDArray[np.float64]
LINES = ("line uniform", "line regular", "line skewed", "line clusters", "arc")
PLANES = ("ring", "square", "long rectangle", "clusters in a plane")
SHAPES = (*LINES, *PLANES, "cube", "sphere", "unequal axes", "torus", "heavy tails", "cube 5")
# no constant was set by these
OTHER_LINES = ("line with two ends", "line with a gap", "logarithmic line", "bow")
OTHER_PLANES = ("disc", "triangle", "cross", "grid", "three clusters", "broad curve")
OTHER_LAWS = ("student distance", "probit squares", "heavy ratio", "a third guess")
LAWS = ("logistic distance", "logistic squares", "probit distance", "ratio", "lapses", "exponential")


def shape(kind: str, n: int, rng: np.random.Generator) -> tuple[int, Points]:
    """The number of dimensions, and (n, d) points; an arc is a line, as its distances order as those along it do."""
    if kind in LINES:
        return 1, _line(kind, n, rng)
    if kind in PLANES:
        return 2, _plane(kind, n, rng)
    if kind in OTHER_LINES:
        return 1, _other_line(kind, n, rng)
    if kind in OTHER_PLANES:
        return 2, _other_plane(kind, n, rng)
    if kind == "cube":
        return 3, rng.random((n, 3)) * 3.4
    if kind == "sphere":
        x = rng.normal(size=(n, 3))
        return 3, x / np.linalg.norm(x, axis=1)[:, None] * 1.7
    if kind == "unequal axes":
        return 3, rng.normal(size=(n, 3)) * [1.4, 0.8, 0.5]
    if kind == "torus":
        a, b = rng.random((2, n)) * 2 * np.pi
        around = 2 + 0.8 * np.cos(b)
        return 3, np.column_stack([around * np.cos(a), around * np.sin(a), 0.8 * np.sin(b)])
    if kind == "heavy tails":
        return 2, rng.standard_t(3, size=(n, 2))
    return 5, rng.random((n, 5)) * 3.4


def _line(kind: str, n: int, rng: np.random.Generator) -> Points:
    if kind == "line uniform":
        return rng.random((n, 1)) * 3.4
    if kind == "line regular":
        return np.linspace(0, 3.4, n)[:, None]
    if kind == "line skewed":
        return rng.exponential(1, size=(n, 1))
    if kind == "line clusters":
        return rng.integers(4, size=(n, 1)) * 1.2 + rng.normal(size=(n, 1)) * 0.15
    a = rng.random(n) * np.pi / 2
    return np.column_stack([np.cos(a), np.sin(a)]) * 2.2


def _plane(kind: str, n: int, rng: np.random.Generator) -> Points:
    if kind == "ring":
        a = rng.random(n) * 2 * np.pi
        return np.column_stack([np.cos(a), np.sin(a)]) * 1.4
    if kind == "clusters in a plane":
        centres = rng.normal(size=(6, 2)) * 1.6
        return centres[rng.integers(6, size=n)] + rng.normal(size=(n, 2)) * 0.3
    return rng.random((n, 2)) * 3.4 * (1.0 if kind == "square" else np.array([1, 0.4]))


def _other_line(kind: str, n: int, rng: np.random.Generator) -> Points:
    if kind == "line with two ends":
        return rng.beta(0.4, 0.4, size=(n, 1)) * 3
    if kind == "line with a gap":
        x = rng.random((n, 1)) * 1.2
        return x + 1.4 * (x > 0.6)
    if kind == "logarithmic line":
        return np.geomspace(0.2, 4, n)[:, None]
    a = rng.random(n) * np.pi / 3
    return np.column_stack([np.cos(a), np.sin(a)]) * 3


def _other_plane(kind: str, n: int, rng: np.random.Generator) -> Points:
    a, u, v = rng.random((3, n))
    if kind == "disc":
        return np.sqrt(u)[:, None] * np.column_stack([np.cos(2 * np.pi * a), np.sin(2 * np.pi * a)]) * 1.8
    if kind == "triangle":
        return np.column_stack([np.maximum(u, v), np.minimum(u, v)]) * 3
    if kind == "cross":
        on_first = a < 0.5
        return np.column_stack([np.where(on_first, u - 0.5, 0), np.where(on_first, 0, u - 0.5)]) * 3.4
    if kind == "grid":
        side = int(np.ceil(np.sqrt(n)))
        return np.argwhere(np.ones((side, side)))[:n] * 3.0 / side
    if kind == "three clusters":
        corners = np.array([[0, 0], [2, 0], [1, 1.7]])
        return corners[rng.integers(3, size=n)] + rng.normal(size=(n, 2)) * 0.35
    a, width = a * 1.5 * np.pi, 1.4 + 0.35 * rng.normal(size=n)  # three quarters of a ring
    return np.column_stack([np.cos(a), np.sin(a)]) * width[:, None]


def answers(points: Points, m: int, law: str, form: str, people: bool, rng: np.random.Generator) -> Triplets:
    """Answers about m random trios, "odd" ones out or triplets; ``people`` : 24 who differ in weights, precision and lapses."""
    n, d = points.shape
    trios = np.argsort(rng.random((m, n)), axis=1)[:, :3]
    who = rng.integers(24, size=m)
    weights = rng.gamma(4, 1 / 4, size=(24, d)) if people and d > 1 else np.ones((24, d))
    precision = np.exp(rng.normal(size=24) * 0.5) if people else np.ones(24)
    lapse = rng.beta(1, 9, size=24) if people else np.zeros(24)
    apart = [points[trios[:, i]] - points[trios[:, j]] for i, j in ((0, 1), (0, 2), (1, 2))]
    far = np.sqrt(np.stack([(weights[who] * each**2).sum(axis=1) for each in apart], axis=1))
    far, sure = far / np.median(far), precision[who][:, None]
    if law == "logistic distance":
        near = -far * 5 * sure + rng.gumbel(size=far.shape)
    elif law == "logistic squares":
        near = -(far**2) * 3 * sure + rng.gumbel(size=far.shape)
    elif law == "probit distance":
        near = -far + rng.normal(size=far.shape) * 0.3 / sure
    elif law == "ratio":
        near = -np.log(far + 1e-9) + rng.normal(size=far.shape) * 0.35 / sure
    elif law == "student distance":
        near = -far + rng.standard_t(3, size=far.shape) * 0.22 / sure
    elif law == "probit squares":
        near = -(far**2) + rng.normal(size=far.shape) * 0.5 / sure
    elif law == "heavy ratio":
        near = -np.log(1 + 4 * far**2) * 1.5 * sure + rng.gumbel(size=far.shape)
    elif law == "a third guess":
        near = np.where((who % 3 == 0)[:, None], 0, -far * 8 * sure) + rng.gumbel(size=far.shape)
    elif law == "lapses":
        at_random = (rng.random(m) < 0.15)[:, None]
        near = np.where(at_random, rng.random(far.shape), -far + rng.normal(size=far.shape) * 0.1)
    else:
        near = np.exp(-far * 1.3) + rng.normal(size=far.shape) * 0.12 / sure
    near = np.where((rng.random(m) < lapse[who])[:, None], rng.random(far.shape), near)
    given: Any = {"n_objects": n, "participant": who if people else None}
    if form == "odd":
        order = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0]])[near.argmax(axis=1)]
        return Triplets.from_odd_one_out(np.take_along_axis(trios, order, axis=1), **given)
    a, b, c = trios.T
    first = near[:, 0] > near[:, 1]
    return Triplets.from_array(np.column_stack([a, np.where(first, b, c), np.where(first, c, b)]), **given)


def shapes() -> Iterator[dict[str, Any]]:
    """40 sets of every shape: law, form, number of objects, answers per object and people are drawn for each."""
    for seed in range(size(600, 3)):
        rng = np.random.default_rng([77, seed])
        kind, law = SHAPES[seed % len(SHAPES)], LAWS[rng.integers(len(LAWS))]
        form = ("odd", "triplet")[rng.integers(2)]
        n, per_object, people = (
            int(rng.choice([20, 40, 80])),
            int(rng.choice([30, 100, 300])),
            bool(rng.integers(2)),
        )
        true, points = shape(kind, n, rng)
        given = answers(points, n * per_object // 3, law, form, people, rng)
        yield {
            "shape": kind, "true_dimensions": true, "law": law, "form": form, "objects": n, "answers_per_object": per_object,
            "people": people, "chosen": int(choose_dimension(given, seed=seed)),
        }  # fmt: skip


def scales() -> Iterator[dict[str, Any]]:
    """Lines and planes by which no constant was set: whether ``auto`` chooses one dimension, which is drawn as a scale."""
    for seed in range(size(720, 3)):
        rng = np.random.default_rng([78, seed])
        per_object = (15, 50, 200)[seed % 3]
        kind = str(rng.choice((OTHER_LINES, OTHER_PLANES)[seed // 3 % 2]))
        law, form = str(rng.choice(OTHER_LAWS)), str(rng.choice(["odd", "triplet"]))
        n, people = int(rng.choice([20, 40, 80])), bool(rng.integers(2))
        true, points = shape(kind, n, rng)
        judged = Judging(answers(points, n * per_object // 3, law, form, people, rng), seed=seed)
        yield {
            "shape": kind, "true_dimensions": true, "law": law, "form": form, "objects": n, "answers_per_object": per_object,
            "people": people, "chosen": judged.chosen.name, "accuracy": judged.best.accuracy,
        }  # fmt: skip
