"""Which rooms of nearfar do the work, in the order in which they are first entered."""

import sys
import threading
from pathlib import Path

import nearfar as nf

SRC = Path(nf.__file__).parent


def rooms_entered(work):
    """Rooms whose functions are called while ``work()`` runs; helpers below all rooms are left out."""
    entered = []

    def look(frame, event, argument):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(SRC)) and frame.f_code.co_name != "<module>":
            name = Path(path).relative_to(SRC).parts[0].removesuffix(".py")
            if name not in entered:
                entered.append(name)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return entered
