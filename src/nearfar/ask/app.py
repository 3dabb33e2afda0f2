"""The web application: participants' routes, the researcher's, and what goes on in the background."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
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
        tasks = [
            asyncio.create_task(_release(ready)),
            asyncio.create_task(_keep_view(ready, changed, features)),
        ]
        if ready.study.questions.is_adaptive:
            tasks.append(asyncio.create_task(_keep_choosing(ready, features)))
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
        Guard,
        public_url=public_url,
        port=port,
        framed=ready.study.people.recruit == "mturk",
        limits=limits,
    )
    return Starlette(
        routes=[*PeopleRoutes(ready).routes(), *admin.routes()],
        middleware=[guard],
        exception_handlers={HTTPException: refused, UnreachableError: unreachable},
        lifespan=lifespan,
    )


async def _release(ready: OpenStudy) -> None:
    """Give the questions of people who left to others."""
    idle, rng = ready.study.people.idle_minutes * 60, np.random.default_rng()
    while True:
        try:
            gone = await ready.store.write(drawing.release_idle, time.time() - idle, rng)
            if gone:
                log.info("released the questions of %d people who left", gone)
        except NearfarError as error:
            log.error("questions of people who left could not be released: %s", error)
        await asyncio.sleep(min(15.0, idle / 2))


async def _keep_view(ready: OpenStudy, changed: asyncio.Event, features: Sequence[str]) -> None:
    """Keep the live view up to date; a process of its own computes it, so that people who answer never wait for it."""
    process: asyncio.subprocess.Process | None = None
    known: Any = None
    store, width = ready.store, ready.study.people.stop_width
    try:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), 5.0)
            changed.clear()
            try:
                if store.lead() and (now := await store.read(researcher.version_of_answers)) != known:
                    process = process or await _computing_process()
                    asked = {"database": store.url, "features": features}
                    view = await asyncio.wait_for(_compute(process, asked), 300.0)
                    await store.write(researcher.put_view, view, time.time())
                    if said := await store.write(researcher.act_on_view, view, width, time.time()):
                        log.warning("%s", said)
                    known = now
            except (NearfarError, OSError, ValueError) as error:
                log.error("the live view could not be computed: %s", error or type(error).__name__)
                await _end(process)
                process = None
    finally:
        await _end(process)


async def _keep_choosing(ready: OpenStudy, features: Sequence[str]) -> None:
    """Keep adaptive questions ready; another process of its own chooses them."""
    process: asyncio.subprocess.Process | None = None
    store, plan = ready.store, ready.study.questions
    try:
        while True:
            await asyncio.sleep(1.0)
            try:
                if (
                    store.lead()
                    and (version := await store.write(adaptive.begin_model, plan, time.time())) is not None
                ):
                    process = process or await _computing_process()
                    asked = {"database": store.url, "features": features, "model": version}
                    made = await asyncio.wait_for(_compute(process, asked), 300.0)
                    await store.write(adaptive.add_questions, version, json.loads(made)["questions"])
            except (NearfarError, OSError, ValueError) as error:
                log.error("adaptive questions could not be chosen: %s", error or type(error).__name__)
                await _end(process)
                process = None
    finally:
        await _end(process)


async def _computing_process() -> asyncio.subprocess.Process:
    """It answers a line of JSON with a line, and ends by itself when this process does."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "nearfar.ask.live", limit=LARGEST_VIEW, env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def _compute(process: asyncio.subprocess.Process, asked: dict[str, Any]) -> str:
    """The view of a database, or the questions of a model."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(asked).encode() + b"\n")
    line = (await process.stdout.readline()).decode()
    if not line:
        raise OSError("the computing process ended")
    if "error" in (view := json.loads(line)):
        raise OSError(view["error"])
    return line


async def _end(process: asyncio.subprocess.Process | None) -> None:
    if process is not None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
