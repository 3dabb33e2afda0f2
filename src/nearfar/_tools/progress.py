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
from dataclasses import dataclass
from typing import Any, TypeVar

Item = TypeVar("Item")

__all__ = ["Step", "listen", "show", "step", "track"]


@dataclass(eq=False)
class Step:
    """A step of the work: how much of it is done, and whether it is over; ``total`` is None where it is not known.

    >>> Step("counting", 3)
    Step(name='counting', total=3, done=0.0, over=False)
    """

    name: str
    total: float | None
    done: float = 0.0
    over: bool = False


_listener: ContextVar[Callable[[Step], object] | None] = ContextVar("nearfar_progress", default=None)


@contextmanager
def listen(listener: Callable[[Step], object]) -> Iterator[None]:
    """Inside the ``with`` block, call ``listener(step)`` whenever a step begins, advances or ends.

    >>> with listen(print), step("fitting", total=2) as advance:
    ...     advance(2)
    Step(name='fitting', total=2, done=0.0, over=False)
    Step(name='fitting', total=2, done=2.0, over=False)
    Step(name='fitting', total=2, done=2.0, over=True)
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def show(*, delay: float = 0.5) -> Iterator[None]:
    """Draw the progress of everything inside the ``with`` block, on stderr or in a notebook.

    Parameters
    ----------
    delay : seconds that a step lasts before it is drawn; shorter ones are not.

    >>> with show():
    ...     list(track([1, 2], "counting"))
    [1, 2]
    """
    bars = _Bars(delay)
    try:
        with listen(bars.tell):
            yield
    finally:
        bars.close()


@contextmanager
def step(name: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Announce a step; yields a function to call with the amount done.

    >>> with step("counting", total=3) as advance:
    ...     advance(3)
    """
    tell = _listener.get()
    if tell is None:
        yield lambda amount: None
        return
    announced = Step(name, total)

    def advance(amount: float) -> None:
        announced.done += amount
        tell(announced)

    tell(announced)
    try:
        yield advance
    finally:
        announced.over = True
        tell(announced)


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


class _Bars:
    """Draws with rich, and only steps that take a while."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._progress: Any = None
        self._timers: dict[Step, threading.Timer] = {}
        self._tasks: dict[Step, Any] = {}
        self._lock = threading.RLock()

    def tell(self, step: Step) -> None:
        with self._lock:
            if step.over:
                self._timers.pop(step).cancel()
                if step in self._tasks:
                    self._progress.remove_task(self._tasks.pop(step))
            elif step in self._tasks:
                self._progress.update(self._tasks[step], completed=step.done)
            elif step not in self._timers:
                timer = self._timers[step] = threading.Timer(self._delay, self._draw, [step])
                timer.daemon = True
                timer.start()

    def close(self) -> None:
        """Give the line back to the terminal."""
        with self._lock:
            if self._progress is not None:
                self._progress.stop()

    def _draw(self, step: Step) -> None:
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            if step.over:
                return
            if self._progress is None:
                self._progress = Progress(console=Console(stderr=True), transient=True)
                self._progress.start()
            self._tasks[step] = self._progress.add_task(step.name, total=step.total, completed=step.done)
