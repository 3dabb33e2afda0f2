"""Simulated people: they rehearse a study before its first participant, and fill the demo while one watches."""

from __future__ import annotations

import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.checks import Seed
from nearfar._tools.progress import step
from nearfar.ask.passwords import hash_secret, new_secret
from nearfar.ask.prepare import OpenStudy, open_study
from nearfar.ask.store import adaptive, drawing, people, researcher
from nearfar.ask.store.people import Answer, Arrival
from nearfar.ask.study import Study, read_study
from nearfar.datasets import make_colours
from nearfar.datasets.colours import Colours
from nearfar.design import Booklets, Questions, Scheme
from nearfar.design.booklets import ROLES
from nearfar.errors import UnreachableError
from nearfar.simulate import answers as simulate_answers

CARELESS, LEAVING = 0.06, 0.1  # shares of people who do not look, and who leave before the end
STUDY = """title = "Which colour is more similar?"
objects = "objects.csv"
kind = "near"
show = "pictures"

[questions]
design = "landmarks:12"
random = 0.3
again = 0.1
checks = 3
each = 3
per_person = 60

[people]
aim = 100
idle_minutes = 0.2
"""


def rehearse(
    study: Study, *, count: int | None = None, drop_out: float = 0.0, noise: float = 0.3, seed: int = 0,
    output: Path | None = None,
) -> list[tuple[str, str]]:  # fmt: skip
    """Simulate a study in a database of its own, one person after the other, a minute apart; lines of what came out.

    Objects lie at random points of the plane, people see distances with ``noise``, and a share of them leaves
    somewhere.
    """
    from nearfar.ask.export import export_folder

    rng = np.random.default_rng(seed)
    count = study.people.aim if count is None else count
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_study(study, str(Path(folder) / "rehearsal.db"))) as ready,
        step("simulated people", total=count) as advance,
    ):
        points = rng.standard_normal((len(ready.objects.names), 2))
        for number in range(count):
            now, token, leaves = 60.0 * number, f"simulated {number}", rng.random() < drop_out
            ready.store.write_now(drawing.release_idle, now - study.people.idle_minutes * 60, rng)
            ready.store.write_now(
                people.start, Arrival(token, f"s{number + 1}", None, {}, now), ready.plan, rng
            )
            total = (ready.store.read_now(people.booklet, token) or {"total": 0})["total"]
            left = int(rng.integers(total)) if leaves else total
            while left and (answers := _answers(ready, token, points, noise, 0.0, rng)[:left]):
                now += sum(answer.milliseconds or 0 for answer in answers) / 1000
                ready.store.write_now(people.save_answers, token, answers, ready.plan, now)
                left -= len(answers)
                if study.questions.is_adaptive:
                    adaptive.refresh(ready.store, study.questions, now)
            if not leaves:
                ready.store.write_now(people.finish, token, "CODE", now)
            advance(1)
        if output is not None:
            ready.store.read_now(export_folder, output)
        return _lines(ready)


def _lines(ready: OpenStudy) -> list[tuple[str, str]]:
    """What the researcher would want to know before the study begins."""
    from nearfar.ask.answers import collect
    from nearfar.ask.live import live_view
    from nearfar.evaluate.advice import Assumptions
    from nearfar.evaluate.forecast import expected_saving

    plan = ready.study.questions
    answers = np.array(ready.store.read_now(researcher.balance))[:, 1]
    counts = ready.store.read_now(researcher.counts, 0.0)
    view = live_view(ready.store.read_now(collect))
    spread = f"{answers.min()} to {answers.max()} answers, {plan.wanted:.0f} wanted"
    lines = [
        ("people", f"{sum(counts['people'].values()):,}, {counts['people']['finished']:,} finished"),
        ("answers", f"{counts['answers']:,}"),
        ("per question", spread + " of each random one" * plan.is_adaptive),
    ]
    if possible := (view["ceiling"] or {}).get("best_possible"):
        interval = f"{possible['low']:.3f} to {possible['high']:.3f}"
        lines.append(("best possible", f"{interval} (of these simulated people)"))
    if (curve := view["curve"]) is not None:
        accuracy = f"{curve['points'][-1]['accuracy']:.3f} by {curve['model']}"
        lines.append(("reached", f"{accuracy}; {curve['verdict']}".rstrip("; ")))
    if plan.is_adaptive:
        scheme = Scheme(ready.study.kind, size=plan.options, pick=plan.pick)
        people = sum(counts["people"].values())
        told = expected_saving(len(ready.objects.names), people, scheme, Assumptions(), per_person=plan.n_new)
        lines.append(("adaptive", str(told)))
    return lines


def _answers(
    ready: OpenStudy, token: str, points: NDArray[np.float64], noise: float, flip: float, rng: np.random.Generator
) -> list[Answer]:  # fmt: skip
    """What somebody who sees the objects at ``points`` answers next."""
    booklet = ready.store.read_now(people.booklet, token) or {"places": []}
    places = [place for place in booklet["places"] if not place["answered"]]
    pick = ready.plan.questions.pick
    chosen = choices(ready.study.kind, pick, places, points, noise=noise, flip=flip, seed=rng)
    ids = [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in places]
    times = (1000 * rng.lognormal(0.5, 0.4, len(places))).tolist()
    said = zip(ids, places, chosen, times, strict=True)
    return [Answer(id, place["place"], tuple(choice), time, 0.0, None) for id, place, choice, time in said]


def choices(
    kind: Any, pick: int, places: list[dict[str, Any]], points: NDArray[np.float64], *, noise: float, flip: float,
    seed: Seed,
) -> list[list[int]]:  # fmt: skip
    """Positions that somebody who sees the objects at ``points`` chooses at each place of a booklet."""
    if not places:
        return []
    shown = np.array([place["shown"] for place in places], dtype=np.int32)
    is_check = [len(set(row)) < len(row) for row in shown.tolist()]
    asked = Booklets(  # of questions alone, those about one object twice would be refused
        Questions(shown, tuple(map(str, range(len(points)))), kind, pick),
        participant=np.zeros(len(shown), dtype=np.int64),
        place=np.arange(len(shown)),
        role=np.where(is_check, ROLES.index("check"), ROLES.index("new")).astype(np.int8),
        question=np.full(len(shown), -1),
    )
    simulated = simulate_answers(asked, points=points, noise=noise, flip=flip, ties="random", seed=seed)
    chosen: list[list[int]] = np.asarray(simulated.choice).reshape(len(places), -1).tolist()
    return chosen


# ---------------------------------------------------------------- the demo


def demo_study(folder: Path) -> tuple[Study, Colours]:
    """Write the study file, the list of colours and their pictures into a folder."""
    colours = make_colours(0)
    colours.write(folder)
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    return read_study(folder / "study.toml"), colours


def _visit(ready: OpenStudy, points: NDArray[np.float64], number: int, pause: float) -> None:
    """One person; a few do not look, a few leave."""
    rng, token = np.random.default_rng(number), hash_secret(new_secret())
    flip = 0.5 if rng.random() < CARELESS else 0.02
    who = Arrival(token, f"p{number + 1}", None, {}, time.time())
    ready.store.write_now(people.start, who, ready.plan, rng)
    answers = _answers(ready, token, points, float(rng.uniform(0.1, 0.35)), flip, rng)
    leaves = rng.random() < LEAVING
    for answer in answers[: int(rng.integers(5, 50)) if leaves else None]:
        seconds = pause * (0.5 + rng.random())
        time.sleep(seconds)
        given = replace(answer, milliseconds=1000 * seconds)
        ready.store.write_now(people.save_answers, token, [given], ready.plan, time.time())
    if not leaves:
        ready.store.write_now(people.finish, token, "", time.time())


def run_demo(port: int, say: Callable[[str], None], *, pause: float = 0.25) -> None:
    """Serve the study of colours until Ctrl-C; a hundred people come meanwhile, a dozen at a time."""
    from nearfar.ask.serve import serve

    with tempfile.TemporaryDirectory() as folder:
        study, colours = demo_study(Path(folder))
        with closing(open_study(study)) as ready:

            def come(first: int) -> None:
                with suppress(UnreachableError):  # the server was stopped
                    for number in range(first, 100, 12):
                        _visit(ready, colours.truth.points, number, pause)

            def started() -> None:
                say(f"watch:    http://127.0.0.1:{port}/admin   password: {ready.password}")
                say(f"take part: http://127.0.0.1:{port}/")
                for first in range(12):
                    threading.Thread(target=come, args=[first], daemon=True).start()

            serve(ready, port=port, started=started)
