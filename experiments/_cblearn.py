"""Runs in cblearn's own environment: one fit, answers in, points out.

    python _cblearn.py ANSWERS.npz POINTS.npz METHOD D START SEED

START is "default", cblearn's own unit-normal points, or "small", the same points shrunk (x 0.01 for SOE, x 0.1
else): from the unit-normal start it can end far from the best it could do. A fit is stopped after CAP CPU seconds
with the best points so far. Nothing of nearfar is imported here.
"""

from __future__ import annotations

import sys
import time

import cblearn
import numpy as np
import scipy.optimize
from cblearn import embedding
from cblearn.embedding import _ckl, _gnmds, _soe, _ste

CAP = 600.0  # CPU seconds of one fit


class TimeUp(Exception):
    """The cap was reached."""


def capped_minimize(fun, x0, args=(), **options):
    """scipy.optimize.minimize that ends after CAP seconds with the best points it saw."""
    started, best = time.process_time(), [np.inf, x0]

    def watched(x, *rest):
        value, gradient = fun(x, *rest)
        if value < best[0]:
            best[:] = value, x.copy()
        if time.process_time() - started > CAP:
            raise TimeUp
        return value, gradient

    try:
        return scipy.optimize.minimize(watched, x0, args=args, **options)
    except TimeUp:
        return scipy.optimize.OptimizeResult(
            x=best[1], fun=best[0], nit=-1, success=False, message="time is up"
        )


def main(answers, points, method, d, start, seed):
    for module in (_ckl, _gnmds, _soe, _ste):
        module.minimize = capped_minimize
    with np.load(answers) as given:
        triplets, n = given["triplets"].astype(np.int64), int(given["n"])
    first = np.random.RandomState(int(seed)).normal(size=(n, int(d)))
    if start == "small":
        first *= 0.01 if method == "SOE" else 0.1
    one_start = {"n_init": 1} if method == "SOE" else {}
    model = getattr(embedding, method)(n_components=int(d), random_state=int(seed), **one_start)
    begun = time.process_time()
    model.fit(triplets, init=first, n_objects=n)
    seconds = time.process_time() - begun
    capped = int(model.n_iter_) < 0
    np.savez(points, points=model.embedding_, seconds=seconds, capped=capped, version=cblearn.__version__)


if __name__ == "__main__":
    main(*sys.argv[1:])
