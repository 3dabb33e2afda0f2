"""The command line: read, call, write. One small file per command; what they share is in files that begin with ``_``."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

STOPPED = 130  # what typer, too, makes of Ctrl-C
ENDED = {"SIGTERM": 143, "SIGHUP": 129}  # exit codes, as shells give them


def main() -> None:
    """Run the command line; an error that nearfar knows is one sentence on stderr and exit code 2."""
    _end_on_signals()
    from nearfar.errors import NearfarError

    _open_closed_streams()
    _write_any_name()
    try:
        from nearfar.cli._app import app  # inside, for Ctrl-C during the import prints no traceback either

        try:
            app()
        finally:
            sys.stdout.flush()  # here a full disk is one sentence, at the end of the process it would not be
    except NearfarError as error:
        _refuse(str(error))
    except MemoryError as error:
        why = f"there is too little memory ({str(error) or 'nothing is left'})"
        _refuse(f"{why}; give fewer objects, or use --scratch")
    except UnicodeEncodeError as error:
        around = error.object[max(error.start - 40, 0) : error.end + 40]
        _refuse(f"{around!r} holds bytes that are not UTF-8 text")
    except BrokenPipeError:  # the reader of our output, e.g. `head`, has seen enough
        _drop_output()
        sys.exit(0)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        if error.filename:
            _refuse(f"{error.filename}: {reason}")
        if isinstance(error, FileNotFoundError):  # what os.getcwd raises
            _refuse("the working folder is not there any more; change to another one")
        _drop_output()
        _refuse(f"standard output: cannot be written, {reason}; make room there")
    except KeyboardInterrupt:
        _stop(STOPPED)
    except SystemExit as end:
        if end.code not in (STOPPED, *ENDED.values()):
            raise
        _stop(int(end.code))
    except Exception:
        if not _ended:
            raise
        _stop(_ended[0])  # a compiled module that is being imported makes an ImportError of the signal


def _stop(code: int) -> NoReturn:
    with suppress(OSError):  # the terminal may be what went away
        print("nearfar: stopped; nothing half-written was left behind", file=sys.stderr)
    sys.exit(code)


def _drop_output() -> None:
    """Let what is still to be written to standard output go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(sentence: str) -> NoReturn:
    """Print one sentence and end with exit code 2; with NEARFAR_TRACEBACK show where it comes from as well."""
    from nearfar._tools.terminal import printable, without_password

    if os.environ.get("NEARFAR_TRACEBACK"):
        raise
    print(f"nearfar: {printable(without_password(sentence))}", file=sys.stderr)
    sys.exit(2)


def _open_closed_streams() -> None:
    """Put something in the place of standard streams that the caller closed, where Python has None.

    Input is empty, messages go nowhere, and writing results is an error, for they would be lost. In this order each
    gets its own number again, so that no file takes it.
    """
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))


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
            if hasattr(signal, "pthread_kill"):  # Windows has neither it nor anybody who sends SIGTERM
                sys.unraisablehook = partial(_end_again, sys.unraisablehook, number, code)


def _end(code: int, number: int, frame: object) -> None:
    _ended.append(code)
    sys.exit(code)


def _end_again(otherwise: Callable[[Any], object], number: int, code: int, lost: Any) -> None:
    """Repeat a signal that came while Python could raise nothing, as in the callback of a weak reference."""
    if not (_ended and isinstance(lost.exc_value, SystemExit) and lost.exc_value.code == code):
        otherwise(lost)
        return
    import threading

    # a moment later, for what is raised in here is lost as well
    repeat = threading.Timer(0.01, signal.pthread_kill, [threading.main_thread().ident, number])
    repeat.daemon = True
    repeat.start()


_ended: list[int] = []
