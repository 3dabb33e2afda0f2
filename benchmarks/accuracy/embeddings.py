"""Our embeddings beside cblearn's: held-out accuracy on the same splits, seconds, and the losses themselves.

    python -m benchmarks.accuracy.embeddings_data      # and embeddings_cblearn.py, see there
    python -m benchmarks.accuracy.embeddings           # fits ours, writes results/embeddings.json, prints the table
    python -m benchmarks.accuracy.embeddings --kept    # the table again, when the peer's rows have grown

Of cblearn's two starts the better one counts (by mean accuracy), with its own seconds. Seconds are CPU seconds of
the whole process, all threads added up: wall seconds on a busy machine say more about the others on it. Ours are
the median of three fits after one that compiles. ``paired`` is the mean over five splits of our accuracy minus
cblearn's, with its standard error; the aim is at least -max(0.005, one standard error).
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks._measure import RESULTS, save
from benchmarks.accuracy.embeddings_data import FOLDS, SPLITS
from nearfar import embedding
from nearfar.embedding.loop import Loop, merge
from nearfar.errors import NearfarWarning
from nearfar.triplets import Triplets

METHODS = ("GNMDS", "CKL", "STE", "TSTE", "SOE")
CASES = [(name, d) for name in ("car", "musicians", "food", "things") for d in (2, 5)] + [("digits", 5)]


def accuracy(points: Any, answers: Any) -> float:
    anchor, near, far = points[answers.T]
    near_apart, far_apart = ((anchor - near) ** 2).sum(1), ((anchor - far) ** 2).sum(1)
    return float(np.mean((near_apart < far_apart) + 0.5 * (near_apart == far_apart)))


def fit(method: str, d: int, answers: Triplets, test: Any, repeat: int = 3) -> dict[str, Any]:
    walls, cpus = [], []
    model = getattr(embedding, method)(d)
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(answers)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {
        "accuracy": accuracy(model.embedding_, test),
        "train_accuracy": accuracy(model.embedding_, answers.array),
        "loss": model.loss_,
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "wall": statistics.median(walls),
        "cpu": statistics.median(cpus),
    }


def ours() -> list[dict[str, Any]]:
    rows = []
    for name, d in CASES:
        for fold in range(FOLDS):
            path = SPLITS / f"{name}-{fold}.npz"
            if not path.exists():
                continue
            split = np.load(path)
            answers = Triplets.from_array(split["train"], n_objects=int(split["n"]))
            for method in METHODS:
                if not rows:
                    fit(method, d, answers, split["test"], repeat=1)  # compiles
                rows.append({"set": name, "fold": fold, "method": method, "d": d})
                rows[-1] |= fit(method, d, answers, split["test"])
    return rows


def theirs() -> dict[tuple[str, int, str, str], dict[int, dict[str, Any]]]:
    """(set, d, method, start) -> fold -> row."""
    found: dict[tuple[str, int, str, str], dict[int, dict[str, Any]]] = {}
    path = RESULTS / "embeddings-cblearn.jsonl"
    for line in path.read_text().splitlines() if path.exists() else []:
        row = json.loads(line)
        found.setdefault((row["set"], row["d"], row["method"], row["start"]), {})[row["fold"]] = row
    return found


def mean(rows: list[dict[str, Any]], column: str) -> float:
    return float(np.mean([row[column] for row in rows]))


def beside(rows: list[dict[str, Any]], peers: dict[tuple[str, int, str, str], Any]) -> list[dict[str, Any]]:
    """One line per set, dimension and method; ``folds`` says how many of the peer's fits there are so far."""
    table = []
    for name, d in CASES:
        for method in METHODS:
            own = [row for row in rows if (row["set"], row["d"], row["method"]) == (name, d, method)]
            if not own:
                continue
            line = {"set": name, "d": d, "method": method, "ours": mean(own, "accuracy")}
            line |= {"n_iter": mean(own, "n_iter"), "cpu": mean(own, "cpu"), "wall": mean(own, "wall")}
            starts = [
                peers[key] for start in ("default", "small") if (key := (name, d, method, start)) in peers
            ]
            shared = sorted(set.intersection(*map(set, starts))) if starts else []
            table.append(line | (compared(own, starts, shared) if shared else {}))
    return table


def compared(own: list[dict[str, Any]], starts: list[dict[int, Any]], folds: list[int]) -> dict[str, Any]:
    """Ours minus the better of the peer's starts, on the folds that both have."""
    by_fold = {row["fold"]: row for row in own}
    peer = max(
        ([start[fold] for fold in folds] for start in starts), key=lambda found: mean(found, "accuracy")
    )
    mine = [by_fold[fold] for fold in folds]
    gaps = np.array([a["accuracy"] - b["accuracy"] for a, b in zip(mine, peer, strict=True)])
    error = float(gaps.std(ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else 0.0
    return {
        "folds": len(folds),
        "cblearn": mean(peer, "accuracy"),
        "start": peer[0]["start"],
        "paired": float(gaps.mean()),
        "error": error,
        "cblearn_cpu": mean(peer, "cpu"),
        "times_faster": mean(peer, "cpu") / mean(mine, "cpu"),
        "capped": sum(row["capped"] for row in peer),
        "held": bool(gaps.mean() >= -max(0.005, error)),
    }


def losses_agree() -> list[dict[str, Any]]:
    """Largest difference between our loss and gradient and cblearn's, at the same points."""
    data = np.load(SPLITS / "points.npz")
    path = RESULTS / "embeddings-cblearn-losses.json"
    rows: list[dict[str, Any]] = []
    if not path.exists():
        return rows
    merged = merge(Triplets.from_array(data["rows"], n_objects=30))
    for name, peer in json.loads(path.read_text()).items():
        words = name.split()
        d = int(words[-1].removeprefix("d="))
        model = getattr(embedding, words[0])(d)
        parameter = float(words[1].removeprefix("mu=")) if len(words) == 3 else model._parameter()
        loop = Loop(merged, model._kind, parameter, d)
        total, gradient = loop(np.ascontiguousarray(data[f"points{d}"]))
        m = len(data["rows"])
        gap = np.abs(gradient.ravel() / m - peer["gradient"]).max()
        rows.append({"loss": name, "ours": total / m, "cblearn": peer["loss"]})
        rows[-1]["relative_difference"] = abs(total / m - peer["loss"]) / peer["loss"]
        rows[-1]["gradient_difference"] = float(gap / np.abs(peer["gradient"]).max())
    return rows


def show(table: list[dict[str, Any]]) -> None:
    print("set        d method   ours  cblearn  paired (error)    n_iter  seconds  cblearn  times faster")
    for line in table:
        text = f"{line['set']:10s} {line['d']} {line['method']:6s}  {line['ours']:.3f}"
        if "cblearn" in line:
            text += f"   {line['cblearn']:.3f}  {line['paired']:+.4f} ({line['error']:.4f})"
            text += f"  {line['n_iter']:6.0f}  {line['cpu']:7.3f}  {line['cblearn_cpu']:7.2f}  {line['times_faster']:6.0f}"
            text += "" if line["held"] else "  below the aim"
            text += "" if line["folds"] == FOLDS else f"  ({line['folds']} of {FOLDS} splits)"
            text += f"  ({line['capped']} fits capped)" if line["capped"] else ""
        else:
            text += f"{'':28s}{line['n_iter']:6.0f}  {line['cpu']:7.3f}"
        print(text)
    known = [line for line in table if "cblearn" in line and line["set"] != "digits"]
    if known:
        faster = sorted(line["times_faster"] for line in known)
        print(
            f"times faster: median {statistics.median(faster):.0f}, least {faster[0]:.1f}, cases {len(faster)}"
        )
    for name, d in CASES:
        lines = [line for line in known if (line["set"], line["d"]) == (name, d)]
        if lines:
            peer = max(lines, key=lambda line: line["cblearn"])
            best = max(lines, key=lambda line: line["cblearn"] + line["paired"])  # ours, on the peer's splits
            ours = best["cblearn"] + best["paired"]
            print(
                f"best on {name}, d={d}: {best['method']} {ours:.4f}, cblearn's {peer['method']} {peer['cblearn']:.4f}"
            )


def page(table: list[dict[str, Any]]) -> str:
    """The table of docs/embeddings.md: ours / cblearn (times faster)."""
    lines = [f"| set | d | {' | '.join(METHODS)} |", "|---|---|" + "---|" * len(METHODS)]
    for name, d in CASES:
        cells = []
        for line in (line for line in table if (line["set"], line["d"]) == (name, d)):
            peer = f" / {line['cblearn']:.3f} ({line['times_faster']:.0f} x)" if "cblearn" in line else ""
            cells.append((f"{line['ours']:.3f}" + peer).replace("0.", "."))
        lines.append(f"| {name} | {d} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Fit ours, or with ``--kept`` take the rows of the last run; then compare."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        if "--kept" in sys.argv:
            rows = json.loads((RESULTS / "embeddings.json").read_text())["rows"]
        else:
            rows = ours()
            save("embeddings", rows)
    table = beside(rows, theirs())
    save("embeddings-beside-cblearn", table)
    show(table)
    print(page(table))
    agreement = losses_agree()
    save("embeddings-losses", agreement)
    for row in agreement:
        print(f"{row['loss']:14s} ours {row['ours']:.12f}, difference {row['relative_difference']:.1e}, "
              f"gradient {row['gradient_difference']:.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
