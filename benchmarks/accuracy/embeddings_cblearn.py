"""cblearn's five embeddings on the honest splits; runs in cblearn's environment, one row per fit, resumable.

    benchmarks/accuracy/cblearn_env.sh
    benchmarks/.env/cblearn/bin/python benchmarks/accuracy/embeddings_cblearn.py [SET ...]

Each fit has one start: ``default`` is cblearn's own unit-normal one, ``small`` the same points shrunk (x 0.01 for
SOE, x 0.1 else), because from the unit-normal start it can end far from the best it could do. A fit is stopped
after 600 s with the best points so far (``capped``). ``cpu`` are CPU seconds of the process: on a machine that
others use too they are at most the wall seconds, so they never flatter us.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import cblearn
import numpy as np
import scipy.optimize
from cblearn import embedding
from cblearn.embedding import _ckl, _gnmds, _soe, _ste

HERE = Path(__file__).parent
SPLITS = HERE.parent / ".data" / "embeddings"
ROWS = HERE.parent / "results" / "embeddings-cblearn.jsonl"
CAP = 600.0
SETS = ("car", "musicians", "food", "things")
METHODS = ("CKL", "GNMDS", "SOE", "STE", "TSTE")
SHRINK = {"SOE": 0.01}


class TimeUp(Exception):
    """The cap was reached."""


def capped_minimize(fun, x0, args=(), **options):
    """scipy.optimize.minimize that ends after CAP seconds with the best points it saw."""
    started, best = time.perf_counter(), [np.inf, x0]

    def timed(x, *rest):
        value, gradient = fun(x, *rest)
        if value < best[0]:
            best[:] = value, x.copy()
        if time.perf_counter() - started > CAP:
            raise TimeUp
        return value, gradient

    try:
        return scipy.optimize.minimize(timed, x0, args=args, **options)
    except TimeUp:
        return scipy.optimize.OptimizeResult(
            x=best[1], fun=best[0], nit=-1, success=False, message="time is up"
        )


def accuracy(points, answers):
    anchor, near, far = points[answers.T]
    near_apart, far_apart = ((anchor - near) ** 2).sum(1), ((anchor - far) ** 2).sum(1)
    return float(np.mean((near_apart < far_apart) + 0.5 * (near_apart == far_apart)))


def fit(method, d, start, fold, split):
    n = int(split["n"])
    points = np.random.RandomState(fold).multivariate_normal(np.zeros(d), np.eye(d), size=n)
    if start == "small":
        points *= SHRINK.get(method, 0.1)
    extra = {"n_init": 1} if method == "SOE" else {}
    model = getattr(embedding, method)(n_components=d, random_state=fold, **extra)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(split["train"].astype(np.int64), init=points, n_objects=n)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "accuracy": accuracy(model.embedding_, split["test"]),
        "train_accuracy": accuracy(model.embedding_, split["train"]),
        "loss": float(model.stress_),
        "n_iter": int(model.n_iter_),
        "wall": round(wall, 3),
        "cpu": round(cpu, 3),
        "capped": int(model.n_iter_) < 0,
    }


def main(names):
    for module in (_ckl, _gnmds, _soe, _ste):
        module.minimize = capped_minimize
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    done = set()
    if ROWS.exists():
        for line in ROWS.read_text().splitlines():
            row = json.loads(line)
            done.add((row["set"], row["fold"], row["method"], row["d"], row["start"]))
    for name in names:
        for fold in range(5):
            split = dict(np.load(SPLITS / f"{name}-{fold}.npz"))
            for method in METHODS:
                for d in (2, 5):
                    for start in ("default", "small"):
                        key = (name, fold, method, d, start)
                        if key in done:
                            continue
                        row = {"set": name, "fold": fold, "method": method, "d": d, "start": start}
                        row |= fit(method, d, start, fold, split) | {"cblearn": cblearn.__version__}
                        with ROWS.open("a") as file:
                            file.write(json.dumps(row) + "\n")
                        print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or SETS)
