"""The command line: read, call, write. One small file per command; what they share is in ``_common``."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress
from functools import partial

__all__ = ["main"]

STOPPED = 130  # what typer, too, makes of Ctrl-C
ENDED = {"SIGTERM": 143, "SIGHUP": 129}  # exit codes, as shells give them


def main() -> None:
    """Run the command line; an error that nearfar knows is one sentence on stderr and exit code 2."""
    from nearfar.cli._app import app
    from nearfar.errors import NearfarError
    from nearfar.terminal import printable

    _end_on_signals()
    _write_any_name()
    try:
        app()
    except NearfarError as error:
        if os.environ.get("NEARFAR_TRACEBACK"):
            raise
        print(f"nearfar: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output, e.g. `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code not in (STOPPED, *ENDED.values()):
            raise
        with suppress(OSError):  # the terminal may be what went away
            print("nearfar: stopped; nothing half-written was left behind", file=sys.stderr)
        sys.exit(end.code if isinstance(end, SystemExit) else STOPPED)


def _write_any_name() -> None:
    """Let names that the encoding of a terminal or a pipe cannot hold stand as their escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _end_on_signals() -> None:
    """Let SIGTERM and SIGHUP end a command as Ctrl-C does, so that temporary files are removed."""
    for name, code in ENDED.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # nohup's choice is kept
            signal.signal(number, partial(_end, code))


def _end(code: int, number: int, frame: object) -> None:
    sys.exit(code)
