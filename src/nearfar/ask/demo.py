"""A study of colours whose people are simulated: they answer over the network while one watches the map form."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from nearfar.ask.prepare import open_study
from nearfar.ask.serve import serve
from nearfar.ask.study import Study, read_study
from nearfar.ask.visitors import Visitor
from nearfar.datasets import make_colours
from nearfar.datasets.colours import Colours

__all__ = ["demo_study", "run_demo"]

PEOPLE = 100
AT_ONCE = 12
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


async def visit(port: int, colours: Colours, *, pause: float, seed: int = 0) -> None:
    """A hundred people, a dozen at a time; a few do not look, a few leave."""
    rng = np.random.default_rng(seed)
    points = colours.truth.points
    here = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with here:
            await Visitor(
                (port,),
                points,
                noise=float(rng.uniform(0.1, 0.35)),
                flip=0.5 if rng.random() < CARELESS else 0.02,
                pause=pause,
                leave_after=int(rng.integers(5, 50)) if rng.random() < LEAVING else None,
                seed=number,
            ).take_part()

    await asyncio.gather(*(one(number) for number in range(PEOPLE)))


def run_demo(port: int, say: Callable[[str], None], *, pause: float = 0.25) -> None:
    """Serve the study of colours until Ctrl-C; people begin as soon as the server answers."""
    with tempfile.TemporaryDirectory() as folder:
        study, colours = demo_study(Path(folder))
        ready = open_study(study)

        def come() -> None:
            time.sleep(1.5)
            asyncio.run(visit(port, colours, pause=pause))
            say("the simulated people are done; the page stays until Ctrl-C")

        def started() -> None:
            say(f"watch:    http://127.0.0.1:{port}/admin   password: {ready.password}")
            say(f"take part: http://127.0.0.1:{port}/")
            threading.Thread(target=come, daemon=True).start()

        try:
            serve(ready, port=port, started=started)
        finally:
            ready.close()
