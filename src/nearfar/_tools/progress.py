"""Progress without a user interface: long work announces its steps, whoever listens draws them.

Library code says ``with step("reading", total=rows) as advance: ...; advance(1000)``.
Nothing is shown unless somebody listens: ``with show(): ...`` draws bars, as the command line does; ``listen`` takes
any other listener.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

Item = TypeVar("Item")

__all__ = ["Listener", "listen", "show", "step", "track"]

DELAY = 0.5  # seconds


class Listener(Protocol):
    """Draws progress. ``start`` returns a handle that ``advance`` and ``stop`` get back.

    Examples
    --------
    >>> class Told:
    ...     def start(self, name, total):
    ...         print("began:", name)
    ...     def advance(self, handle, amount):
    ...         pass
    ...     def stop(self, handle):
    ...         print("ended")
    >>> with listen(Told()):
    ...     _ = list(track([1, 2], "counting"))
    began: counting
    ended
    """

    def start(self, name: str, total: float | None) -> object:
        """A step began; ``total`` is None where its length is not known."""

    def advance(self, handle: object, amount: float) -> None:
        """``amount`` more of the step is done."""

    def stop(self, handle: object) -> None:
        """The step ended, well or not."""


_listener: ContextVar[Listener | None] = ContextVar("nearfar_progress", default=None)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Send the progress of everything inside the ``with`` block to ``listener``.

    Examples
    --------
    >>> class Told:
    ...     def start(self, name, total):
    ...         print(name, total)
    ...     def advance(self, handle, amount):
    ...         print("+", amount)
    ...     def stop(self, handle):
    ...         print("ended")
    >>> with listen(Told()), step("fitting", total=2) as advance:
    ...     advance(2)
    fitting 2
    + 2
    ended
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def show(*, delay: float = DELAY) -> Iterator[None]:
    """Draw the progress of everything inside the ``with`` block, on stderr or in a notebook.

    Parameters
    ----------
    delay : seconds that a step lasts before it is drawn; shorter ones are not.

    >>> with show():
    ...     list(track([1, 2], "counting"))
    [1, 2]
    """
    drawing = _Drawing(delay)
    try:
        with listen(drawing):
            yield
    finally:
        drawing.close()


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


class _Drawing:
    """A listener that draws with rich, and only steps that take a while."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._bars: Any = None
        self._lock = threading.RLock()

    def start(self, name: str, total: float | None) -> object:
        step = _Step(name, total)
        step.timer = threading.Timer(self._delay, self._show, [step])
        step.timer.daemon = True
        step.timer.start()
        return step

    def advance(self, handle: object, amount: float) -> None:
        step = cast(_Step, handle)
        with self._lock:
            step.done += amount
            if step.task is not None:
                self._bars.update(step.task, completed=step.done)

    def stop(self, handle: object) -> None:
        step = cast(_Step, handle)
        with self._lock:
            step.over = True
            step.timer.cancel()
            if step.task is not None:
                self._bars.remove_task(step.task)

    def close(self) -> None:
        """Give the line back to the terminal."""
        with self._lock:
            if self._bars is not None:
                self._bars.stop()

    def _show(self, step: _Step) -> None:
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            if step.over:
                return
            if self._bars is None:
                self._bars = Progress(console=Console(stderr=True), transient=True)
                self._bars.start()
            step.task = self._bars.add_task(step.name, total=step.total, completed=step.done)


@dataclass(eq=False)
class _Step:
    name: str
    total: float | None
    done: float = 0.0
    over: bool = False
    task: Any = None
    timer: threading.Timer = field(init=False)
