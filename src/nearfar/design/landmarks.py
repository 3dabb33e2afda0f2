"""Landmarks, and the questions of the landmark design (section 2.3 of the paper)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from nearfar._tools.arrays import Indices, Ints, pair_of
from nearfar._tools.checks import Seed, generator
from nearfar._tools.progress import step
from nearfar.design.questions import Objects, Questions, check_budget, object_names, warn_uninformed
from nearfar.errors import InputError


def random_landmarks(objects: Objects, k: int, seed: Seed = 0) -> Indices:
    """Draw k landmarks from all objects with equal chances; returns sorted indices.

    >>> random_landmarks(10, 3, seed=0).shape
    (3,)
    """
    n = len(object_names(objects))
    _check_k(k, n)
    return np.sort(generator(seed).choice(n, k, replace=False)).astype(np.int32)


def farthest_first(distances: ArrayLike, k: int, first: int | None = None, seed: Seed = 0) -> Indices:
    """Landmarks spread out: each next one is the object farthest from all landmarks so far.

    Parameters
    ----------
    distances : (n, n) distances (or guesses of them, from a pilot or from image features).
    k : how many landmarks.
    first : index of the first landmark; drawn with ``seed`` where not given.

    Returns
    -------
    (k,) indices, in the order chosen.

    >>> points = np.array([0.0, 1.0, 2.0, 10.0])
    >>> farthest_first(abs(points[:, None] - points), 3, first=0)
    array([0, 3, 2], dtype=int32)
    """
    d = np.asarray(distances, dtype=np.float64)
    if d.ndim != 2 or d.shape[0] != d.shape[1] or np.isnan(d).any():
        got = f"shape {d.shape}" + (" with NaN" if np.isnan(d).any() else "")
        raise InputError(f"distances: expected an (n, n) array without NaN, got {got}")
    n = len(d)
    _check_k(k, n)
    if first is not None and not 0 <= first < n:
        raise InputError(f"first: {first} is outside 0..{n - 1}")
    start = generator(seed).integers(n) if first is None else first
    chosen, nearest = np.empty(k, dtype=np.int32), np.full(n, np.inf)
    for i in range(k):
        chosen[i] = np.argmax(nearest) if i else start
        np.minimum(nearest, d[chosen[i]], out=nearest)
        nearest[chosen[i]] = -np.inf  # never chosen twice, not even among duplicates
    return chosen


def landmark_questions(
    objects: Objects,
    landmarks: Sequence[str] | ArrayLike,
    kernel: Literal["k1", "k2"] = "k1",
    *,
    budget: int | None = None,
    even: bool = False,
    seed: Seed = 0,
) -> Questions:
    """Questions of the landmark design, for k1 or for k2: all of them, or ``budget`` of them.

    For k1: anchor x in all objects, one and other in the landmarks. For k2: anchor l and other l' in the landmarks,
    one = x in all objects. Every object x is asked about equally often, give or take one (a landmark may run out of
    questions before). Its pairs of landmarks are drawn without replacement, for each object anew as in the paper, or so
    that pairs come ``even``. A k2 question among three landmarks concerns two of them and is asked once.

    Parameters
    ----------
    objects : names, or their number.
    landmarks : names or indices of at least two objects.
    budget : questions in total; None asks all. Memory grows with n + budget only.
    even : every pair of landmarks (for k2: every anchor and other) is used equally often, give or take one, and every
        landmark, give or take two; for studies, of up to some 100,000 questions. Two objects share slightly fewer pairs.
    seed : whole number or numpy Generator.

    Returns
    -------
    Questions, ordered by x.

    >>> len(landmark_questions(100, [3, 14, 15, 92], "k2", budget=500))
    500
    """
    names = object_names(objects)
    marks = landmark_indices(landmarks, names)
    if len(marks) < 2:
        raise InputError(f"landmarks: expected at least two objects, got {len(marks)}")
    if kernel not in ("k1", "k2"):
        raise InputError(f"kernel: {kernel!r} has no landmark questions; expected 'k1' or 'k2'")
    n, k = len(names), len(marks)
    rank = np.full(n, -1, dtype=np.int32)
    rank[marks] = np.arange(k)
    room = np.where(rank >= 0, *question_counts(k, kernel)).astype(np.int64)
    rng = generator(seed)
    if budget is not None:
        check_budget(budget, int(room.sum()))
    quota = _quotas(room, budget, rng)
    with step("drawing questions"):
        if even:
            one, other = marks[_even_pairs(rank, quota, kernel == "k2", rng).T]
            x = np.repeat(np.arange(n, dtype=np.int32), quota)
            out = np.stack([one, x, other] if kernel == "k2" else [x, one, other])
        else:
            out = _drawn(room, quota, rank, marks, kernel == "k2", rng)
    if budget is not None:
        # Those whose row of Phi is filled; a k2 question among three landmarks concerns both that are not its anchor.
        informed = [out[0]] if kernel == "k1" else [out[1], out[2][rank[out[1]] >= 0]]
        unable = np.flatnonzero(room == 0)  # there are no questions about them
        remedy = f"{n - len(unable):,} is enough to ask about every object"
        warn_uninformed(names, np.concatenate([unable, *informed]), budget, remedy)
    return Questions(out.T, names)


def question_counts(k: int, kernel: str) -> tuple[int, int]:
    """How many questions there are about one of k landmarks, and about any other object."""
    return (k - 1) * (k - 2) // 2, k * (k - 1) // (2 if kernel == "k1" else 1)


def _quotas(room: Ints, budget: int | None, rng: Generator) -> Ints:
    """How many questions each object gets: min(room, level), the rest one each to random objects with room."""
    if budget is None or budget == room.sum():
        return room
    levels = range(int(room.max()) + 1)
    level = bisect_right(levels, budget, key=lambda level: int(np.minimum(room, level).sum())) - 1
    quota = np.minimum(room, level)
    quota[rng.choice(np.flatnonzero(room > level), budget - int(quota.sum()), replace=False)] += 1
    return quota


def _drawn(room: Ints, quota: Ints, rank: Indices, marks: Indices, k2: bool, rng: Generator) -> Indices:
    """(3, m) anchor, one, other; ``quota`` about each object in turn, drawn for each anew."""
    out = np.empty((3, int(quota.sum())), dtype=np.int32)
    about, one, other = (out[row] for row in ((1, 0, 2) if k2 else (0, 1, 2)))
    offset = np.cumsum(quota) - quota
    for count, size in sorted(set(zip(quota.tolist(), room.tolist(), strict=True))):
        alike = np.flatnonzero((quota == count) & (room == size)) if count else np.zeros(0, np.int64)
        height = max(1, (1 << 24) // max(1, size))
        for start in range(0, len(alike), height):
            x = alike[start : start + height]
            at = offset[x][:, None] + np.arange(count)
            a, b = _mark_pairs(_subsets(size, count, len(x), rng), rank[x][:, None], len(marks), k2)
            about[at], one[at], other[at] = x[:, None], marks[a], marks[b]
    return out


def _subsets(size: int, count: int, m: int, rng: Generator) -> Ints:
    """(m, count) different numbers below size in each row, by Floyd's algorithm."""
    if count == size:
        return np.tile(np.arange(size), (m, 1))
    chosen = np.empty((m, count), dtype=np.int64)
    taken, row = np.zeros((m, size), dtype=bool), np.arange(m)
    for i in range(count):
        last = size - count + i
        value = rng.integers(last + 1, size=m)
        value[taken[row, value]] = last
        taken[row, value] = True
        chosen[:, i] = value
    return chosen


def _mark_pairs(number: Ints, p: Indices, k: int, k2: bool) -> tuple[Ints, Ints]:
    """The pairs of landmarks with these numbers, for objects that are landmark p (-1: none); all p alike in that."""
    if k2 and p[0] < 0:
        a, b = np.divmod(number, k - 1)
        return a, b + (b >= a)
    a, b = (each[number] for each in pair_of(np.arange(number.max(initial=0) + 1)))
    if p[0] >= 0:  # pairs of the other landmarks
        a, b = a + (a >= p), b + (b >= p)
    if not k2:
        return a, b
    # Of the three k2 questions in a trio of landmarks each object owns one: its anchor is the object before it, going round.
    turned = ~((a < p) & (p < b))
    return np.where(turned, b, a), np.where(turned, a, b)


def _even_pairs(rank: Indices, quota: Ints, k2: bool, rng: Generator) -> Ints:
    """(m, 2) for one object after the other, ``quota`` different pairs of landmarks (numbers below k), none with itself.

    The next pair is one that was used least, and of these one whose landmarks were. Objects come in random order, but
    landmarks first, since others can make up for what these cannot take. ``rank`` : (n,) number among the landmarks, or -1.
    """
    k = int(rank.max()) + 1
    about_landmark, about_other = question_counts(k, "k2" if k2 else "k1")
    used, load = np.zeros((k, k), dtype=np.int64), np.zeros((2, k), dtype=np.int64)
    first, second = load[0], load[int(k2)]  # how often each landmark stands in a pair; of k1 in either place
    order = rng.permutation(len(rank))
    dealt = [np.empty((0, 2), dtype=np.int64) for _ in rank]
    for x in order[np.argsort(rank[order] < 0, kind="stable")].tolist():
        numbers = np.arange(about_other if rank[x] < 0 else about_landmark)
        one, other = _mark_pairs(numbers, rank[x : x + 1], k, k2)
        free = rng.random(len(numbers)) / 2  # decides ties; infinite for those taken
        for _ in range(quota[x]):
            i = int(np.argmin(used[one, other] * 1e9 + first[one] + second[other] + free))
            free[i] = np.inf
            used[one[i], other[i]] += 1
            first[one[i]] += 1
            second[other[i]] += 1
        taken = np.isinf(free)
        dealt[x] = np.stack([one[taken], other[taken]], axis=1)
    return np.concatenate(dealt)


def landmark_indices(landmarks: Any, objects: Sequence[str]) -> Indices:
    """Indices of landmarks given by name (text) or by index (whole numbers), each once."""
    if isinstance(landmarks, str) or not isinstance(landmarks, Iterable):
        hint = "nearfar.design.random_landmarks draws some"
        raise InputError(f"landmarks: expected names or indices of objects, got {landmarks!r}; {hint}")
    given = list(landmarks)
    index = {name: i for i, name in enumerate(objects)} if any(isinstance(g, str) for g in given) else {}
    marks = [index.get(g, -1) if isinstance(g, str) else g for g in given]
    for g, mark in zip(given, marks, strict=True):
        if not isinstance(mark, (int, np.integer)) or not 0 <= mark < len(objects):
            among = f"is not among the {len(objects):,} objects"
            raise InputError(f"landmarks: {g!r} {among}; expected their names, or indices from 0")
    if len(set(marks)) < len(marks):
        raise InputError("landmarks: an object is listed twice; name each landmark once")
    return np.array(marks, dtype=np.int32)


def _check_k(k: int, n: int) -> None:
    if not 1 <= k <= n:
        raise InputError(f"{k} landmarks cannot be chosen from {n:,} objects")
