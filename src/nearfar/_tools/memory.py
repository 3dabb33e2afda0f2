"""How much memory there is to work in, and one sentence where a matrix would take more."""

from __future__ import annotations

import os
from pathlib import Path

from nearfar._tools.limits import LIMITS
from nearfar.errors import TooLargeError

CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int:
    """Bytes that can be had without swapping: of the machine, the container or ``LIMITS``, whichever has least.

    Half the machine's memory where the system does not say.
    """
    return min(_of_machine(), _of_container(), LIMITS.memory_bytes)


def check_square(n: int, itemsize: int, *, copies: int = 1) -> None:
    """Raise TooLargeError where an (n, n) matrix, so many times over, takes more than there is."""
    check_bytes(
        copies * n * n * itemsize,
        f"the kernel matrix of {n:,} objects needs",
        "KernelPCA and KernelKMeans (nearfar map, nearfar cluster) work on Phi without it, and "
        "nearfar.scale.kernel_matrix(..., to='K.zarr') writes it to disk",
    )


def check_points(n: int, n_components: int, copies: int = 3) -> None:
    """Raise TooLargeError where so many coordinates take more than there is; ``copies`` : arrays of them that are held."""
    check_bytes(
        copies * n * n_components * 8,
        f"n_components: {n_components:,} coordinates of {n:,} objects need",
        f"take fewer{f', {n:,} hold everything' if n_components > n else ''}",
    )


def check_bytes(needed: int, what: str, remedy: str) -> None:
    """Raise TooLargeError where something needs more bytes than there are."""
    small = 1 << 25  # asking the system takes longer than it takes to make a small matrix
    if needed > min(small, LIMITS.memory_bytes) and needed > (free := available_bytes()):
        raise TooLargeError(f"{what} {needed / 1e9:.1f} GB, but {free / 1e9:.1f} GB are free; {remedy}")


def _of_machine() -> int:
    listing = Path("/proc/meminfo")
    if listing.exists():
        for line in listing.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return 4 << 30


def _of_container() -> int:
    """What the limit of a container leaves, the cache of files not counted; no limit where there is none."""
    try:
        most, used, stat = (
            (CGROUP / name).read_text(encoding="ascii").strip()
            for name in ("memory.max", "memory.current", "memory.stat")
        )
        facts = dict(line.split() for line in stat.splitlines())
        cached = sum(int(facts.get(name, 0)) for name in ("inactive_file", "active_file"))
        return max(int(most) - int(used) + cached, 0) if most != "max" else 1 << 62
    except (OSError, ValueError):
        return 1 << 62
