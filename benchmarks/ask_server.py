"""Servers that can be killed and are back at once: a process that has everything loaded forks them.

python -m benchmarks.ask_server  reads lines "start STUDY PORT [DATABASE]" and prints the process id.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path


def free_port() -> int:
    """A port that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Servers:
    """Forks servers of one study; use as a context manager."""

    def __init__(self, study: Path, database: str = "") -> None:
        self.study, self.database = study, database

    def __enter__(self) -> Servers:
        command = [sys.executable, "-m", "benchmarks.ask_server"]
        self.parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.running: dict[int, int] = {}
        return self

    def __exit__(self, *error: object) -> None:
        for port in list(self.running):
            self.kill(port)
        self.parent.stdin.close()
        self.parent.wait(20)
        self.parent.stdout.close()

    def start(self, port: int) -> int:
        """Fork a server; returns its process id at once."""
        self.parent.stdin.write(f"start\t{self.study}\t{port}\t{self.database}\n")
        self.parent.stdin.flush()
        self.running[port] = int(self.parent.stdout.readline())
        return self.running[port]

    def kill(self, port: int, how: int = signal.SIGKILL) -> None:
        """Kill the server of a port."""
        os.kill(self.running.pop(port), how)


def _serve(study: str, port: int, database: str) -> None:
    from nearfar.ask.guard import RateLimit, RateLimits
    from nearfar.ask.prepare import open_study
    from nearfar.ask.serve import serve
    from nearfar.ask.study import read_study
    from nearfar.errors import NearfarError

    everybody = RateLimits(starts=RateLimit(1e6, 1e6))  # all simulated people have one address
    end = time.monotonic() + 20
    while True:
        try:
            with closing(open_study(read_study(study), database or None)) as ready:
                return serve(ready, port=port, limits=everybody)
        except NearfarError:  # the one that was killed may still hold the lock or the port for a moment
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def main() -> None:
    # everything a server loads when it starts, so that a forked one has it
    for name in ("jinja2", "markdown_it", "markupsafe", "uvicorn.protocols.http.httptools_impl", "uvicorn.lifespan.on",
                 "uvicorn.loops.asyncio", "uvicorn.protocols.utils", "PIL", "nearfar.ask.app",
                 "nearfar.ask.store.postgres"):  # fmt: skip
        importlib.import_module(name)

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        _, study, port, database = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            sys.stdin.close()
            _serve(study, int(port), database)
            os._exit(0)
        print(child, flush=True)


if __name__ == "__main__":
    main()
