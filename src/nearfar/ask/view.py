"""Keeps the live view up to date: a process of its own computes it, so that answering people never wait for it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import time
from typing import Any

from nearfar.ask.store import Store, researcher
from nearfar.errors import NearfarError

__all__ = ["ViewMaker"]

log = logging.getLogger("nearfar.ask")
EVERY = 5.0  # seconds
LONGEST = 300.0  # seconds that a view may take


class ViewMaker:
    """Asks the computing process for a new view whenever answers came or went."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.process: asyncio.subprocess.Process | None = None
        self.hurried = asyncio.Event()

    async def keep_up(self) -> None:
        """Until cancelled: look every few seconds whether there is something new."""
        known: tuple[Any, ...] | None = None
        while True:
            try:
                if self.store.lead():
                    now = await self.store.read(researcher.version_of_answers)
                    if now != known:
                        await self._renew()
                        known = now
            except (TimeoutError, NearfarError, OSError, ValueError) as error:
                log.error("the live view could not be computed: %s", error or type(error).__name__)
                self.close()
            self.hurried.clear()
            try:
                await asyncio.wait_for(self.hurried.wait(), EVERY)
            except TimeoutError:
                continue

    def hurry(self) -> None:
        """Something changed that should show at once."""
        self.hurried.set()

    async def _renew(self) -> None:
        if self.process is None or self.process.returncode is not None:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "nearfar.ask.live",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, limit=1 << 28,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"database": self.store.url}).encode() + b"\n")
        await self.process.stdin.drain()
        line = await asyncio.wait_for(self.process.stdout.readline(), LONGEST)
        if not line:
            raise OSError("the computing process ended")
        told = json.loads(line)
        if "error" in told:
            raise OSError(told["error"])
        await self.store.write(researcher.put_view, line.decode(), time.time())

    def close(self) -> None:
        """End the computing process; it would also end by itself when this one does."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
        self.process = None
