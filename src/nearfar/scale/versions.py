"""Are the workers like us? The versions that a cluster has beside those of this process."""

from __future__ import annotations

from typing import Any

from nearfar.errors import InputError

SAME_VERSION = ("nearfar", "dask", "distributed")
SAME_MINOR_VERSION = ("python", "numpy", "scipy", "numba")  # 3.11.4 may work with 3.11.5


def check_versions(client: Any, address: str, workers: list[str] | None = None) -> None:
    """One sentence where the scheduler or a worker has no nearfar, or other versions than this process.

    ``workers`` : the addresses of those to look at; all without it. Dask itself asks them: a function of ours can crash
    another Python.
    """
    told = client.get_versions(packages=[*SAME_VERSION, *SAME_MINOR_VERSION[1:]])
    here = _shown(told["client"])
    asked = [worker for worker in sorted(told["workers"]) if workers is None or worker in workers]
    cluster = {"the scheduler": told["scheduler"]} | {f"worker {w}": told["workers"][w] for w in asked}
    for who, there in cluster.items():
        if there["packages"]["nearfar"] is None:
            remedy = f"install version {here['nearfar']} there, from the checkout"
            raise InputError(f"{address}: {who} has no nearfar; {remedy}")
        if differ := ", ".join(_differing(here, _shown(there))):
            raise InputError(f"{address}: {who} has {differ}; install the same versions everywhere")


def _shown(told: Any) -> dict[str, str | None]:
    """The versions that count, as Dask tells them."""
    versions = {name: told["packages"].get(name) for name in (*SAME_VERSION, *SAME_MINOR_VERSION)}
    return versions | {"python": versions["python"].removesuffix(".final.0")}


def _differing(here: dict[str, str | None], there: dict[str, str | None]) -> list[str]:
    """Packages that are not alike: to the last digit, or in the first two numbers of the version.

    >>> _differing({"numpy": "2.4.0"}, {"numpy": "2.4.1"}), _differing({"dask": "1.0"}, {"dask": "1.1"})
    ([], ['dask 1.1 (here 1.0)'])
    >>> _differing({"numba": "0.61.0"}, {"numba": None})
    ['no numba (here 0.61.0)']
    """

    digits = {name: None if name in SAME_VERSION else 2 for name in here}
    return [
        f"{f'no {name}' if there[name] is None else f'{name} {there[name]}'} (here {here[name]})"
        for name, most in digits.items()
        if str(there[name]).split(".")[:most] != str(here[name]).split(".")[:most]
    ]
