"""Serving a study: a port on this machine, one process, and nothing in the log that says who took part."""

from __future__ import annotations

import gc
import logging
import re
import socket
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from nearfar.ask.app import make_app
from nearfar.ask.guard import LARGEST_HEADERS, RateLimits
from nearfar.ask.prepare import OpenStudy
from nearfar.errors import InputError, UnreachableError

BACKLOG = 1024  # connections that may wait
MOST_CONNECTIONS = 800  # a process may often open 1,024 files
MOST_PIPELINED = 16  # requests of a connection that wait for the one before; no browser sends any so
HEADERS_WITHIN = 10.0  # seconds


class PatientProtocol(HttpToolsProtocol):
    """Ends connections where nothing goes on: after a while, and the oldest first where there are too many.

    Where each has a request under way, whose body may never come, the oldest makes room as well.
    """

    before: Any = None  # the request at the last look
    unsent = 0  # bytes of replies that waited to be taken then
    headers_size = 0  # of a request that is still to come

    def connection_made(self, transport: Any) -> None:
        """Somebody connects."""
        super().connection_made(transport)
        self.made = self.loop.time()
        self.timer = self.loop.call_later(HEADERS_WITHIN, self._look)
        others: list[Any] = [
            each for each in self.connections if each is not self and not each.transport.is_closing()
        ]
        if len(others) >= MOST_CONNECTIONS:
            min(others, key=lambda each: (not each.is_idle, each.made)).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Some of a request; headers that never end are given up, and many requests before the first is answered."""
        self.headers_size += len(data) if self.is_idle else 0
        for start in range(0, len(data), 4096):  # so that few requests are read before they are counted
            super().data_received(data[start : start + 4096])
            if len(self.pipeline) > MOST_PIPELINED:
                self.transport.abort()
            if self.transport.is_closing():
                return
        self.headers_size = self.headers_size if self.is_idle else 0
        if self.headers_size > LARGEST_HEADERS:
            self.transport.abort()

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        """Nothing of a reply was taken since the last look, or no request came, not even one that is answered by now."""
        unsent = self.transport.get_write_buffer_size()
        if unsent == self.unsent if unsent else self.is_idle and self.cycle is self.before:
            self.transport.abort()
        self.before, self.unsent = self.cycle, unsent
        self.timer = self.loop.call_later(HEADERS_WITHIN, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over."""
        self.timer.cancel()
        super().connection_lost(exc)


def check_public_url(url: str | None) -> str | None:
    """An address ``https://host`` without a path, as browsers name it: without the port that https has anyway."""
    if url is None:
        return None
    match = re.fullmatch(r"(https://[a-z0-9.-]*[a-z0-9])(?::([0-9]{1,5}))?/?", url.lower(), re.ASCII)
    if match is None or not 0 < (port := int(match[2] or 443)) < 65536:
        raise InputError(f"--public-url: expected an address such as https://study.example.org, got {url!r}")
    return match[1] + f":{port}" * (port != 443)


def caddyfile(public_url: str, port: int) -> str:
    """The configuration of Caddy, which adds https in front of this server.

    >>> caddyfile("https://study.example.org", 8000).splitlines()[-4:]
    ['study.example.org {', '    encode gzip', '    reverse_proxy 127.0.0.1:8000', '}']
    """
    text = (resources.files("nearfar.ask") / "hosting" / "Caddyfile").read_text(encoding="utf-8")
    return text.replace("{host}", public_url.removeprefix("https://")).replace("{port}", str(port))


def bind(port: int) -> socket.socket:
    """The socket of this machine's port; an error is one sentence."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", port))
        made.listen(BACKLOG)  # who comes before the server is ready waits
    except OSError as error:
        made.close()
        reason = (error.strerror or str(error)).lower()
        raise UnreachableError(f"port {port} cannot be used, {reason}; give another with --port") from error
    return made


def server_config(app: Any, port: int, public_url: str | None = None) -> uvicorn.Config:
    """How uvicorn runs an application: for this machine only, without a log of who asks for what."""
    return uvicorn.Config(
        app,
        host="127.0.0.1",
        port=port,
        access_log=False,  # addresses say who took part
        log_config=None,  # its lines are bounded where the others are
        log_level="warning",
        server_header=False,
        proxy_headers=public_url is not None,
        forwarded_allow_ips="127.0.0.1",
        timeout_graceful_shutdown=5,
        backlog=BACKLOG,
        http=PatientProtocol,
        ws="none",
        limit_concurrency=MOST_CONNECTIONS + 100,
    )


def serve(
    ready: OpenStudy,
    *,
    port: int,
    public_url: str | None = None,
    limits: RateLimits | None = None,
    started: Callable[[], None] | None = None,
    features: Sequence[str] = (),
) -> None:
    """Serve until the process is told to stop. Only this machine can connect; Caddy or the like goes in front."""
    logging.getLogger("nearfar.ask").setLevel(logging.INFO)
    app = make_app(ready, public_url=public_url, port=port, limits=limits, features=features)
    server = uvicorn.Server(server_config(app, port, public_url))
    # signals are caught while it starts, too: an import that one interrupts looks like a package that is missing
    with bind(port) as here, server.capture_signals():
        if started is not None:
            started()
        gc.collect()
        gc.freeze()  # or the garbage collector walks through every library again and again, while people wait
        if not server.should_exit:
            server.run(sockets=[here])
