"""Are the workers like us? The versions that a cluster has beside those of this process."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from nearfar.errors import InputError

__all__ = ["check_versions"]

EXACTLY = ("nearfar", "dask", "distributed")
NEARLY = ("python", "numpy", "scipy", "numba")  # 3.11.4 may work with 3.11.5
Versions = dict[str, str | None]


def check_versions(client: Any, address: str, workers: list[str] | None = None) -> None:
    """One sentence where the scheduler or a worker has no nearfar, or other versions than this process.

    ``workers`` : the addresses of those to look at; all without it.
    """
    told = client.get_versions()  # in Dask's own words: a function of ours can crash another Python
    asked = (
        told["workers"]
        if workers is None
        else {w: told["workers"][w] for w in workers if w in told["workers"]}
    )
    _check_alike(address, _of_dask(told["client"]), _named(told["scheduler"], asked, _of_dask))
    ours = _versions_reader()
    found = client.run(ours, workers=list(asked)) if asked else {}
    _check_alike(address, ours(), _named(client.run_on_scheduler(ours), found, dict))


def _named(
    scheduler: Any, workers: dict[str, Any], reading: Callable[[Any], Versions]
) -> dict[str, Versions]:
    found = {"the scheduler": scheduler} | {f"worker {worker}": workers[worker] for worker in sorted(workers)}
    return {who: reading(there) for who, there in found.items()}


def _of_dask(told: Any) -> Versions:
    """Versions of Python and Dask, as Dask tells them."""
    packages = told["packages"]
    python = packages["python"].removesuffix(".final.0")
    return {"python": python, "dask": packages["dask"], "distributed": packages["distributed"]}


def _check_alike(address: str, here: Versions, found: dict[str, Versions]) -> None:
    for who, there in found.items():
        if there.get("nearfar", "") is None:
            raise InputError(
                f"{address}: {who} has no nearfar; install version {here['nearfar']} there, from the checkout",
            )
        if differ := _differing(here, there):
            raise InputError(
                f"{address}: {who} has {', '.join(differ)}; install the same versions everywhere",
            )


def _versions_reader() -> Callable[[], Versions]:
    """A function that needs no nearfar to run: made inside a function, it travels by value."""
    names = EXACTLY + NEARLY[1:]

    def versions() -> Versions:
        found: Versions = {"python": platform.python_version()}
        for name in names:
            try:
                found[name] = version(name) if find_spec(name) else None
            except PackageNotFoundError:
                found[name] = None
        return found

    return versions


def _differing(here: Versions, there: Versions) -> list[str]:
    """Packages that are not alike: to the last digit, or in the first two numbers of the version.

    >>> _differing({"numpy": "2.4.0"}, {"numpy": "2.4.1"}), _differing({"dask": "1.0"}, {"dask": "1.1"})
    ([], ['dask 1.1 (here 1.0)'])
    >>> _differing({"numba": "0.61.0"}, {"numba": None})
    ['no numba (here 0.61.0)']
    """

    def shown(name: str, value: str | None) -> str | None:
        return value if value is None or name in EXACTLY else ".".join(value.split(".")[:2])

    return [
        f"{f'no {name}' if there[name] is None else f'{name} {there[name]}'} (here {here[name]})"
        for name in here
        if shown(name, there[name]) != shown(name, here[name])
    ]
