"""Two groups of people who see the same objects differently, for tests."""

from functools import cache

import numpy as np

from nearfar import Triplets, design, simulate

N = 12
NAMES = tuple(f"<thing> {i}" for i in range(N))


def study(points_of, per_person, *, seed=0, noise=0.25):
    """Answers of one person for each entry of ``points_of``, the positions that this person sees."""
    parts = []
    for p, points in enumerate(points_of):
        asked = design.random_questions(len(points), per_person, seed=[seed, p])
        said = simulate.answers(asked, points=points, noise=noise, ties="random", seed=[seed, p, 1]).triplets
        parts.append(said.replace(participant=[f"{seed}-{p:02d}"] * len(said)))
    return Triplets.concatenate(parts)


@cache
def two_groups():
    """(answers, participant -> group): six people who see one map, and six who see it with three objects exchanged."""
    points = np.random.default_rng(3).normal(size=(N, 2))
    other = points.copy()
    other[[0, 1, 2]] = points[[1, 2, 0]]
    lists = design.booklets(design.random_questions(NAMES, 300), 12, each=4)
    collections = [
        simulate.answers(
            lists[(lists.participant > 6) == second], points=p, noise=0.2, ties="random", seed=1
        ).triplets
        for second, p in ((False, points), (True, other))
    ]
    groups = {str(p): "novices" if p > 6 else "experts" for p in range(1, 13)}
    return Triplets.concatenate(collections), groups
