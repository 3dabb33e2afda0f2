"""A study before its first participant: simulated people answer it, straight in a database of their own."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path

import numpy as np

from nearfar._tools.progress import step
from nearfar.ask.answers import collect
from nearfar.ask.export import export_folder
from nearfar.ask.live import live_view
from nearfar.ask.prepare import OpenStudy, open_study
from nearfar.ask.store import drawing, researcher
from nearfar.ask.store import people as people_store
from nearfar.ask.store.people import Answer, Arrival
from nearfar.ask.study import Study
from nearfar.ask.visitors import choices

__all__ = ["rehearse"]

MINUTE = 60.0


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
    ready: OpenStudy, number: int, points: np.ndarray, noise: float, leave: bool, rng: np.random.Generator
) -> None:
    now = number * MINUTE
    token = f"simulated {number}"
    idle = ready.study.people.idle_minutes * MINUTE
    ready.store.write_now(drawing.release_idle, now - idle, rng)
    who = Arrival(token, f"s{number + 1}", None, {}, now)
    ready.store.write_now(people_store.start, who, ready.plan, rng)
    places = (ready.store.read_now(people_store.booklet, token) or {"places": []})["places"]
    chosen = choices(
        ready.study.kind, ready.plan.questions.pick, places, points, noise=noise, flip=0.0, seed=rng
    )
    stay = int(rng.integers(len(places))) if leave else len(places)
    sent = [
        Answer(
            str(uuid.UUID(bytes=rng.bytes(16), version=4)),
            place["place"],
            tuple(choice),
            float(1000 * rng.lognormal(0.5, 0.4)),
            0.0,
            None,
        )
        for place, choice in zip(places[:stay], chosen[:stay], strict=True)
    ]
    ready.store.write_now(people_store.save_answers, token, sent, ready.plan, now + 30)
    if not leave:
        ready.store.write_now(people_store.finish, token, "CODE", now + 40)


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
    if ceiling is not None and ceiling["best_possible"] is not None:
        low, high = ceiling["best_possible"]["low"], ceiling["best_possible"]["high"]
        lines.append(("best possible", f"{low:.3f} to {high:.3f} (of these simulated people)"))
    if view["curve"] is not None:
        last = view["curve"]["points"][-1]
        lines.append(
            (
                "reached",
                f"{last['accuracy']:.3f} by {view['curve']['model']}; {view['curve']['verdict']}".rstrip(
                    "; "
                ),
            )
        )
    return lines
