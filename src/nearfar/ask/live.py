"""The live view: what the library says about the answers so far. Run as a module, it computes for a server.

Every figure comes from ``nearfar.evaluate``; nothing is estimated here.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from nearfar import words
from nearfar._tools.records import plain
from nearfar.ask.answers import Collected, collect
from nearfar.ask.store import adaptive, read_store, researcher
from nearfar.ask.store.transaction import Transaction
from nearfar.errors import NearfarError, NearfarWarning
from nearfar.evaluate.analysis import Analysis
from nearfar.evaluate.bootstrap import Estimate
from nearfar.evaluate.map_stability import align, along_axes, radius
from nearfar.evaluate.saving import at_any_time, saving
from nearfar.io.vectors import read_named_vectors
from nearfar.space.space import Space
from nearfar.triplets import Triplets

MODEL = "score"  # needs no optimisation, so it keeps up
WITH_VECTORS = "soe-2"  # kernels are made of answers alone
ADAPTIVE = "ste-4"  # kernels count answers, whatever was asked; the saving is measured with it, too
FEWEST = 60  # statements before anything is said
MORE = 1.25  # times the answers, and the saving is measured again
ENOUGH_TO_TURN = 3  # objects on both maps


def live_view(
    collected: Collected, before: dict[str, Any] | None = None, features: Sequence[str] = (), aim: int = 20
) -> dict[str, Any]:
    """Agreement, ceiling, participants to check, map, learning curve and what adaptive questions save, as plain data for JSON.

    Parameters
    ----------
    collected : all answers so far.
    before : the view before this one; the new map is turned towards its map.
    aim : how many participants are wanted.
    features : files with vectors of the objects, as FILE or NAME=FILE; an embedding with them then takes the place of the kernel.
    """
    answers = collected.triplets
    model = WITH_VECTORS if features else MODEL if collected.control is None else ADAPTIVE
    shown = zip(collected.display_names, collected.pictures, strict=True)
    view: dict[str, Any] = dict.fromkeys(("ceiling", "curve", "accuracy", "adaptive", "balance", "map")) | {
        "answers": len(np.unique(answers.statement_ids)),
        "people": [],
        "model": model,
        "objects": [{"display_name": name, "picture": picture} for name, picture in shown],
    }
    if not len(answers):
        return view
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)
        vectors = read_named_vectors(features) if features else None
        analysis = Analysis(answers, model, models=[model], features=vectors)
        view["model"] = analysis.chosen.name
        enough = view["answers"] >= FEWEST and len(analysis.splits) > 0
        possible = plain(analysis.ceiling.best_possible)
        n_people = 0 if answers.participant is None else len(answers.participant.known)
        view["ceiling"] = {"best_possible": possible, **words.ceiling(analysis.ceiling, n_people)._asdict()}
        view["people"] = _people(collected, analysis)
        if enough:
            view["map"] = _map(analysis.space, (before or {}).get("map"))
            curve = analysis.curve
            view["curve"] = curve and {**curve.to_dict(), **words.curve(curve)._asdict()}
            view["accuracy"] = curve and _accuracy(curve.points[-1], n_people, aim)
        view["adaptive"] = _adaptive(collected, (before or {}).get("adaptive"))
        view["balance"] = _balance(answers)
    return view


def _accuracy(point: Any, n_people: int, aim: int) -> dict[str, Any] | None:
    """The accuracy with an interval that holds at every look; None where nobody knows who answered, or only few did."""
    if not n_people or not np.isfinite(point.high - point.low):
        return None
    held = at_any_time(Estimate(point.accuracy, point.low, point.high), n_people, aim)
    held = Estimate(held.value, max(held.low, 0.0), min(held.high, 1.0))
    return {**plain(held), "text": words.accuracy_at_any_time(held)}


def _adaptive(collected: Collected, before: dict[str, Any] | None) -> dict[str, Any] | None:
    """What adaptive questions have saved; measured again when the control participants have given a quarter more answers."""
    if collected.control is None:
        return None
    who = collected.triplets.participant
    size = 0 if who is None else int(np.isin(np.asarray(who), collected.control).sum())
    if before is not None and size < MORE * before["size"]:
        return before
    found = saving(collected.triplets, collected.control)
    return {"size": size, "harms": bool(found and found.harms), "text": words.saving(found)}


def _balance(answers: Triplets) -> str | None:
    """How often an object was in an adaptive question, and its anchor where it has one; None without such questions."""
    rows = answers[np.flatnonzero(np.asarray(answers.rule) == "adaptive")]
    asked, often = rows.statement_ids, []
    for objects in (rows.anchor[:, None], rows.array):
        pairs = np.unique(np.stack([np.repeat(asked, objects.shape[1]), objects.ravel()]), axis=1)
        often.append(np.bincount(pairs[1], minlength=rows.n_objects))
    anchored = often[0].sum() == len(np.unique(asked))  # an odd one out makes triplets of two anchors
    return words.adaptive_balance(*often[not anchored :]) if len(rows) else None


def _people(collected: Collected, analysis: Analysis) -> list[dict[str, Any]]:
    people = analysis.people
    if people is None:
        return []
    graded: dict[str, list[bool]] = {}
    for name, correct in collected.checks.select("participant", "correct").iter_rows():
        graded.setdefault(name, []).append(correct)
    return [
        {
            "name": row.name,
            "answers": row.statements,
            "with_others": row.with_others and row.with_others.value,
            "with_themselves": row.with_themselves and row.with_themselves.value,
            "median_seconds": row.median_seconds,
            "checks": len(graded.get(row.name, ())),
            "checks_correct": sum(graded.get(row.name, ())),
            "reason": words.reason(row, people),
        }
        for row in people.rows
    ]


def _map(space: Space, before: list[Any] | None) -> list[Any]:
    """Coordinates, or None for objects that nothing is known about; turned towards the map before."""
    points = np.where(space.informed[:, None], space.map(2), np.nan)
    aligned = along_axes(points)
    if before is not None and len(before) == len(points):
        old = np.array([[np.nan, np.nan] if point is None else point for point in before])
        if np.isfinite(old).all(axis=1).sum() >= ENOUGH_TO_TURN:
            aligned = align(points, old)
            aligned = aligned / radius(aligned)  # fitting onto noise shrinks a little every time
    return [None if np.isnan(row).any() else [round(float(x), 4) for x in row] for row in aligned]


def _read(tx: Transaction, features: Sequence[str]) -> tuple[Any, ...]:
    """What ``live_view`` is computed from."""
    view, study = researcher.get_view(tx), researcher.study_row(tx) or {}
    aim = tomllib.loads(study["toml"]).get("people", {}).get("aim", 20)
    return collect(tx), None if view is None else json.loads(view), features, aim


def main() -> None:
    """Read a line of JSON that names a database, write the view, or a model's questions, as a line; end when the server does."""
    if hasattr(os, "nice"):
        os.nice(10)  # people who answer come first
    warnings.simplefilter("ignore")  # the page says what is known; the terminal is the server's
    told: dict[str, Any]
    for line in sys.stdin:
        try:
            asked = json.loads(line)
            if "model" in asked:
                vectors = read_named_vectors(asked["features"]) if asked["features"] else None
                made = read_store(asked["database"], adaptive.choose, asked["model"], vectors)
                told = {"questions": made or []}  # none where somebody was erased meanwhile
            else:
                told = live_view(*read_store(asked["database"], _read, asked["features"]))
        except Exception as error:  # a figure that cannot be computed must not end the collecting
            named = "" if isinstance(error, NearfarError) else f"{type(error).__name__}: "
            told = {"error": f"{named}{error}"}
        try:
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:  # the server is gone
            os._exit(0)


if __name__ == "__main__":
    main()
