"""Five small sets whose distances are known: four in the plane, and a graph full of ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.checks import Seed, generator
from nearfar.errors import InputError

Name = Literal["gaussians", "moons", "rings", "square", "blocks"]
TOYS: tuple[Name, ...] = ("gaussians", "moons", "rings", "square", "blocks")


@dataclass(frozen=True, eq=False)
class Toy:
    """Objects with known distances, sorted by label.

    Parameters
    ----------
    name : which of the five.
    distances : (n, n) distances; Euclidean, or numbers of edges for the graph.
    labels : (n,) the group each object was drawn from; all 0 for the square, which has none.
    points : (n, 2) coordinates in the plane; None for the graph.

    Examples
    --------
    >>> toy = make_toy("moons", 20)
    >>> toy.name, toy.points.shape, toy.labels.tolist().count(0)
    ('moons', (20, 2), 10)
    """

    name: str
    distances: NDArray[np.float64]
    labels: NDArray[np.int64]
    points: NDArray[np.float64] | None


def make_toy(name: Name, n: int = 400, seed: Seed = 0) -> Toy:
    """One of five toy sets, after those on which the paper looks at its kernels (section 2.2, 400 points each).

    "gaussians": three round clouds of different widths. "moons": two half circles that interlock. "rings": a
    circle around a cloud. "square": uniform, no groups, sorted from left to right. "blocks": a stochastic block
    model of four blocks, an object having 15 expected neighbours in its own block and 3 outside; the distance is
    the number of edges on a shortest path, so most comparisons are ties. The paper's own draws are not published;
    these follow its description, four sets in the plane and a graph, in our own choice of shapes.

    Parameters
    ----------
    name : "gaussians", "moons", "rings", "square" or "blocks".
    n : number of objects.
    seed : whole number; the same seed gives the same set.

    >>> toy = make_toy("blocks")
    >>> toy.distances.shape, sorted(set(toy.distances.ravel().tolist()))[:4]
    ((400, 400), [0.0, 1.0, 2.0, 3.0])
    """
    if name not in TOYS:
        raise InputError(f"name: {name!r} is not a toy set; expected one of {', '.join(TOYS)}")
    if n < 4:
        raise InputError(f"n: a toy set needs at least 4 objects, got {n}")
    rng = generator(seed)
    if name == "blocks":
        labels = np.arange(n) * 4 // n
        return Toy(name, _graph_distances(labels, rng), labels, None)
    points, labels = _plane(name, n, rng)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    return Toy(name, apart, labels, points)


def _plane(name: Name, n: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if name == "square":
        points = rng.uniform(0, 1, (n, 2))
        return points[np.argsort(points[:, 0])], np.zeros(n, dtype=np.int64)
    groups = 3 if name == "gaussians" else 2
    labels = np.arange(n) * groups // n
    noise = rng.normal(0, 1, (n, 2))
    if name == "gaussians":
        centres, widths = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]]), np.array([0.6, 1.0, 1.4])
        return centres[labels] + widths[labels, None] * noise, labels
    if name == "moons":
        angle = rng.uniform(0, np.pi, n)
        bow = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        turned = np.array([1.0, 0.5]) - bow
        return np.where(labels[:, None] == 0, bow, turned) + 0.08 * noise, labels
    angle = rng.uniform(0, 2 * np.pi, n)
    circle = 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.15 * noise
    return np.where(labels[:, None] == 0, 0.5 * noise, circle), labels


def _graph_distances(labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Edges on shortest paths in a graph of four blocks: 15 neighbours expected in the own block, 3 outside."""
    from scipy.sparse.csgraph import shortest_path

    n = len(labels)
    own = labels[:, None] == labels[None]
    chance = np.where(own, 15 / max(1, n // 4 - 1), 3 / max(1, n - n // 4))
    while True:  # a graph in pieces has infinite distances; at these degrees that hardly ever comes up
        edges = np.triu(rng.random((n, n)) < np.minimum(chance, 1), 1)
        distances = shortest_path(edges | edges.T, unweighted=True)
        if np.isfinite(distances).all():
            return np.asarray(distances, dtype=np.float64)
