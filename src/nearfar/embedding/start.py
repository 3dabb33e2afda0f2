"""Where a fit starts: a rank-based classical-scaling map of the answers, deterministic and O(m) a step.

How much nearer than others i was said to be to a, whatever the comparison, is

    S[a, i] = sum_j #(a, i, j) - #(a, j, i),

so -(S + S') plays the part of squared distances and classical scaling asks for the top eigenvectors of
J (S + S') J, J = I - 1 1'/n. S is never written down for many objects: Lanczos' method needs products only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from nearfar._tools.compiled import compiled
from nearfar.embedding.loop import Merged, Points

FLOOR = 1e-4  # share of the largest eigenvalue that every axis gets: a flat axis could never unfold


def kernel_start(data: Merged, informed: NDArray[np.intp], n_components: int) -> Points:
    """(n, d) points with root mean square length 1 over the informed objects, the others at zero."""
    points = np.zeros((data.n_objects, n_components))
    count = len(informed)
    k = min(n_components, count - 1)
    # up to 256 objects S is a small matrix, and all its eigenvectors cost less than Lanczos' method
    values, vectors = _few(data, informed, k) if count <= 256 else _many(data, informed, k)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    lengths = np.sqrt(np.maximum(values, FLOOR * max(values.max(initial=0.0), 1e-300)))
    points[informed, : vectors.shape[1]] = vectors * lengths
    if vectors.shape[1] < n_components:  # more axes than objects can span, or than Lanczos found
        noise = np.random.default_rng(0).normal(size=(count, n_components - vectors.shape[1]))
        size = np.sqrt(FLOOR / count) * max(lengths.max(initial=0.0), 1.0)
        points[informed, vectors.shape[1] :] = noise * size
    points /= np.sqrt(np.mean(np.sum(points[informed] ** 2, axis=1)))
    return points


def _few(data: Merged, informed: NDArray[np.intp], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    n = data.n_objects
    cell = data.anchor.astype(np.int64) * n
    net = np.bincount(cell + data.near, data.weight, n * n) - np.bincount(cell + data.far, data.weight, n * n)
    net = net.reshape(n, n)[np.ix_(informed, informed)]
    net = net + net.T
    net -= net.mean(axis=0)
    net -= net.mean(axis=1, keepdims=True)
    values, vectors = eigh(net, subset_by_index=(len(net) - k, len(net) - 1))
    return values, vectors


def _many(data: Merged, informed: NDArray[np.intp], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    n, count = data.n_objects, len(informed)
    whole, product = np.zeros(n), np.empty(n)

    def centred_product(x: NDArray[Any]) -> NDArray[Any]:
        x = x.ravel()
        whole[informed] = x - x.mean()
        product[:] = 0.0
        _multiply(data.anchor, data.near, data.far, data.weight, whole, product)
        y = product[informed]
        return np.asarray(y - y.mean())

    operator = LinearOperator((count, count), matvec=centred_product, dtype=np.float64)
    first = np.random.default_rng(0).normal(size=count)
    try:
        values, vectors = eigsh(operator, k=k, which="LA", v0=first, tol=1e-2, maxiter=20)  # not exact
    except ArpackNoConvergence as stopped:
        values, vectors = np.real(stopped.eigenvalues), np.real(stopped.eigenvectors)
    # the sign that Lanczos' method returns is not a property of the answers
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return values, vectors * signs


@compiled()
def _multiply(anchor: Any, near: Any, far: Any, weight: Any, x: Any, out: Any) -> None:
    """In: answers, x. In and out: out += (S + S') x."""
    for t in range(anchor.size):
        a, i, j, w = anchor[t], near[t], far[t], weight[t]
        out[a] += w * (x[i] - x[j])
        out[i] += w * x[a]
        out[j] -= w * x[a]
