"""Dimensions one can name: time and accuracy on THINGS, four million answers, a minibatch rival, simulated truths.

``python -m benchmarks.dimensions [PART ...]`` runs things, seeds, large, rival, truth, number, shapes and scales, or those named, and keeps raw rows in
benchmarks/results/dimensions-PART.json. Times are CPU seconds of this process, unless they say wall.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import SHARED, in_child, save, show, size
from benchmarks.dimension_shapes import scales, shapes
from nearfar import choose_dimension, datasets, design, find_dimensions, holdout, simulate
from nearfar.embedding import CKL, NonNegative
from nearfar.embedding.choices import ChoiceLoop, odd_one_out_rows
from nearfar.embedding.nonneg import WIDTH
from nearfar.embedding.prior import Prior, Setting, Vectors
from nearfar.errors import NearfarWarning
from nearfar.evaluate.dimensions import best_match
from nearfar.triplets import Triplets

Points = NDArray[np.float64]


def sparse_truth(n: int, dimensions: int, rng: np.random.Generator) -> Points:
    """Every object uses about a quarter of the dimensions, at least one, by amounts that differ."""
    used = rng.random((n, dimensions)) < min(0.25, 4 / dimensions)
    used[np.arange(n), rng.integers(dimensions, size=n)] = True
    return np.where(used, rng.gamma(3.0, 0.6, size=used.shape), 0.0)


def odd_ones(points: Points, m: int, rng: np.random.Generator) -> Triplets:
    """Odd-one-out answers at random, with the probabilities of the model, by 60 participants."""
    n = len(points)
    trios = rng.integers(n, size=(int(m * 1.1) + 9, 3))
    trios = trios[(trios[:, 0] != trios[:, 1]) & (trios[:, 0] != trios[:, 2]) & (trios[:, 1] != trios[:, 2])][
        :m
    ]
    similarity = points @ points.T
    pairs = np.stack([similarity[trios[:, i], trios[:, j]] for i, j in ((0, 1), (0, 2), (1, 2))], axis=1)
    kept = np.argmax(pairs + rng.gumbel(size=pairs.shape), axis=1)
    order = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0]])[kept]
    rows = np.take_along_axis(trios, order, axis=1)
    return Triplets.from_odd_one_out(rows, n_objects=n, participant=rng.integers(60, size=len(rows)))


def of_three(predict: Callable[[Triplets], NDArray[Any]], answers: Triplets) -> float:
    """Share of odd-one-out answers that are predicted: both of their triplets are."""
    first, second = odd_one_out_rows(answers)
    signs = predict(answers)
    return float(np.mean((signs[first] > 0) & (signs[second] > 0)))


def things_answers() -> Triplets:
    if size(False, True):
        return odd_ones(sparse_truth(60, 4, np.random.default_rng(0)), 3000, np.random.default_rng(1))
    return datasets.fetch_things(SHARED).triplets


def _prior(objects: tuple[str, ...]) -> Prior:
    """CLIP and word vectors at a share of .8; made ones in a small run."""
    if size(False, True):
        made: dict[str, Any] = {"made": np.random.default_rng(2).normal(size=(len(objects), 4))}
    else:
        kept = np.load(SHARED / "things" / "features.npz")
        made = {name: kept[name].astype(np.float64) for name in ("clip", "words")}
    return Vectors(made, objects).prior(Setting(0.8, 1.2, (1 / len(made),) * len(made)))


def things() -> Iterator[dict[str, Any]]:
    answers = things_answers()
    NonNegative(2).fit(answers[:600])  # compiled
    split = holdout(answers, 0.2, seed=0)
    train, test = answers[split.train], answers[split.test]
    prior = _prior(answers.objects)
    for name, model in {
        "ckl-8": CKL(8), "nonneg-8": NonNegative(8), "nonneg-30": NonNegative(30), "nonneg": NonNegative(),
        "nonneg-30+features": NonNegative(30, prior=prior),
    }.items():  # fmt: skip
        start = time.process_time()
        points = model.fit(train).embedding_
        seconds = time.process_time() - start
        yield {
            "model": name,
            "dimensions": points.shape[1],
            "fit_seconds": seconds,
            "odd_one_out": of_three(model.predict, test),
            "triplets": model.score(test),
            "zeros": float(np.mean(points < 1e-6)),
        }
    start = time.process_time()
    found = find_dimensions(answers)
    yield {
        "model": "nonneg, chosen and tested",
        "dimensions": len(found.dimensions),
        "come_back": len(found.found),
        "fit_seconds": time.process_time() - start,
        "top": [each.top[:4] for each in found.found],
    }


def seeds() -> Iterator[dict[str, Any]]:
    """The dimensions of 60 cars that come back, by the seed of starts and halves: the object highest on each."""
    cars = things_answers() if size(False, True) else datasets.fetch_car(SHARED).triplets
    for seed in range(size(12, 1)):
        found = find_dimensions(cars, seed=seed)
        yield {
            "seed": seed,
            "dimensions": len(found.dimensions),
            "come_back": [each.top[0] for each in found.found],
        }


def large_fit(n: int, m: int, dimensions: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    truth = sparse_truth(n, dimensions, rng)
    answers, fresh = odd_ones(truth, m, rng), odd_ones(truth, m // 50, rng)
    NonNegative(2).fit(answers[:60])
    cpu, wall = time.process_time(), time.perf_counter()
    model = NonNegative(dimensions).fit(answers)
    return {
        "answers": m,
        "objects": n,
        "dimensions": dimensions,
        "cpu_seconds": time.process_time() - cpu,
        "seconds": time.perf_counter() - wall,
        "iterations": model.n_iter_,
        "odd_one_out": of_three(model.predict, fresh),
        "odd_one_out_of_the_truth": of_three(_knowing(truth), fresh),
        "found_again": float(np.mean(best_match(truth, model.embedding_) > 0.8)),
    }


def _knowing(truth: Points) -> Callable[[Triplets], NDArray[Any]]:
    s = truth @ truth.T + 1e-9 * np.random.default_rng(0).normal(size=(len(truth), len(truth)))  # no ties
    s = s + s.T
    return lambda asked: np.sign(s[asked.anchor, asked.near] - s[asked.anchor, asked.far])


def large() -> Iterator[dict[str, Any]]:
    yield in_child("benchmarks.dimensions", "large_fit", *size((1854, 4_100_000, 30), (60, 3000, 4)))


def adam(
    train: Triplets,
    held_out: ChoiceLoop,
    dimensions: int,
    goal: float,
    *,
    batch: int,
    rate: float,
    limit: float,
) -> dict[str, Any]:
    """Minibatch Adam on the same likelihood and the same pull, clipped at 0: CPU seconds until held-out loss is ``goal``."""
    rng = np.random.default_rng(0)
    first, _ = odd_one_out_rows(train)
    trios = train.array[first]
    n, m = train.n_objects, len(trios)
    strength = np.sqrt(3 * m / n)
    learnt, plain = 0.19 * strength, 0.04 * strength
    x = rng.random((n, dimensions)) * 3.4 / np.sqrt(dimensions)
    mean, variance = np.zeros_like(x), np.zeros_like(x)
    total = held_out.choices.weight.sum()
    best, steps, spent, checked = np.inf, 0, 0.0, 0.0
    while spent < limit and best > goal:
        start = time.process_time()
        for rows in np.array_split(rng.permutation(m), max(1, m // batch)):
            a, b, c = trios[rows].T
            xa, xb, xc = x[a], x[b], x[c]
            s = np.stack([(xa * xb).sum(1), (xa * xc).sum(1), (xb * xc).sum(1)])
            p = np.exp(s - s.max(axis=0))
            p /= p.sum(axis=0)
            p[0] -= 1
            ab, ac, bc = p[:, :, None]
            gradient = np.zeros_like(x)
            np.add.at(gradient, a, ab * xb + ac * xc)
            np.add.at(gradient, b, ab * xa + bc * xc)
            np.add.at(gradient, c, ac * xa + bc * xb)
            gradient += len(rows) / m * (learnt / np.sqrt((x**2).mean(axis=0) + WIDTH) * x + plain)
            steps += 1
            mean += 0.1 * (gradient - mean)
            variance += 0.001 * (gradient**2 - variance)
            step = rate * mean / (1 - 0.9**steps)
            x = np.maximum(x - step / (np.sqrt(variance / (1 - 0.999**steps)) + 1e-8), 0.0)
        spent += time.process_time() - start
        if spent > checked:  # judged outside the time that counts
            best, checked = min(best, held_out(x)[0] / total), spent
    return {
        "batch": batch,
        "rate": rate,
        "seconds": spent,
        "held_out_loss": float(best),
        "reached": bool(best <= goal),
    }


def rival() -> Iterator[dict[str, Any]]:
    answers = things_answers()
    split = holdout(answers, 0.2, seed=0)
    train, held_out = answers[split.train], ChoiceLoop(answers[split.test])
    NonNegative(2).fit(train[:600])
    for dimensions in size((10, 30), (3,)):
        start = time.process_time()
        points = NonNegative(dimensions).fit(train).embedding_
        seconds = time.process_time() - start
        loss = held_out(points)[0] / held_out.choices.weight.sum()
        yield {"method": "nearfar", "dimensions": dimensions, "seconds": seconds, "held_out_loss": loss}
        for batch, rate in ((128, 0.001), (1024, 0.005), (8192, 0.02)):
            goal = {"batch": batch, "rate": rate, "limit": size(60.0, 1.0)}
            done = adam(train, held_out, dimensions, loss + 1e-3, **goal)  # type: ignore[arg-type]
            yield {"method": "Adam", "dimensions": dimensions, **done, "ratio": done["seconds"] / seconds}


def truth() -> Iterator[dict[str, Any]]:
    """Share of true dimensions found again, and false ones among those that come back; ten sets each."""
    for dimensions, answers in product(size((5, 10, 20), (3,)), size((20, 50, 200), (50,))):
        n, again, false, came, fitted = size(200, 40), [], 0, 0, []
        for seed in range(size(10, 1)):
            rng = np.random.default_rng([dimensions, answers, seed])
            x = sparse_truth(n, dimensions, rng)
            found = find_dimensions(odd_ones(x, n * answers // 3, rng), seed=seed)
            again.append(float(np.mean(best_match(x, found.points()) > 0.8)) if found.found else 0.0)
            false += int(np.sum(best_match(found.points(), x) <= 0.8)) if found.found else 0
            came += len(found.found)
            fitted.append(len(found.dimensions))
        yield {
            "true_dimensions": dimensions, "answers_per_object": answers, "sets": len(again),
            "found_again": float(np.mean(again)), "come_back": came, "false": false, "fitted": float(np.mean(fitted)),
        }  # fmt: skip


def study(kind: str, points: Points, per_object: int, seed: int) -> Triplets:
    """Answers about random questions. "flips": a tenth of them turned round; "noise": distances seen with factors drawn anew; else
    a softmax in distances.

    "odd": odd-one-out. "people": 20 participants who weigh the dimensions differently.
    """
    n, d = points.shape
    rng = np.random.default_rng([d, per_object, seed, len(kind)])
    asked = design.random_questions(n, n * per_object // 3, seed=seed)
    if kind == "flips":
        return simulate.answers(asked, points=points, flip=0.1, seed=seed).triplets
    if kind == "noise":
        return simulate.answers(asked, points=points, noise=0.5, seed=seed).triplets
    drawn = simulate.answers(asked, points=points, seed=seed).triplets
    a, b, c = drawn.anchor, drawn.near, drawn.far
    who = rng.integers(20, size=len(drawn))
    weights = rng.gamma(6, 1 / 6, size=(20, d)) if "people" in kind else np.ones((20, d))
    near, far, third = (
        -4 / np.sqrt(d) * np.sqrt((weights[who] * (points[i] - points[j]) ** 2).sum(axis=1))
        for i, j in ((a, b), (a, c), (b, c))
    )
    pairs = np.stack([near, far, third] if "odd" in kind else [near, far])
    kept = np.argmax(pairs + rng.gumbel(size=pairs.shape), axis=0)
    people = who if "people" in kind else None
    rows = np.where(kept == 0, [a, b, c], np.where(kept == 1, [a, c, b], [b, c, a])).T
    if "odd" in kind:
        return Triplets.from_odd_one_out(rows, n_objects=n, participant=people)
    return Triplets.from_array(rows, n_objects=n, participant=people)


def number() -> Iterator[dict[str, Any]]:
    """The number of dimensions that ``choose_dimension`` gives, ten sets each of 1, 2, 3 and 5 of them."""
    kinds = size(("flips", "noise", "softmax", "odd", "odd, people", "people"), ("odd, people",))
    for answers, kind, dimensions in product(size((100, 30), (100,)), kinds, size((5, 3, 2, 1), (1,))):
        chosen = []
        for seed in range(size(10, 1)):
            points = np.random.default_rng([dimensions, answers, seed]).normal(
                size=(size(40, 20), dimensions)
            )
            chosen.append(int(choose_dimension(study(kind, points, answers, 900 + seed), seed=seed)))
        yield {
            "true_dimensions": dimensions, "answers_per_object": answers, "kind": kind, "sets": len(chosen),
            "right": int(np.sum(np.equal(chosen, dimensions))), "more": int(np.sum(np.greater(chosen, dimensions))),
            "chosen": chosen,
        }  # fmt: skip


PARTS = {
    "things": things,
    "seeds": seeds,
    "large": large,
    "rival": rival,
    "truth": truth,
    "number": number,
    "shapes": shapes,
    "scales": scales,
}


def main() -> None:
    warnings.simplefilter("ignore", NearfarWarning)
    for name in sys.argv[1:] or PARTS:
        rows = []
        for row in PARTS[name]():
            show([row])
            rows.append(row)
            save(f"dimensions-{name}", rows)


if __name__ == "__main__":
    main()
