"""Progress without a user interface: long work announces its steps, whoever listens draws them.

Library code says ``with step("reading", total=rows) as advance: ...; advance(1000)``.
Nothing is shown unless a listener was installed with ``listen``; the command line installs one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

Item = TypeVar("Item")

__all__ = ["Listener", "listen", "step", "track"]


class Listener(Protocol):
    """Draws progress. ``start`` returns a handle that ``advance`` and ``stop`` get back."""

    def start(self, name: str, total: float | None) -> object:
        """A step began; ``total`` is None where its length is not known."""

    def advance(self, handle: object, amount: float) -> None:
        """``amount`` more of the step is done."""

    def stop(self, handle: object) -> None:
        """The step ended, well or not."""


_listener: ContextVar[Listener | None] = ContextVar("nearfar_progress", default=None)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Send the progress of everything inside the ``with`` block to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def step(name: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Announce a step; yields a function to call with the amount done.

    >>> with step("counting", total=3) as advance:
    ...     advance(3)
    """
    listener = _listener.get()
    if listener is None:
        yield lambda amount: None
        return
    handle = listener.start(name, total)
    try:
        yield lambda amount: listener.advance(handle, amount)
    finally:
        listener.stop(handle)


def track(items: Iterable[Item], name: str, total: float | None = None) -> Iterator[Item]:
    """Iterate over ``items`` as one announced step.

    >>> list(track([1, 2], "counting"))
    [1, 2]
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with step(name, total) as advance:
        for item in items:
            yield item
            advance(1)
