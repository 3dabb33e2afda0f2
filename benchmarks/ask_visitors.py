"""Simulated people who take part over the network, as browsers do: they retry until an answer is confirmed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar.ask.passwords import new_secret
from nearfar.ask.rehearse import choices

__all__ = ["Connection", "Visitor"]

LONGEST_WAIT = 2.0  # seconds between two attempts


class Connection:
    """One kept-alive HTTP connection that sends and receives JSON."""

    def __init__(self, ports: Sequence[int], token: str) -> None:
        self.ports = ports
        self.port = ports[0]
        self.token = token
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, path: str, body: Any = None, *, patience: float = 20.0) -> tuple[int, Any]:
        """(status, reply); raises ``OSError`` where the server cannot be reached or breaks off."""
        try:
            async with asyncio.timeout(patience):  # not wait_for, which can lose a cancellation in 3.11
                return await self._call(path, body)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, ValueError) as error:
            self.close()
            raise ConnectionError(str(error) or type(error).__name__) from error

    async def _call(self, path: str, body: Any) -> tuple[int, Any]:
        if self.streams is None:
            self.port = random.choice(self.ports)
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        data = b"" if body is None else json.dumps(body).encode()
        head = [
            f"{'GET' if body is None else 'POST'} {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"X-Nearfar-Token: {self.token}",
        ]
        if body is not None:
            head += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        writer.write("\r\n".join([*head, "", ""]).encode() + data)
        await writer.drain()
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in answer[1:] if ": " in line)
        reply = await reader.readexactly(int(fields.get("content-length", "0")))
        if fields.get("connection") == "close":
            self.close()
        return int(answer[0].split()[1]), json.loads(reply) if reply else None

    def close(self) -> None:
        """Let go of the connection."""
        if self.streams is not None:
            with contextlib.suppress(RuntimeError):
                self.streams[1].close()
            self.streams = None


@dataclass
class Visitor:
    """Somebody who takes part.

    Parameters
    ----------
    ports : of the servers; any of them will do.
    points : (n, d) where the person sees the objects.
    noise, flip : how blurred they see, and how often they do not look; as for ``simulate.answers``.
    pause : seconds between two answers.
    leave_after : answers before they leave for good; None: they stay.
    outside : the recruiter's parameters.
    heard : called with the seconds that a confirmed answer took.
    fetched : called with the seconds that further questions took.
    """

    ports: Sequence[int]
    points: NDArray[np.float64]
    noise: float = 0.2
    flip: float = 0.02
    pause: float = 0.0
    leave_after: int | None = None
    outside: dict[str, str] = field(default_factory=dict)
    seed: int = 0
    heard: Callable[[float], None] | None = None
    fetched: Callable[[float], None] | None = None
    token: str = field(default_factory=new_secret)
    confirmed: dict[str, tuple[int, list[int]]] = field(default_factory=dict)
    filled: list[str] = field(default_factory=list)
    code: str | None = None

    async def take_part(self) -> str:
        """Start, answer everything, finish; the status that ended it: "finished", "left", "paused" or "full"."""
        connection = Connection(self.ports, self.token)
        try:
            return await self._take_part(connection)
        finally:
            connection.close()

    async def _take_part(self, connection: Connection) -> str:
        start = await self._insist(connection, "/start", {"consent": True, "outside": self.outside})
        if start["status"] != "ok":
            return str(start["status"])
        study = await self._insist(connection, "/study.json")
        names = [each["display_name"] for each in study["objects"]]
        object_of = {
            name: i for i, name in enumerate(dict.fromkeys(names))
        }  # two numbers stand for each object
        await self._fill(connection, study, "before")
        last = -1
        while True:
            begun = time.monotonic()
            places = (await self._insist(connection, f"/booklet?after={last}"))["places"]
            last = max([last, *(place["place"] for place in places)])
            if self.fetched is not None and self.confirmed:
                self.fetched(time.monotonic() - begun)
            waiting = [place for place in places if not place["answered"]]
            for place in waiting:
                place["shown"] = [object_of[names[number]] for number in place["shown"]]
            chosen = choices(
                study["kind"],
                study["pick"],
                waiting,
                self.points,
                noise=self.noise,
                flip=self.flip,
                seed=self.seed,
            )
            for place, choice in zip(waiting, chosen, strict=True):
                if self.leave_after is not None and len(self.confirmed) >= self.leave_after:
                    return "left"
                await self._answer(connection, place["place"], choice)
            await self._fill(connection, study, "after")
            told = await self._insist(connection, "/finish", {})
            if not told["left"]:
                self.code = told.get("code")
                return "finished"

    async def _fill(self, connection: Connection, study: Any, page: str) -> None:
        """A page of the form; the token is what is typed."""
        if page not in self.filled and (asked := study.get("forms", {}).get(page)):
            fields = {one["name"]: self.token for one in asked}
            await self._insist(connection, "/form", {"page": page, "fields": fields})
            self.filled.append(page)

    async def _answer(self, connection: Connection, place: int, choice: list[int]) -> None:
        begun = time.monotonic()
        if self.pause:
            await asyncio.sleep(self.pause * (0.5 + np.random.default_rng([self.seed, place]).random()))
        shown_for = 1000 * (time.monotonic() - begun) or 900.0
        answer = {
            "id": str(uuid.uuid4()),
            "place": place,
            "choice": choice,
            "milliseconds": shown_for,
            "away": 0.0,
            "shown_at": time.time() - shown_for / 1000,
        }
        sent = time.monotonic()
        told = await self._insist(connection, "/answers", {"answers": [answer]})
        if self.heard is not None:
            self.heard(time.monotonic() - sent)
        if answer["id"] in told["saved"]:
            self.confirmed[str(answer["id"])] = (place, choice)

    async def _insist(self, connection: Connection, path: str, body: Any = None) -> Any:
        """The reply, however often it takes: no network, a restarting server or a full disk are waited for."""
        wait = 0.05
        while True:
            with contextlib.suppress(OSError):
                status, reply = await connection.call(path, body)
                if status == 200:
                    return reply
                if status < 500 and status != 429:
                    raise RuntimeError(f"{path}: {status} {reply}")
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)
