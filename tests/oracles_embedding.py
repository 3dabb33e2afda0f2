"""Naive twins of the embeddings, written straight from the papers: loops, no shared code with the package."""

import math

import numpy as np


def gnmds(near, far, parameter=0.0):
    return max(0.0, near + 1.0 - far)


def ckl(near, far, mu):
    return -math.log((mu + far) / (2 * mu + near + far))


def ste(near, far, parameter=0.0):
    shift = min(near, far)  # the same ratio, without underflow
    return -math.log(math.exp(shift - near) / (math.exp(shift - near) + math.exp(shift - far)))


def tste(near, far, alpha):
    def kernel(x):
        return (1 + x / alpha) ** (-(alpha + 1) / 2)

    return -math.log(kernel(near) / (kernel(near) + kernel(far)))


def soe(near, far, margin):
    return max(0.0, math.sqrt(near) + margin - math.sqrt(far)) ** 2


def lapse(near, far, lapses):
    surely = 1 / (1 + math.exp(math.sqrt(near) - math.sqrt(far)))
    return -math.log(lapses * 0.5 + (1 - lapses) * surely)


LOSSES = {"gnmds": gnmds, "ckl": ckl, "ste": ste, "tste": tste, "soe": soe, "lapse": lapse}


def total_loss(loss, parameter, points, rows):
    """Sum over answers, one at a time; repeats count again."""
    total = 0.0
    for a, i, j in rows:
        near = sum((x - y) ** 2 for x, y in zip(points[a], points[i], strict=True))
        far = sum((x - y) ** 2 for x, y in zip(points[a], points[j], strict=True))
        total += LOSSES[loss](near, far, parameter)
    return total


def numeric_gradient(function, points, step=1e-6):
    """Central differences, one coordinate at a time."""
    gradient = np.zeros_like(points)
    for place in np.ndindex(*points.shape):
        above, below = points.copy(), points.copy()
        above[place] += step
        below[place] -= step
        gradient[place] = (function(above) - function(below)) / (2 * step)
    return gradient


def scaling_matrix(rows, n):
    """J (S + S') J with S[a, i] = sum_j #(a, i, j) - #(a, j, i)."""
    net = np.zeros((n, n))
    for a, i, j in rows:
        net[a, i] += 1
        net[a, j] -= 1
    centre = np.eye(n) - np.ones((n, n)) / n
    return centre @ (net + net.T) @ centre


def accuracy(points, rows):
    """Share of answers that the points agree with; a tie counts one half."""
    right = 0.0
    for a, i, j in rows:
        near, far = np.sum((points[a] - points[i]) ** 2), np.sum((points[a] - points[j]) ** 2)
        right += 1.0 if near < far else 0.5 if near == far else 0.0
    return right / len(rows)


def choice_loss(points, choices):
    """-log likelihood of choices [chosen pair, other pairs ...], similarity the inner product; one at a time."""
    total = 0.0
    for pairs in choices:
        s = [sum(x * y for x, y in zip(points[a], points[b], strict=True)) for a, b in pairs]
        total -= s[0] - math.log(sum(math.exp(value) for value in s))
    return total
