"""The command line: read, call, write. One small file per command; what they share is in ``_common``."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

STOPPED = 130  # what typer, too, makes of Ctrl-C


def main() -> None:
    """Run the command line; an error that nearfar knows is one sentence on stderr and exit code 2."""
    from nearfar.cli._app import app
    from nearfar.errors import NearfarError

    try:
        app()
    except NearfarError as error:
        if os.environ.get("NEARFAR_TRACEBACK"):
            raise
        print(f"nearfar: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output, e.g. `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != STOPPED:
            raise
        print("nearfar: stopped; nothing half-written was left behind", file=sys.stderr)
        sys.exit(STOPPED)
