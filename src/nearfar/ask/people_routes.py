"""What participants' browsers ask for: the page, the study, pictures, a booklet; and what they send: answers."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn
from urllib.parse import quote, urlsplit

import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nearfar.ask import guard, keys
from nearfar.ask.forms import PAGES, FormField, check_values, is_right
from nearfar.ask.objects import shown_as
from nearfar.ask.passwords import hash_secret, is_link
from nearfar.ask.prepare import OpenStudy
from nearfar.ask.store import Transaction, people, researcher
from nearfar.ask.store.people import Answer, Arrival
from nearfar.ask.texts import STATIC, markdown, render
from nearfar.design.questions import SECONDS

log = logging.getLogger("nearfar.ask")

TOKEN = re.compile(r"^[A-Za-z0-9_-]{43}\Z")
ID = re.compile(r"[\w.:@/?&=%+~-]{1,200}\Z", re.ASCII)  # nothing that splits the cell of a table
UUID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
# recruiter -> names of the parameters that say who comes, and of those that are kept beside
IDS = {
    "open": ((), ()),
    "links": (("link",), ()),
    "prolific": (("PROLIFIC_PID",), ("STUDY_ID", "SESSION_ID")),
    "mturk": (("workerId", "assignmentId"), ("hitId", "turkSubmitTo")),
    "sona": (("survey_code",), ()),
}
MTURK_HOSTS = ("www.mturk.com", "workersandbox.mturk.com", "worker.mturk.com")
UNKNOWN = "this link is not known; please start again from the beginning"
AT_ONCE = 50
PX_PER_MM = FormField("px_per_mm", "", "number", least=0.5, most=100)  # of any screen
WEEK = 7 * 86_400_000  # milliseconds
NUMBERS = {  # of an answer; others are left out
    **dict.fromkeys(("milliseconds", "away"), keys.within(0, WEEK)), "shown_at": keys.within(0, 1e11),
    **dict.fromkeys(("replays", "early"), keys.within(0, 9999, int)),
}  # fmt: skip
CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
NO_STORE = {"cache-control": "no-store"}
_said: dict[str, float] = {}
FOREVER = {"cache-control": "public, max-age=31536000, immutable"}


class PeopleRoutes:
    """The routes of one open study."""

    def __init__(self, ready: OpenStudy) -> None:
        self.ready = ready
        self.study = ready.study
        self.store = ready.store
        self.rng = np.random.default_rng()
        self.starting = asyncio.Semaphore(8)  # as answers wait for the booklets that are drawn
        row: dict[str, Any] | None = self.store.read_now(researcher.study_row)
        self.row = row or {}
        self.show = shown_as(self.study, ready.objects)
        files = zip(ready.objects.display_names, ready.objects.files, strict=True)
        # where they are those of files, they say more than a picture shows, or less
        are_files = all(file is not None and name in (file.stem, file.name) for name, file in files)
        self.hides_names = self.show == "pictures" and are_files
        self.shown = self.store.read_now(researcher.object_rows)
        self.plays = any(str(row[3]).startswith(("audio", "video")) for row in self.shown)
        self.pictures: dict[str, str] = {}  # address -> hash
        self.twins = self._twins(len(ready.objects.names))

    def routes(self) -> list[Route]:
        """Everything below ``/`` but what is for the researcher."""
        described = json.dumps(self._description(), ensure_ascii=False)
        return [
            Route("/answers", self.answers, methods=["POST"]),  # first, as routes are tried in turn
            Route("/", _always(self._page(), "text/html")),
            Route("/study.json", _always(described, "application/json")),
            Route("/favicon.ico", _always("", "image/x-icon", 204)),  # browsers ask for one
            Route("/static/{name}", self.static),
            Route("/picture/{address}", self.picture),
            Route("/booklet", self.booklet),
            Route("/start", self.start, methods=["POST"]),
            Route("/form", self.form, methods=["POST"]),
            Route("/finish", self.finish, methods=["POST"]),
        ]

    # ------------------------------------------------------------ what is the same for everybody

    def _page(self) -> str:
        texts = self.study.texts
        welcome = texts["welcome"].format(questions=self.study.questions.per_person)
        shown = texts | {"welcome": welcome} | self.study.pages
        html = {name: markdown(shown[name]) for name in ("welcome", "consent", "debrief")}
        return render("ask.html", title=self.study.title, texts=texts, **html)

    def _twins(self, n_objects: int) -> list[list[int]]:
        """Two numbers for every object, in an order that nobody outside knows.

        A check shows an object twice, once by each of its numbers, so that addresses do not tell a program which they are.
        """
        numbers = list(range(2 * n_objects))
        random.Random(f"{self.row['secret']} twins").shuffle(numbers)
        return [numbers[2 * i : 2 * i + 2] for i in range(n_objects)]

    def _objects(self) -> list[dict[str, Any]]:
        """What is shown of the objects, by their numbers."""
        shown: dict[int, dict[str, Any]] = {}
        for twins, (_, name, hash, media) in zip(self.twins, self.shown, strict=True):
            self.pictures |= {hash: hash} if hash else {}  # as the live page asks for it
            for number in twins:
                address = hash and hash_secret(f"{self.row['secret']} picture {number}")[:32]
                self.pictures |= {address: hash} if hash else {}
                shown[number] = {
                    "display_name": "" if self.hides_names else name,
                    "picture": address,
                    "media": (media or "image").partition("/")[0],
                }
        return [shown[number] for number in range(len(shown))]

    def _description(self) -> dict[str, Any]:
        ids, too = IDS[self.study.people.recruit]
        picks_one = self.study.kind == "grid" and self.ready.plan.questions.pick == 1
        return {
            "id": hash_secret(f"{self.row['fingerprint']} {self.row['created']}")[:16],
            "kind": self.study.kind,
            "pick": self.ready.plan.questions.pick,
            "show": self.show,
            "prompt": self.study.prompt or self.study.texts["grid_one" if picks_one else self.study.kind],
            "texts": {key: text.strip() for key, text in self.study.texts.items()},
            "objects": self._objects(),
            "break_every": self.study.questions.break_every,
            "ids": ids,
            "ids_too": (*too, *self.study.people.keep),
            "screen": vars(self.study.screen),
            "forms": {page: [one.shown() for one in self.study.page(page)] for page in PAGES},
            "seconds": self.study.screen.expected_seconds
            or (None if self.plays else SECONDS[self.study.kind]),
        }

    def _practice(self, condition: str) -> list[list[int]]:
        """Some questions that are not saved."""
        rng, width = random.Random(1), int(self.ready.plan.questions.array.shape[1])
        twins = [self.twins[i] for i in self.ready.plan.members(condition).tolist()]
        return [[two[0] for two in rng.sample(twins, width)] for _ in range(self.study.questions.practice)]

    async def static(self, request: Request) -> Response:
        """A file of the page; only those that are listed exist."""
        media, data = STATIC.get(request.path_params["name"]) or refuse(404, "there is no such file")
        return Response(data, media_type=media, headers={"cache-control": "no-cache"})

    async def picture(self, request: Request) -> Response:
        """A picture by its address."""
        hash = self.pictures.get(request.path_params["address"])
        picture = await self.store.read(researcher.picture, hash) if hash else None
        media, data = picture or refuse(404, "there is no such picture")
        return Response(data, media_type=media, headers=FOREVER)

    # ------------------------------------------------------------ what is each one's own

    async def start(self, request: Request) -> Response:
        """Begin or come back: draws a booklet the first time, and does nothing more when sent again."""
        token, body = _token(request), await read_json(request)
        if body.get("consent") is not True or not isinstance(body.get("outside"), dict):
            refuse(400, "expected consent and outside")
        ids, too = IDS[self.study.people.recruit]
        given = body["outside"]
        texts = {name: given[name] for name in (*ids, *too) if isinstance(given.get(name), str)}
        details = {name: text for name, text in texts.items() if ID.match(text)}
        for name in {*self.study.people.keep}.difference(ids, too):
            if isinstance(given.get(name), str) and given[name].isprintable() and len(given[name]) <= 200:
                details[name] = given[name]
        if not details.keys() >= {*ids}:
            refuse(400, "the link does not say who you are")
        outside = details[ids[0]] if ids else None
        if self.study.people.recruit == "links" and not is_link(self.row["secret"], outside or ""):
            return JSONResponse({"status": "no_id"}, headers=NO_STORE)
        who = Arrival(token, "p" + secrets.token_hex(4), outside, details, time.time())
        async with self.starting:
            status = await self.store.write(people.start, who, self.ready.plan, self.rng)
        return JSONResponse({"status": status}, headers=NO_STORE)

    async def booklet(self, request: Request) -> Response:
        """What is asked, place by place; nothing says which are checks or repeats, or what other conditions get."""
        after = request.query_params.get("after", "")
        last = int(after) if after.isdecimal() and len(after) < 10 else -1
        booklet = await self.store.read(self._booklet, _token(request), last) or refuse(401, UNKNOWN)
        name = booklet.pop("condition")
        told = {"prompt": self.study.condition(name).prompt, "practice": self._practice(name)}
        return JSONResponse({**booklet, **told}, headers=NO_STORE)

    def _booklet(self, tx: Transaction, token: str, after: int) -> dict[str, Any] | None:
        booklet = people.booklet(tx, token, after)
        for place in booklet["places"] if booklet else ():
            rng = random.Random(f"{self.row['secret']} {token} {place['place']}")
            numbers = {item: rng.sample(self.twins[item], 2) for item in dict.fromkeys(place["shown"])}
            place["shown"] = [numbers[item].pop() for item in place["shown"]]
        return booklet

    async def form(self, request: Request) -> Response:
        """Save a page of the form, or the size of the screen; the reply comes after it is on disk."""
        token, body = _token(request), await read_json(request)
        page = body.get("page")
        fields = [PX_PER_MM] if page == "calibration" else self.study.page(str(page))
        values, wrong = check_values(fields, body.get("fields"))
        if wrong or not fields:
            refuse(400, wrong or "there is no such page")
        arguments = (token, page, values, is_right(fields, values), time.time())
        told = await self.store.write(people.save_form, *arguments)
        return JSONResponse(told or refuse(401, UNKNOWN), headers=NO_STORE)

    async def answers(self, request: Request) -> Response:
        """Save answers; the reply comes after they are on disk."""
        token, body = _token(request), await read_json(request)
        given = body.get("answers")
        if not isinstance(given, list) or not 0 < len(given) <= AT_ONCE:
            refuse(400, f"expected 1 to {AT_ONCE} answers")
        read = [_answer(one, self.study.screen.cannot_tell, self.plays) for one in given]
        told = await self.store.write(people.save_answers, token, read, self.ready.plan, time.time())
        return JSONResponse(told or refuse(401, UNKNOWN), headers=NO_STORE)

    async def finish(self, request: Request) -> Response:
        """The completion code and the way back, once every answer is here."""
        token = _token(request)
        code = self.study.people.code or "".join(secrets.choice(CODE_LETTERS) for _ in range(8))
        told = await self.store.write(people.finish, token, code, time.time(), self.study)
        told = told or refuse(401, UNKNOWN)
        ending = {} if told["left"] else self._ending(told)
        return JSONResponse({"left": told["left"], **ending}, headers=NO_STORE)

    def _ending(self, told: dict[str, Any]) -> dict[str, str]:
        recruit, details, code = self.study.people.recruit, told["details"], told["code"]
        link = self.study.people.return_link
        if recruit == "prolific":
            link = link or f"https://app.prolific.com/submissions/complete?cc={quote(code, safe='')}"
            return {"code": code, "link": link}
        if recruit == "sona" and link is not None:
            return {"link": link.replace("XXXX", quote(details.get("survey_code", ""), safe=""))}
        if recruit == "mturk":
            to = urlsplit(details.get("turkSubmitTo", "https://www.mturk.com"))
            host = to.hostname if to.scheme == "https" and to.hostname in MTURK_HOSTS else "www.mturk.com"
            return {
                "code": code,
                "submit_to": f"https://{host}/mturk/externalSubmit",
                "assignment": details.get("assignmentId", ""),
            }
        return {"code": code, **({"link": link} if link else {})}


def _always(text: str, media: str, status: int = 200) -> Callable[[Request], Awaitable[Response]]:
    """A route that is the same for everybody."""

    async def reply(request: Request) -> Response:
        return Response(text, status, media_type=media, headers=NO_STORE)

    return reply


def refuse(status: int, reason: str) -> NoReturn:
    """End a request with a status and one sentence."""
    raise HTTPException(status, reason)


async def refused(request: Request, error: Any) -> Response:
    """What a refused request gets."""
    headers = {**NO_STORE, **(error.headers or {})}
    return JSONResponse({"error": error.detail}, error.status_code, headers=headers)


def _token(request: Request) -> str:
    """The hash of a participant's token."""
    token = request.headers.get("x-nearfar-token", "")
    return str(request.scope["sender"]) if TOKEN.match(token) else refuse(401, UNKNOWN)


async def read_json(request: Request) -> dict[str, Any]:
    """The body of a request, which must be an object that a database can store."""
    try:
        async with asyncio.timeout(guard.BODY_WITHIN):
            sent_bytes = await request.body()
        body = sent_bytes.decode()  # strictly: json itself would let half a surrogate pair through
        sent: dict[str, Any] = json.loads(body)
        # escapes may make what no database holds: half of a surrogate pair (a ValueError), or a NUL
        holds = "\\" not in body or b"\\u0000" not in json.dumps(sent, ensure_ascii=False).encode()
        right = isinstance(sent, dict) and holds
    except (ValueError, RecursionError, ClientDisconnect, TimeoutError):
        right = False
    return sent if right else refuse(400, "expected an object in JSON")


def _answer(given: Any, may_skip: bool, plays: bool) -> Answer:
    """An answer whose fields have the right types; times that cannot be are left out."""
    fields = given if isinstance(given, dict) else {}
    id, place, choice = fields.get("id"), fields.get("place"), fields.get("choice")
    failed = plays and fields.get("failed") is True
    fewest = 0 if may_skip or failed else 1
    if (
        not (isinstance(id, str) and UUID.match(id))
        or (type(place) is not int or not 0 <= place < 2**31)
        or (not isinstance(choice, list) or not fewest <= len(choice) <= 24)
        or any(type(c) is not int for c in choice)
    ):
        refuse(400, "an answer needs id, place and choice")
    numbers: dict[str, Any] = {
        name: None if wrong(fields.get(name)) else fields[name] for name, wrong in NUMBERS.items()
    }
    return Answer(id, place, tuple(choice), **numbers, fast=given.get("fast") is True, failed=failed)


async def unreachable(request: Request, error: Exception) -> Response:
    """The database cannot be written right now: one sentence to the person, and one to the log every half minute."""
    now = time.monotonic()
    if now - _said.get(str(error), -30.0) >= 30.0:
        _said[str(error)] = now
        log.error("an answer could not be saved and will be sent again: %s", error)
    return JSONResponse(
        {"error": "Your answers cannot be saved at the moment; keep this page open, it keeps trying."},
        503,
        headers={"retry-after": "5"},
    )
