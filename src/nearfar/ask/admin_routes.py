"""What the researcher sees, behind a password: the live page, pause and resume, export, erase."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from nearfar.ask.export import erase_person, export_archive
from nearfar.ask.forms import FormField, is_right
from nearfar.ask.guard import RateLimit
from nearfar.ask.passwords import hash_secret, is_password, new_secret
from nearfar.ask.people_routes import NO_STORE, read_json, refuse
from nearfar.ask.prepare import OpenStudy
from nearfar.ask.store import adaptive, researcher
from nearfar.ask.store.transaction import Row
from nearfar.ask.texts import render
from nearfar.errors import UnreachableError

COOKIE = "nearfar"
LASTS = 12 * 3600  # seconds
MOST_WAITING = 3  # log-ins of one address that is over its limit; the right password still gets in
TOO_OFTEN = "Too many wrong passwords; try again in a moment."


class AdminRoutes:
    """Routes below ``/admin``; all but the log-in need its cookie."""

    def __init__(self, ready: OpenStudy, changed: asyncio.Event, logins: RateLimit, *, secure: bool) -> None:
        self.ready = ready
        self.store = ready.store
        self.changed = changed
        self.secure = secure
        self.logins = logins
        self.checking = asyncio.Lock()  # a password takes a processor, so one at a time
        self.waiting: list[str] = []  # addresses whose passwords are checked or wait for it

    def routes(self) -> list[Route]:
        """Everything below ``/admin``."""
        return [
            Route("/admin", self.page),
            Route("/admin/login", self.login, methods=["POST"]),
            Route("/admin/logout", self.logout, methods=["POST"]),
            Route("/admin/live.json", self._private(self.live)),
            Route("/admin/export.zip", self._private(self.export)),
            Route("/admin/state", self._private(self.state), methods=["POST"]),
            Route("/admin/erase", self._private(self.erase), methods=["POST"]),
        ]

    def _private(self, route: Callable[[Request], Awaitable[Response]]) -> Any:
        """A route that needs the cookie of the log-in."""

        async def checked(request: Request) -> Response:
            return await route(request) if await self._logged_in(request) else refuse(401, "Please log in.")

        return checked

    async def _logged_in(self, request: Request) -> bool:
        cookie = hash_secret(request.cookies.get(COOKIE, ""))
        return await self.store.read(researcher.has_session, cookie, time.time())

    async def page(self, request: Request) -> Response:
        """The live page, or the log-in."""
        name = "admin.html" if await self._logged_in(request) else "login.html"
        return HTMLResponse(render(name, title=self.ready.study.title), headers=NO_STORE)

    async def login(self, request: Request) -> Response:
        """Check the password; the cookie is for this site and this part of it only."""
        password = (await read_json(request)).get("password")
        address = request.client.host if request.client else ""
        too_often = not self.logins.allows(address)
        if too_often and self.waiting.count(address) >= MOST_WAITING:
            refuse(429, TOO_OFTEN)
        self.waiting.append(address)
        try:
            async with self.checking:
                row = await self.store.read(researcher.study_row) or {}
                may_be = bool(row) and isinstance(password, str) and len(password) < 200
                right = may_be and await to_thread.run_sync(
                    is_password, str(password).strip(), row["password"]
                )
        finally:
            self.waiting.remove(address)
        if not right:
            refuse(429, TOO_OFTEN) if too_often else refuse(403, "That is not the password.")
        cookie, now = new_secret(), time.time()
        await self.store.write(researcher.add_session, hash_secret(cookie), now + LASTS, now)
        response = JSONResponse({}, headers=NO_STORE)
        response.set_cookie(
            COOKIE, cookie, max_age=LASTS, path="/admin", httponly=True, samesite="strict", secure=self.secure
        )
        return response

    async def logout(self, request: Request) -> Response:
        """Forget the log-in."""
        await self.store.write(researcher.end_session, hash_secret(request.cookies.get(COOKIE, "")))
        response = JSONResponse({}, headers=NO_STORE)
        response.delete_cookie(COOKIE, path="/admin")
        return response

    async def live(self, request: Request) -> Response:
        """Counts of this moment, and the newest view."""
        return JSONResponse(await self.store.read(self._live, time.time()), headers=NO_STORE)

    def _live(self, tx: Any, now: float) -> dict[str, Any]:
        view = researcher.get_view(tx)
        often = Counter(done for _, done in researcher.balance(tx))
        given, practice = researcher.form_values(tx), self.ready.study.page("practice")
        people = [
            {
                "name": row[0],
                "state": row[2],
                "answers": row[3],
                "reason": _reason(row, given.get(row[0], {}), practice),
            }
            for row in researcher.people_rows(tx)
        ]
        return {
            **researcher.counts(tx, now),
            "balance": sorted(often.items()),
            "wanted": round(self.ready.study.questions.wanted),
            "aim": self.ready.study.people.aim,
            "adaptive_off": adaptive.noted(tx, adaptive.OFF),
            "stopped": adaptive.noted(tx, adaptive.ENOUGH),
            "everybody": people,
            "view": None if view is None else json.loads(view),
        }

    async def export(self, request: Request) -> Response:
        """Everything as a zip of tables."""
        data = await self.store.read(export_archive)
        headers = {**NO_STORE, "content-disposition": 'attachment; filename="answers.zip"'}
        return Response(data, media_type="application/zip", headers=headers)

    async def state(self, request: Request) -> Response:
        """Pause or resume."""
        state = (await read_json(request)).get("state")
        if state not in ("open", "paused"):
            refuse(400, "expected open or paused")
        await self.store.write(researcher.set_state, state)
        return JSONResponse({"state": state}, headers=NO_STORE)

    async def erase(self, request: Request) -> Response:
        """Erase a person everywhere."""
        name = (await read_json(request)).get("name")
        if not isinstance(name, str):
            refuse(400, "expected a name")
        try:
            erased = await to_thread.run_sync(erase_person, self.store, name)
        except UnreachableError as error:
            refuse(503, f"{error}.")
        if erased is None:
            refuse(404, "There is no such person.")
        self.changed.set()
        return JSONResponse({"unreachable": erased}, headers=NO_STORE)


def _reason(row: Row, given: dict[str, Any], practice: list[FormField]) -> str:
    """Why to check somebody, besides what the report finds: impossible times, hardly an answer, practice misunderstood."""
    answers, claimed, elapsed, cannot_tell = row[3], row[9] or 0.0, row[10] or 0.0, row[12]
    misunderstood = "practice_tries" in given and not is_right(practice, given)
    reasons = {
        f"claims {claimed:,.0f} seconds of answering within {elapsed:,.0f}": claimed > 1.05 * elapsed + 5,
        f"could not tell in {cannot_tell:,} of {answers:,} questions": 2 * cannot_tell > answers,
        "never answered the question after practice right": misunderstood,
    }
    return "; ".join(reason for reason, holds in reasons.items() if holds)
