"""What every request passes first: which host it names, how large it is, how often it comes; and headers on the way out."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import JSONResponse

from nearfar.ask.passwords import hash_secret

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LARGEST_BODY = 64 * 1024
LARGEST_HEADERS = 16 * 1024
BODY_WITHIN = 10.0  # seconds; uvicorn cuts a body at the length that its header gives
MTURK = "https://www.mturk.com https://workersandbox.mturk.com https://worker.mturk.com"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'{forms}; frame-ancestors {frames}"
)
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
PRIVATE = ("/start", "/booklet", "/form", "/answers", "/finish")  # which answer 200 to participants only
FORGET_AFTER = 120.0  # seconds until a quiet sender is forgotten


@dataclass
class RateLimit:
    """A bucket per sender: ``burst`` at once, then ``per_second``."""

    per_second: float
    burst: float
    clock: Callable[[], float] = time.monotonic
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    _swept: float = 0.0

    def allows(self, sender: str) -> bool:
        """Whether this sender may go on now."""
        now = self.clock()
        if now - self._swept > FORGET_AFTER:
            full_after = max(FORGET_AFTER, self.burst / self.per_second)
            self._buckets = {who: b for who, b in self._buckets.items() if now - b[1] < full_after}
            self._swept = now
        left, then = self._buckets.get(sender, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.per_second)
        self._buckets[sender] = (left - 1 if left >= 1 else left, now)
        return left >= 1


@dataclass
class RateLimits:
    """How often what may come: requests of a participant, new people and log-ins from one address."""

    requests: RateLimit = field(default_factory=lambda: RateLimit(20, 40))
    starts: RateLimit = field(default_factory=lambda: RateLimit(10, 100))
    logins: RateLimit = field(default_factory=lambda: RateLimit(5 / 60, 5))
    strangers: RateLimit = field(default_factory=lambda: RateLimit(20, 200))


class Guard:
    """An ASGI middleware without machinery: it runs for every answer."""

    def __init__(
        self, app: Any, *, public_url: str | None, port: int, framed: bool, limits: RateLimits
    ) -> None:
        self.app = app
        self.limits = limits
        self.hosts = {f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"}
        self.origins = {f"http://{host}" for host in self.hosts}
        self.known: dict[str, None] = {}  # senders whose token is a participant's, the latest last
        self.headers = [*HEADERS]
        if public_url:
            address = urlsplit(public_url)
            self.hosts.add(address.netloc.lower())
            self.origins.add(f"{address.scheme}://{address.netloc.lower()}")
            self.headers.append((b"strict-transport-security", b"max-age=31536000"))
        self.admin_policy = POLICY.format(forms="", frames="'none'").encode()
        own = POLICY.format(forms=f" {MTURK}", frames=MTURK).encode()
        self.policy = own if framed else self.admin_policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then hand on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        token = headers.get(b"x-nearfar-token")
        sender = scope["sender"] = hash_secret(token) if token else ""
        policy = self.admin_policy if scope["path"].startswith("/admin") else self.policy

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [*self.headers, (b"content-security-policy", policy)]
                message["headers"] = [*message.get("headers", ()), *own]
                if sender and message["status"] == 200 and scope["path"] in PRIVATE:
                    self._remember(sender)
            await send(message)

        if (refusal := self._refusal(scope, headers, sender)) is not None:
            status, reason = refusal
            await JSONResponse({"error": reason}, status)(scope, receive, dressed)
            return
        await self.app(scope, receive, dressed)

    def _remember(self, sender: str) -> None:
        self.known.pop(sender, None)
        self.known[sender] = None
        if len(self.known) > 100_000:
            del self.known[next(iter(self.known))]

    def _refusal(self, scope: Scope, headers: dict[bytes, str], sender: str) -> tuple[int, str] | None:
        names = [name for name, _ in scope["headers"]]
        if names.count(b"host") != 1 or names.count(b"x-nearfar-token") > 1:
            return 400, "a header came twice, or is missing"
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LARGEST_HEADERS:
            return 431, "the headers of the request are too large"
        if headers.get(b"host", "").lower() not in self.hosts:
            return 400, "this server does not answer for that host name"
        if scope["method"] != "POST":
            return self._too_often(scope, sender) if scope["path"] in PRIVATE else None
        size = headers.get(b"content-length", "")
        if not size.isdecimal():
            return 411, "a length is required"
        if int(size) > LARGEST_BODY:
            return 413, "the request is too large"
        if scope["path"].startswith("/admin") and headers.get(b"origin", "").lower() not in self.origins:
            return 403, "the request comes from another site"
        if headers.get(b"content-type", "").split(";")[0].strip() != "application/json":
            return 415, "expected application/json"
        return self._too_often(scope, sender)

    def _too_often(self, scope: Scope, sender: str) -> tuple[int, str] | None:
        """Count by participant; whoever is not known to be one is counted by address, as any token can be made up."""
        address = (scope.get("client") or ("unknown",))[0]
        if scope["path"] == "/admin/login":
            return None  # counted where it is known whether the password is right
        if scope["path"] == "/start":
            rate, who = self.limits.starts, address
        elif sender in self.known:
            rate, who = self.limits.requests, sender
        else:
            rate, who = self.limits.strangers, address
        return None if rate.allows(who) else (429, "too many requests; try again in a moment")
