"""A study before its first participant: simulated people answer it, straight in a database of their own."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.checks import Seed
from nearfar._tools.progress import step
from nearfar.ask.answers import collect
from nearfar.ask.export import export_folder
from nearfar.ask.live import live_view
from nearfar.ask.prepare import OpenStudy, open_study
from nearfar.ask.store import drawing, researcher
from nearfar.ask.store import people as people_store
from nearfar.ask.store.people import Answer, Arrival
from nearfar.ask.study import Study
from nearfar.design import Booklets, Questions
from nearfar.design.booklets import ROLES
from nearfar.simulate import answers as simulate_answers

__all__ = ["arrive", "choices", "rehearse"]


def rehearse(
    study: Study,
    *,
    people: int | None = None,
    drop_out: float = 0.0,
    noise: float = 0.3,
    seed: int = 0,
    output: Path | None = None,
) -> list[tuple[str, str]]:
    """Simulate a study, one person after the other, a minute apart; lines of what came out.

    Objects lie at random points of the plane, people see distances with ``noise``, and a share of them leaves
    somewhere.
    """
    rng = np.random.default_rng(seed)
    count = study.people.aim if people is None else people
    with tempfile.TemporaryDirectory() as folder:
        ready = open_study(study, str(Path(folder) / "rehearsal.db"))
        try:
            points = rng.standard_normal((len(ready.objects.names), 2))
            with step("simulated people", total=count) as advance:
                for number in range(count):
                    leave = rng.random() < drop_out
                    _visit(ready, number, points, noise, leave, rng)
                    advance(1)
            if output is not None:
                ready.store.read_now(export_folder, output)
            return _lines(ready)
        finally:
            ready.close()


def _visit(
    ready: OpenStudy,
    number: int,
    points: NDArray[np.float64],
    noise: float,
    leave: bool,
    rng: np.random.Generator,
) -> None:
    now, token = 60.0 * number, f"simulated {number}"
    idle = ready.study.people.idle_minutes * 60
    ready.store.write_now(drawing.release_idle, now - idle, rng)
    given = arrive(ready, Arrival(token, f"s{number + 1}", None, {}, now), points, noise, 0.0, rng)
    stay = int(rng.integers(len(given))) if leave else len(given)
    ready.store.write_now(people_store.save_answers, token, given[:stay], ready.plan, now + 30)
    if not leave:
        ready.store.write_now(people_store.finish, token, "CODE", now + 40)


def arrive(
    ready: OpenStudy,
    who: Arrival,
    points: NDArray[np.float64],
    noise: float,
    flip: float,
    rng: np.random.Generator,
) -> list[Answer]:
    """Let somebody start who sees the objects at ``points``; the answers they will give."""
    ready.store.write_now(people_store.start, who, ready.plan, rng)
    places = (ready.store.read_now(people_store.booklet, who.token) or {"places": []})["places"]
    pick = ready.plan.questions.pick
    chosen = choices(ready.study.kind, pick, places, points, noise=noise, flip=flip, seed=rng)
    return [
        Answer(
            str(uuid.UUID(bytes=rng.bytes(16), version=4)),
            place["place"],
            tuple(choice),
            float(1000 * rng.lognormal(0.5, 0.4)),
            0.0,
            None,
        )
        for place, choice in zip(places, chosen, strict=True)
    ]


def choices(
    kind: Any,
    pick: int,
    places: list[dict[str, Any]],
    points: NDArray[np.float64],
    *,
    noise: float,
    flip: float,
    seed: Seed,
) -> list[list[int]]:
    """Positions that somebody who sees the objects at ``points`` chooses at each place of a booklet."""
    if not places:
        return []
    shown = np.array([place["shown"] for place in places], dtype=np.int32)
    questions = Questions(shown, tuple(map(str, range(len(points)))), kind, pick)
    # "answered" would refuse checks as triplets, so they are answered as places of a booklet
    asked = Booklets(
        questions,
        participant=np.zeros(len(shown), dtype=np.int64),
        place=np.arange(len(shown)),
        role=np.array(
            [ROLES.index("check" if len(set(row)) < len(row) else "new") for row in shown.tolist()], np.int8
        ),
        question=np.full(len(shown), -1),
    )
    done = simulate_answers(asked, points=points, noise=noise, flip=flip, ties="random", seed=seed)
    chosen: list[list[int]] = np.asarray(done.choice).reshape(len(places), -1).tolist()
    return chosen


def _lines(ready: OpenStudy) -> list[tuple[str, str]]:
    """What the researcher would want to know before the study begins."""
    balance = np.array(ready.store.read_now(researcher.balance))
    counts = ready.store.read_now(researcher.counts, 0.0)
    view = live_view(ready.store.read_now(collect))
    lines = [
        ("people", f"{sum(counts['people'].values()):,}, {counts['people']['finished']:,} finished"),
        ("answers", f"{counts['answers']:,}"),
        (
            "per question",
            f"{balance[:, 1].min()} to {balance[:, 1].max()} answers, {ready.study.questions.each} wanted",
        ),
    ]
    ceiling = view["ceiling"]
    if ceiling is not None and ceiling["bracket"] is not None:
        low, high = ceiling["bracket"]
        lines.append(("best possible", f"{low:.3f} to {high:.3f} (of these simulated people)"))
    if view["curve"] is not None:
        last = view["curve"]["points"][-1]
        lines.append(
            ("reached", f"{last['accuracy']:.3f} by {view['curve']['model']}: {view['curve']['verdict']}")
        )
    return lines
