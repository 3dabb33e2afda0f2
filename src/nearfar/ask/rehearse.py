"""Simulated people: they rehearse a study before its first participant, and fill the demo while one watches."""

from __future__ import annotations

import json
import math
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.checks import Seed
from nearfar._tools.progress import step
from nearfar.ask.forms import PAGES, FormField, Value, check_values
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

MOST_LOOKS = 40  # at the accuracy, with stop_width
CARELESS, LEAVING = 0.06, 0.1  # shares of people who do not look, and who leave before the end


def rehearse(
    study: Study, *, count: int | None = None, drop_out: float = 0.0, noise: float = 0.3, seed: int = 0,
    output: Path | None = None,
) -> list[tuple[str, str]]:  # fmt: skip
    """Simulate a study in a database of its own, one person after the other, a minute apart or more; lines of what came out.

    Objects lie at random points of the plane, people see distances with ``noise``, and a share of them leaves
    somewhere. They fill in forms at random, and come with a parameter that assigns the condition in turn.
    A study with ``stop_width`` stops when it would.
    """
    from nearfar.ask.answers import collect
    from nearfar.ask.export import export_folder
    from nearfar.ask.live import live_view

    rng = np.random.default_rng(seed)
    width, view, said, now = study.people.stop_width, None, "", 0.0
    count, by = study.people.aim if count is None else count, study.people.assign.partition(":")[2]
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_study(study, str(Path(folder) / "rehearsal.db"))) as ready,
        step("simulated people", total=count) as advance,
    ):
        points = rng.standard_normal((len(ready.objects.names), 2))
        for number in range(count):
            token, leaves = f"simulated {number}", rng.random() < drop_out
            now = max(now, 60.0 * number)  # models use answers in the order of their times
            ready.store.write_now(drawing.release_idle, now - study.people.idle_minutes * 60, rng)
            details = {by: study.conditions[number % len(study.conditions)].name} if by else {}
            who = Arrival(token, f"s{number + 1}", None, details, now)
            if ready.store.write_now(people.start, who, ready.plan, rng) == "paused":
                break
            total = (ready.store.read_now(people.booklet, token) or {"total": 0})["total"]  # 0: it was full
            left = int(rng.integers(max(total, 1))) if leaves else total
            _fill(ready, token, PAGES[:2], rng, now)
            while left and (answers := _answers(ready, token, points, noise, 0.0, rng)[:left]):
                now += sum(answer.milliseconds or 0 for answer in answers) / 1000
                ready.store.write_now(people.save_answers, token, answers, ready.plan, now)
                left -= len(answers)
                if study.questions.is_adaptive:
                    adaptive.refresh(ready.store, study.questions, now)
            if not leaves:
                _fill(ready, token, PAGES[2:], rng, now)
                ready.store.write_now(people.finish, token, "CODE", now, study)
            if width and number % (1 + count // MOST_LOOKS) == 0:
                view = live_view(ready.store.read_now(collect), view, aim=study.people.aim)
                said = ready.store.write_now(researcher.act_on_view, json.dumps(view), width, now) or said
            advance(1)
        if output is not None:
            ready.store.read_now(export_folder, output)
        stopped = [("stop_width", said or f"{width} was not reached")] if width else []
        return _lines(ready, noise, seed) + stopped


def _fill(ready: OpenStudy, token: str, pages: Sequence[str], rng: np.random.Generator, now: float) -> None:
    """Fill in pages of the form."""
    for page in pages:
        if fields := ready.study.page(page):
            values, _ = check_values(fields, {one.name: _value(one, rng) for one in fields})
            ready.store.write_now(people.save_form, token, page, values, True, now)


def _value(field: FormField, rng: np.random.Generator) -> Value:
    """What somebody may give, at random; where one answer is right, that."""
    low, high = field.least or 0.0, field.most or 0.0
    if field.right is not None:
        return field.right
    if field.kind in ("number", "scale"):
        number = min(max(float(rng.integers(math.floor(low), math.ceil(high), endpoint=True)), low), high)
        return int(number) if number.is_integer() else number
    if field.kind == "text":
        return "x" * max(int(low), 1)
    chosen = [field.options[i] for i in rng.permutation(len(field.options))]
    fewest = max(int(low), int(field.required))
    return chosen[0] if field.kind == "choice" else chosen[: int(rng.integers(fewest, int(high) + 1))]


def _lines(ready: OpenStudy, noise: float, seed: int) -> list[tuple[str, str]]:
    """What the researcher would want to know before the study begins."""
    from nearfar.ask.answers import collect
    from nearfar.ask.live import live_view
    from nearfar.evaluate.planned_saving import expected_saving
    from nearfar.evaluate.simulated import Assumptions, agreement_of_noise

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
        people, share = sum(counts["people"].values()), plan.wanted / plan.each  # of random questions
        per_person = max(1, round(counts["answers"] * plan.n_new / plan.per_person / people))
        given = Assumptions(2, agreement_of_noise(float(np.clip(noise, 0.01, 5)), 2))  # neither 1/2 nor 1
        how: Any = {"per_person": per_person, "random": share, "seed": seed}
        told = expected_saving(len(ready.objects.names), people, scheme, given, **how)
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
    made = resources.files("nearfar.ask") / "demo.toml"
    (folder / "study.toml").write_bytes(made.read_bytes())
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
