"""The live view: what the library says about the answers so far. Run as a module, it computes for a server.

Every figure comes from ``nearfar.evaluate`` and the report's own rules; nothing is estimated here.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.ask.answers import Collected, collect
from nearfar.ask.store import is_postgres, researcher
from nearfar.ask.store.transaction import Transaction
from nearfar.errors import NearfarError, NearfarWarning

__all__ = ["aligned", "live_view"]

MODEL = "score"  # needs no optimisation, so it keeps up
FEWEST = 60  # statements before anything is said
Floats = NDArray[np.float64]


def live_view(collected: Collected, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """Agreement, ceiling, people to look at, map and learning curve, as plain data for JSON.

    Parameters
    ----------
    collected : all answers so far.
    before : the view before this one; the new map is turned towards its map.
    """
    answers = collected.triplets
    view: dict[str, Any] = {
        "answers": len(np.unique(answers.statement_ids)),
        "ceiling": None,
        "curve": None,
        "people": [],
        "map": None,
        "objects": [
            {"label": label, "picture": picture}
            for label, picture in zip(collected.labels, collected.pictures, strict=True)
        ],
    }
    if not len(answers):
        return view
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        view["ceiling"] = _ceiling(answers)
        view["people"] = _people(collected)
        if view["answers"] >= FEWEST:
            view["map"] = _map(answers, (before or {}).get("map"))
            view["curve"] = _curve(answers)
    return view


def _ceiling(answers: Any) -> dict[str, Any]:
    from nearfar.evaluate.ceiling import noise_ceiling

    found = noise_ceiling(answers).to_dict()
    return {key: found[key] for key in ("bracket", "agreement", "within", "odd_one_out", "most_central")}


def _curve(answers: Any) -> dict[str, Any]:
    from nearfar.evaluate.curve import learning_curve

    curve = learning_curve(answers, MODEL)
    parts = {
        name: None if (found := getattr(curve, name)) is None else found._asdict()
        for name in ("now", "doubled", "gain")
    }
    return {
        "model": curve.model,
        "points": [point._asdict() for point in curve.points],
        "verdict": curve.verdict,
        **parts,
    }


def _people(collected: Collected) -> list[dict[str, Any]]:
    from nearfar.evaluate.ceiling import noise_ceiling
    from nearfar.report.people import participants

    answers = collected.triplets
    names = [] if answers.participant is None else [str(name) for name in answers.participant.names.tolist()]
    found = participants(answers, {name: name for name in names}, noise_ceiling(answers), None)
    graded: dict[str, list[bool]] = {}
    for check in collected.checks:
        graded.setdefault(check.participant, []).append(check.correct)
    return [
        {
            "name": row.name,
            "answers": row.answers,
            "with_others": row.with_others,
            "with_themselves": row.with_themselves,
            "median_seconds": row.median_seconds,
            "checks": len(graded.get(row.name, ())),
            "checks_correct": sum(graded.get(row.name, ())),
            "reasons": list(row.reasons),
        }
        for row in (found.rows if found is not None else ())
    ]


def _map(answers: Any, before: list[Any] | None) -> list[Any]:
    from nearfar.features import FeatureMap
    from nearfar.methods import KernelPCA

    features = FeatureMap(MODEL)
    points = KernelPCA(n_components=2).fit_transform(features.fit_transform(answers))
    informed = features.informed_
    if before is not None and len(before) == len(points):
        points = aligned(points, informed, before)
    return [
        [round(float(x), 4), round(float(y), 4)] if known else None
        for (x, y), known in zip(points, informed, strict=True)
    ]


def aligned(points: Floats, informed: NDArray[np.bool_], before: list[Any]) -> Floats:
    """The map turned and mirrored so that it lies as near to the one before as possible; shapes stay as they are.

    >>> square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0]])
    >>> turned = square @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> np.allclose(aligned(turned - turned.mean(0), np.ones(3, bool), (square - square.mean(0)).tolist()), square - square.mean(0))
    True
    """
    from scipy.linalg import orthogonal_procrustes

    both = [i for i, place in enumerate(before) if place is not None and informed[i]]
    if len(both) < 3:
        return points
    old = np.array([before[i] for i in both])
    new = points[both]
    turn, _ = orthogonal_procrustes(new - new.mean(axis=0), old - old.mean(axis=0))
    made: Floats = (points - new.mean(axis=0)) @ turn + old.mean(axis=0)
    return made


# ---------------------------------------------------------------- the computing process


def _read(tx: Transaction) -> tuple[Collected, dict[str, Any] | None]:
    view = researcher.get_view(tx)
    return collect(tx), None if view is None else json.loads(view)


def compute(database: str) -> dict[str, Any]:
    """The live view of a database that a server is writing to."""
    if is_postgres(database):
        from nearfar.ask.store.postgres import read_server

        collected, before = read_server(database, _read)
    else:
        from nearfar.ask.store.sqlite import read_file

        collected, before = read_file(Path(database), _read)
    return live_view(collected, before)


def main() -> None:
    """Read a line of JSON that names a database, write the view as a line; end when the server does."""
    if hasattr(os, "nice"):
        os.nice(10)  # people who answer come first
    for line in sys.stdin:
        try:
            told = compute(json.loads(line)["database"])
        except NearfarError as error:
            told = {"error": str(error)}
        except Exception as error:  # a figure that cannot be computed must not end the collecting
            told = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
