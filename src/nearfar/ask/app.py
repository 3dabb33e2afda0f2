"""The web application: participants' routes, the researcher's, and what goes on in the background."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from nearfar.ask.admin_routes import AdminRoutes
from nearfar.ask.guard import Guard, RateLimits
from nearfar.ask.people_routes import PeopleRoutes, refused, unreachable
from nearfar.ask.prepare import OpenStudy
from nearfar.ask.store import adaptive, drawing, researcher
from nearfar.errors import NearfarError, UnreachableError

LARGEST_VIEW = 2**26  # bytes of JSON
log = logging.getLogger("nearfar.ask")


def make_app(
    ready: OpenStudy,
    *,
    public_url: str | None = None,
    port: int = 8000,
    limits: RateLimits | None = None,
    features: Sequence[str] = (),
) -> Starlette:
    """The application of an open study; closing the study is the caller's. ``features`` : as for ``nearfar map``, for the live map."""
    changed = asyncio.Event()  # something that should show at once

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        beside = _Background(ready, changed, features)
        jobs = [
            _keep("questions of people who left could not be released", beside.release),
            _keep("the live view could not be computed", beside.view),
        ]
        if ready.study.questions.is_adaptive:
            jobs.append(_keep("adaptive questions could not be chosen", beside.choose))
        tasks = [asyncio.create_task(job) for job in jobs]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    limits = limits or RateLimits()
    secure = bool(public_url and public_url.startswith("https"))
    admin = AdminRoutes(ready, changed, limits.logins, secure=secure)
    guard: Any = Middleware(
        Guard, public_url=public_url, port=port, framed=ready.study.people.recruit == "mturk", limits=limits
    )
    return Starlette(
        routes=[*PeopleRoutes(ready).routes(), *admin.routes()],
        middleware=[guard],
        exception_handlers={HTTPException: refused, UnreachableError: unreachable},
        lifespan=lifespan,
    )


class _Computer:
    """A process of its own, so that people who answer never wait for what it computes. It is started when it is first asked."""

    process: asyncio.subprocess.Process | None = None

    async def ask(self, **asked: Any) -> str:
        """A line of JSON for a line: the view of a database, or the questions of a model."""
        if self.process is None:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "nearfar.ask.live", limit=LARGEST_VIEW, env={**os.environ, "OMP_NUM_THREADS": "1"},
                start_new_session=True,  # Ctrl-C is for the server, which ends it
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked).encode() + b"\n")
        line = (await asyncio.wait_for(self.process.stdout.readline(), 300.0)).decode()
        if not line:
            raise OSError("the computing process ended")
        if "error" in (told := json.loads(line)):
            raise OSError(told["error"])
        return line

    async def end(self) -> None:
        """End the process; the next question starts another."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()
            self.process = None


async def _keep(what: str, once: Callable[[_Computer], Awaitable[None]]) -> None:
    """Do something again and again, whatever goes wrong."""
    computer = _Computer()
    try:
        while True:
            try:
                await once(computer)
            except (NearfarError, OSError, ValueError) as error:
                log.error("%s: %s", what, error or type(error).__name__)
                await computer.end()
    finally:
        await computer.end()


class _Background:
    """What goes on beside the routes of a study."""

    def __init__(self, ready: OpenStudy, changed: asyncio.Event, features: Sequence[str]) -> None:
        self.store, self.study, self.changed = ready.store, ready.study, changed
        self.asked = {"database": ready.store.url, "features": features}
        self.known: Any = None
        self.chosen = False
        self.rng = np.random.default_rng()

    async def release(self, _: _Computer) -> None:
        """Give the questions of people who left to others."""
        idle = self.study.people.idle_minutes * 60
        await asyncio.sleep(min(15.0, idle / 2))
        if gone := await self.store.write(drawing.release_idle, time.time() - idle, self.rng):
            log.info("released the questions of %d people who left", gone)

    async def view(self, computer: _Computer) -> None:
        """Keep the live view up to date, and do what it asks for."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.changed.wait(), 5.0)
        self.changed.clear()
        now = await self.store.read(researcher.version_of_answers)
        if now != self.known and self.store.lead():
            view = await computer.ask(**self.asked)
            await self.store.write(researcher.put_view, view, time.time())
            width = self.study.people.stop_width
            if said := await self.store.write(researcher.act_on_view, view, width, time.time()):
                log.warning("%s", said)
            self.known = now

    async def choose(self, computer: _Computer) -> None:
        """Keep adaptive questions ready."""
        await asyncio.sleep(2.0 if self.chosen else 0.2)
        version = None
        if self.store.lead():
            version = await self.store.write(adaptive.begin_model, self.study.questions, time.time())
        if version is not None:
            made = json.loads(await computer.ask(**self.asked, model=version))
            await self.store.write(adaptive.add_questions, version, made["questions"])
            self.chosen = True
