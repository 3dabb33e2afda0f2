"""How much memory there is to work in."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["available_bytes"]

UNKNOWN = 4 << 30


def available_bytes() -> int:
    """Bytes that can be had without swapping; half the machine's where the system does not say."""
    listing = Path("/proc/meminfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return UNKNOWN
