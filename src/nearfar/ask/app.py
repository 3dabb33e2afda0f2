"""The web application: participants' routes, the researcher's, and what goes on in the background."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from nearfar.ask.admin_routes import AdminRoutes
from nearfar.ask.guard import Guard, RateLimits
from nearfar.ask.people_routes import PeopleRoutes, refused, unreachable
from nearfar.ask.prepare import OpenStudy
from nearfar.ask.store import drawing
from nearfar.ask.view import ViewMaker
from nearfar.errors import NearfarError, UnreachableError

__all__ = ["make_app"]

log = logging.getLogger("nearfar.ask")
RELEASE_EVERY = 15.0  # seconds


def make_app(
    ready: OpenStudy, *, public_url: str | None = None, port: int = 8000, limits: RateLimits | None = None
) -> Starlette:
    """The application of an open study; closing the study is the caller's."""
    view = ViewMaker(ready.store)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(_release(ready)), asyncio.create_task(view.keep_up())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            view.close()

    admin = AdminRoutes(ready, view, secure=bool(public_url and public_url.startswith("https")))
    guard: Any = Middleware(
        Guard,
        public_url=public_url,
        port=port,
        framed=ready.study.people.recruit == "mturk",
        limits=limits or RateLimits(),
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
        await asyncio.sleep(min(RELEASE_EVERY, idle / 2))
