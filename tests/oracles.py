"""Naive twins of the features and kernels, written straight from the definitions (DESIGN section 2).

Slow on purpose: dictionaries and loops, no shared code with the package.
"""

from collections import Counter
from itertools import combinations, permutations

import numpy as np


def counts(rows):
    """#(a, i, j): how often each triplet was answered."""
    return Counter((int(a), int(i), int(j)) for a, i, j in rows)


def ratio(plus, minus):
    return 0.0 if plus + minus == 0 else (plus - minus) / (plus + minus)


def raw_k1(rows, n, members):
    """{a: {column: value}} with unordered pairs i < j of ``members`` as columns."""
    c = counts(rows)
    return {
        a: {("k1", i, j): ratio(c[a, i, j], c[a, j, i]) for i, j in combinations(sorted(members), 2)}
        for a in range(n)
    }


def raw_k2(rows, n, members):
    """{a: {column: value}} with ordered pairs (i, j) of ``members`` as columns, i the anchor."""
    c = counts(rows)
    return {
        a: {("k2", i, j): ratio(c[i, a, j], c[i, j, a]) for i, j in permutations(sorted(members), 2)}
        for a in range(n)
    }


def raw_score(rows, n, members):
    """{a: {column: value}} with one column per member; an object's own column gets the length of the rest."""
    c = counts(rows)
    result = {}
    for a in range(n):
        row = {
            ("score", i, -1): float(sum(c[a, i, j] - c[a, j, i] + c[i, a, j] - c[i, j, a] for j in range(n)))
            for i in sorted(members)
        }
        if a in members:
            row["score", a, -1] = float(np.sqrt(sum(value * value for value in row.values())))
        result[a] = row
    return result


RAW = {"k1": raw_k1, "k2": raw_k2, "score": raw_score}


def unit(row):
    length = np.sqrt(sum(value * value for value in row.values()))
    return {column: 0.0 if length == 0 else value / length for column, value in row.items()}


def phi(rows, n, kernel, landmarks=None):
    """{a: {column: value}}: unit rows per part, side by side, unit again."""
    members = range(n) if landmarks is None else landmarks
    stacked = {a: {} for a in range(n)}
    for name in kernel.split("+"):
        part = RAW[name](rows, n, members)
        for a in range(n):
            stacked[a] |= unit(part[a])
    return {a: unit(stacked[a]) for a in range(n)}


def gram(first, second):
    """Inner products between two dictionaries of rows."""
    return np.array(
        [
            [sum(value * b.get(column, 0.0) for column, value in a.items()) for b in second.values()]
            for a in first.values()
        ]
    ).reshape(len(first), len(second))


def kernel(rows, n, name, landmarks=None):
    features = phi(rows, n, name, landmarks)
    return gram(features, features)


def shifted(K):
    """K - s diag(informed), s the smallest eigenvalue over informed objects, never below 0."""
    informed = np.flatnonzero(np.diag(K) > 0)
    if len(informed) == 0:
        return K.copy()
    s = max(0.0, np.linalg.eigvalsh(K[np.ix_(informed, informed)])[0])
    result = K.copy()
    result[informed, informed] -= s
    return result


def all_triplets(points):
    """Every correct triplet of points in a metric space, ties left out."""
    d = np.linalg.norm(points[:, None] - points[None], axis=2)
    return [
        (a, i, j)
        for a in range(len(points))
        for i, j in permutations([o for o in range(len(points)) if o != a], 2)
        if d[a, i] < d[a, j]
    ]


def ideal_tau(d, a, b):
    """Kendall's tau between the rankings of all objects by distance from a and from b, a and b included.

    The mean of sign products over all ordered pairs without the ties of an object with itself, as the paper's
    figure 1 has it.
    """
    n = len(d)
    total = sum(np.sign(d[a, i] - d[a, j]) * np.sign(d[b, i] - d[b, j]) for i, j in combinations(range(n), 2))
    return total / (n * (n - 1) / 2)


def ideal_k2(d, a, b):
    """The mean over ordered pairs (i, j) of whether a and b lie on the same side of j as seen from i."""
    n = len(d)
    return (
        sum(np.sign(d[i, a] - d[i, j]) * np.sign(d[i, b] - d[i, j]) for i in range(n) for j in range(n))
        / n**2
    )
