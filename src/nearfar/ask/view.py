"""Keeps the live view up to date: a process of its own computes it, so that answering people never wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from nearfar.ask.store import Store, researcher
from nearfar.errors import NearfarError

__all__ = ["ViewMaker"]

log = logging.getLogger("nearfar.ask")
EVERY = 5.0  # seconds
LONGEST = 300.0  # seconds that a view may take


class ViewMaker:
    """Asks a process of its own for a new view whenever answers came or went: a line of JSON in, a line out.

    The process ends by itself when this one does.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.process: subprocess.Popen[bytes] | None = None
        self.thread = ThreadPoolExecutor(1, "view")
        self.hurried = asyncio.Event()

    async def keep_up(self) -> None:
        """Until cancelled: look every few seconds whether there is something new."""
        known: tuple[Any, ...] | None = None
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.hurried.wait(), EVERY)
            self.hurried.clear()
            try:
                if self.store.lead():
                    now = await self.store.read(researcher.version_of_answers)
                    if now != known:
                        await self._renew()
                        known = now
            except (NearfarError, OSError, ValueError) as error:
                log.error("the live view could not be computed: %s", error or type(error).__name__)
                self._drop()

    def hurry(self) -> None:
        """Something changed that should show at once."""
        self.hurried.set()

    async def _renew(self) -> None:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "nearfar.ask.live"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        loop = asyncio.get_running_loop()
        waiting = loop.run_in_executor(self.thread, _compute, self.process, self.store.url)
        line = await asyncio.wait_for(waiting, LONGEST)
        await self.store.write(researcher.put_view, line, time.time())

    def _drop(self) -> None:
        if self.process is not None:
            self.process.kill()  # whoever waits for a line gets none
            self.thread.submit(self.process.communicate)
            self.process = None

    def close(self) -> None:
        """End the computing process."""
        self._drop()
        self.thread.shutdown()


def _compute(process: subprocess.Popen[bytes], database: str) -> str:
    """The view of a database; waits for it."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps({"database": database}).encode() + b"\n")
    process.stdin.flush()
    line = process.stdout.readline().decode()
    if not line:
        raise OSError("the computing process ended")
    told = json.loads(line)
    if "error" in told:
        raise OSError(told["error"])
    return line
