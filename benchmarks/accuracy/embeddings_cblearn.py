"""cblearn's five embeddings on the same answers; runs in cblearn's environment, one row per fit, resumable.

    benchmarks/accuracy/cblearn_env.sh
    python -m benchmarks.accuracy.embeddings_data
    OMP_NUM_THREADS=1 benchmarks/.env/cblearn/bin/python benchmarks/accuracy/embeddings_cblearn.py [SET ...]

Each fit has one start: ``default`` is cblearn's own unit-normal one, ``small`` the same points shrunk (x 0.01 for
SOE, x 0.1 else), because from the unit-normal start it can end far from the best it could do. A fit is stopped
after 600 CPU seconds with the best points so far (``capped``). ``cpu`` are CPU seconds of the process: on a machine that
others use too they are at most the wall seconds, so they never flatter us. One BLAS thread, because L-BFGS on more
is slower here, not faster. On digits, t-STE and SOE from the default start only, at five dimensions.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import cblearn
import numpy as np
import scipy.optimize
from cblearn import embedding
from cblearn.embedding import _ckl, _gnmds, _soe, _ste

HERE = Path(__file__).parent
SPLITS = HERE.parent / ".data" / "embeddings"
ROWS = HERE.parent / "results" / "embeddings-cblearn.jsonl"
LOSSES = HERE.parent / "results" / "embeddings-cblearn-losses.json"
CAP = 600.0
SETS = ("car", "musicians", "food", "things", "digits")
SHRINK = {"SOE": 0.01}


def cases(name):
    """(method, dimensions, start) to fit on a set."""
    if name == "digits":
        return [("TSTE", 5, "default"), ("SOE", 5, "default")]
    methods = ("CKL", "GNMDS", "SOE", "STE", "TSTE")
    return [(method, d, start) for method in methods for d in (2, 5) for start in ("default", "small")]


class TimeUp(Exception):
    """The cap was reached."""


def capped_minimize(fun, x0, args=(), **options):
    """As scipy.optimize.minimize, but it ends after CAP CPU seconds with the best points it saw."""
    started, best = time.process_time(), [np.inf, x0]

    def timed(x, *rest):
        value, gradient = fun(x, *rest)
        if value < best[0]:
            best[:] = value, x.copy()
        if time.process_time() - started > CAP:
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
        "cblearn": cblearn.__version__,
    }


def write_losses():
    """cblearn's loss and gradient at given points, for embeddings.py to compare with ours."""
    data = np.load(SPLITS / "points.npz")
    rows, result = data["rows"].astype(np.int64), {}
    for d in (2, 5):
        points = data[f"points{d}"]
        x, shape = points.ravel(), points.shape
        found = {
            "GNMDS": _gnmds._gnmds_x_grad(x, shape, rows, 0.0),
            "CKL mu=0": _ckl._ckl_x_loss(x, shape, rows, 0.0),
            "CKL mu=0.5": _ckl._ckl_x_loss(x, shape, rows, 0.5),
            "STE": _ste._ste_x_grad(x, shape, rows, False),
            "TSTE": _ste._ste_x_grad(x, shape, rows, True),
            "SOE": _soe._soe_loss(x, shape, rows[:, [0, 1, 0, 2]], 0.1),
        }
        for name, (loss, gradient) in found.items():
            mean = 1 if name == "SOE" else len(rows)  # cblearn's SOE is a mean already, the others are sums
            result[f"{name} d={d}"] = {
                "loss": float(loss) / mean,
                "gradient": (gradient / mean).tolist(),
            }
    LOSSES.write_text(json.dumps(result) + "\n")


def main(names):
    warnings.simplefilter("ignore", DeprecationWarning)
    write_losses()
    for module in (_ckl, _gnmds, _soe, _ste):
        module.minimize = capped_minimize
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    done = {(row["set"], row["fold"], row["method"], row["d"], row["start"]) for row in rows}
    for name in names:
        for fold in range(5):
            split = dict(np.load(SPLITS / f"{name}-{fold}.npz"))
            for method, d, start in cases(name):
                if (name, fold, method, d, start) in done:
                    continue
                row = {"set": name, "fold": fold, "method": method, "d": d, "start": start}
                row |= fit(method, d, start, fold, split)
                with ROWS.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or SETS)
