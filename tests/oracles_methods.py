"""Naive twins of nearfar.methods and of the diagonal shift, written straight from the definitions."""

import numpy as np
from scipy import sparse


def make_phi(n, p, *, density=1.0, zeros=(), seed=0, dtype=np.float64, layout="dense", ties=True):
    """Rows like those of k1: entries +1, 0, -1, scaled to unit length; rows in ``zeros`` are zero.

    Object x follows the signs of group x mod 4, a third of the entries turned, so that there is something to find.
    Kernel values are fractions and often equal; ``ties=False`` gives every column a weight of its own.
    """
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=(4, p))[np.arange(n) % 4]
    signs *= np.where(rng.random((n, p)) < 1 / 3, -1, 1)
    values = signs * (rng.random((n, p)) < density) * (1 if ties else rng.random(p) + 0.5)
    values[list(zeros)] = 0
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    values = (values / np.where(norms == 0, 1, norms)).astype(dtype)
    return values if layout == "dense" else sparse.csr_array(values)


def dense(phi):
    return phi.toarray() if sparse.issparse(phi) else np.asarray(phi)


def informed(phi):
    return [x for x, row in enumerate(dense(phi)) if np.any(row != 0)]


def shifted_kernel(phi):
    """(K - s I over informed rows, s)."""
    rows = dense(phi).astype(np.float64)[informed(phi)]
    K = rows @ rows.T
    s = max(0.0, float(np.linalg.eigvalsh(K)[0]))
    return K - s * np.eye(len(K)), s


def kernel_distance(K, x, members):
    """Squared distance of object x to the mean of a cluster, all by sums of K."""
    size = len(members)
    own = K[x, x]
    cross = sum(K[x, y] for y in members)
    inner = sum(K[y, z] for y in members for z in members)
    return own - 2 * cross / size + inner / size**2


def kernel_kmeans(K, labels, k, max_iter=100):
    """Lloyd's iteration on a kernel matrix, from starting labels; an empty cluster gets the farthest object."""
    labels = list(labels)
    for _ in range(max_iter):
        members = [[x for x, label in enumerate(labels) if label == c] for c in range(k)]
        squares = [
            [kernel_distance(K, x, group) if group else np.inf for group in members] for x in range(len(K))
        ]
        new = [int(np.argmin(row)) for row in squares]
        for c in range(k):
            if c not in new:
                candidates = [x for x in range(len(K)) if new.count(new[x]) > 1]
                farthest = max(candidates, key=lambda x: min(squares[x]))
                new[farthest] = c
        if new == labels:
            break
        labels = new
    return labels


def kmeans_objective(K, labels):
    clusters = {c: [x for x, label in enumerate(labels) if label == c] for c in set(labels)}
    return sum(kernel_distance(K, x, clusters[label]) for x, label in enumerate(labels))


def squared_distances(K):
    n = len(K)
    return np.array([[K[x, x] + K[y, y] - 2 * K[x, y] for y in range(n)] for x in range(n)])


def agglomerate(distances, between):
    """Heights of naive agglomeration; ``between(values)`` makes one distance out of those of two clusters."""
    clusters = [[x] for x in range(len(distances))]
    heights = []
    while len(clusters) > 1:
        pairs = [
            (between([distances[x][y] for x in clusters[a] for y in clusters[b]]), a, b)
            for a in range(len(clusters))
            for b in range(a + 1, len(clusters))
        ]
        height, a, b = min(pairs)
        heights.append(height)
        clusters[a] = clusters[a] + clusters.pop(b)
    return heights
