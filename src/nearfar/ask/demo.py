"""A study of colours whose people are simulated: they answer while one watches the map form."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nearfar.ask.passwords import hash_secret, new_secret
from nearfar.ask.prepare import OpenStudy, open_study
from nearfar.ask.rehearse import arrive
from nearfar.ask.serve import serve
from nearfar.ask.store import people
from nearfar.ask.store.people import Arrival
from nearfar.ask.study import Study, read_study
from nearfar.datasets import make_colours
from nearfar.datasets.colours import Colours
from nearfar.errors import UnreachableError

__all__ = ["demo_study", "run_demo"]

CARELESS, LEAVING = 0.06, 0.1  # shares of people who do not look, and who leave before the end
STUDY = """title = "Which colour is more alike?"
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
    given = arrive(ready, who, points, float(rng.uniform(0.1, 0.35)), flip, rng)
    leaves = rng.random() < LEAVING
    for answer in given[: int(rng.integers(5, 50)) if leaves else None]:
        time.sleep(pause * (0.5 + rng.random()))
        ready.store.write_now(people.save_answers, token, [answer], ready.plan, time.time())
    if not leaves:
        ready.store.write_now(people.finish, token, "", time.time())


def run_demo(port: int, say: Callable[[str], None], *, pause: float = 0.25) -> None:
    """Serve the study of colours until Ctrl-C; a hundred people come meanwhile, a dozen at a time."""
    with tempfile.TemporaryDirectory() as folder:
        study, colours = demo_study(Path(folder))
        ready = open_study(study)

        def come(first: int) -> None:
            with suppress(UnreachableError):  # the server was stopped
                for number in range(first, 100, 12):
                    _visit(ready, colours.truth.points, number, pause)

        def started() -> None:
            say(f"watch:    http://127.0.0.1:{port}/admin   password: {ready.password}")
            say(f"take part: http://127.0.0.1:{port}/")
            for first in range(12):
                threading.Thread(target=come, args=[first], daemon=True).start()

        try:
            serve(ready, port=port, started=started)
        finally:
            ready.close()
