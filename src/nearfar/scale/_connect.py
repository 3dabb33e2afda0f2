"""To a cluster and back: a local one of processes, or a scheduler that already runs; checked before work starts."""

from __future__ import annotations

import asyncio
import logging
import re
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

from nearfar.errors import InputError, UnreachableError
from nearfar.scale._engine import Engine, patience, require_dask


@contextmanager
def connect(where: str = "local") -> Iterator[Any]:
    """A Dask client to work with inside the ``with`` block; the verbs of ``nearfar.scale`` find it themselves.

    Parameters
    ----------
    where : "local" for one worker process per core of this machine, "local:4" for four of them, or the address
        of a scheduler such as "tcp://10.0.0.1:8786".

    Yields
    ------
    distributed.Client : closed at the end, and a local cluster with it. You may as well make a client yourself.

    The scheduler and every worker must have the nearfar and the Dask of this process, and the same minor versions of
    Python, NumPy, SciPy and Numba: else this says which differ, before any work.

    A scheduler has ten seconds to reply and ten to have a worker; during the work, half a minute and a minute. The
    environment variables ``NEARFAR_DASK_REPLY_TIMEOUT`` and ``NEARFAR_DASK_WORKER_TIMEOUT`` set other seconds.

    Examples
    --------
    >>> with connect("local:1") as client:
    ...     len(client.scheduler_info()["workers"])
    1
    """
    distributed = require_dask()
    local = re.fullmatch(r"local(?::([1-9]\d*))?", where)
    if local is None and "://" not in where:
        raise InputError(
            f"dask: {where!r} is not a cluster; expected local, local:WORKERS, or the address of a scheduler such as "
            "tcp://10.0.0.1:8786"
        )
    if local is None:
        # nothing is said on stderr: what goes wrong is raised, as one sentence
        with distributed.utils.silence_logging_cmgr(logging.CRITICAL), ExitStack() as at_end:
            client = _open(distributed, where)
            at_end.callback(client.close, timeout=5)
            try:
                client.wait_for_workers(1, timeout=patience("WORKER", 10.0))
            except (distributed.TimeoutError, TimeoutError) as error:
                remedy = f"start some with  dask worker {where}"
                raise UnreachableError(f"{where}: the Dask scheduler has no workers; {remedy}") from error
            Engine(client).verify()
            yield client
        return
    from dask.system import CPU_COUNT

    with (
        local_cluster(int(local[1]) if local[1] else CPU_COUNT) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def local_cluster(n_workers: int, **more: Any) -> Iterator[Any]:
    """Processes of one thread each on this machine, without a dashboard, that say nothing on stderr; closed at the end."""
    with warnings.catch_warnings():
        # a slow disk is not a fault, and where warnings are errors it would keep the cluster from starting
        warnings.filterwarnings("ignore", "Creating scratch directories", UserWarning)
        cluster = require_dask().LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",  # any free port; the usual one may be taken by another cluster
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
            **more,
        )
    try:
        yield cluster
    finally:
        try:
            cluster.close()
        except TimeoutError:  # on a busy machine workers that were killed take long to go; the work is done
            cluster.shutdown_on_close = False  # or Dask would wait for them again when Python ends


def _open(distributed: Any, address: str) -> Any:
    import dask

    seconds = patience("REPLY", 10.0)
    with warnings.catch_warnings():
        # Dask warns of differing versions too, in a table; we say it in a sentence
        warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
        try:
            if dask.config.get("distributed.client.security-loader", None) is None:  # else it has the keys
                with ThreadPoolExecutor(1) as other:  # this one may have a loop that runs already
                    other.submit(asyncio.run, _probe(distributed, address, seconds)).result()
            return distributed.Client(address, timeout=seconds)
        except Exception as error:  # whatever the protocol finds wrong, a missing certificate too
            raise UnreachableError(
                f"{address}: cannot reach a Dask scheduler, {_reason(error)}; check the address and that it runs, "
                "start one with  dask scheduler"
            ) from error


async def _probe(distributed: Any, address: str, seconds: float) -> None:
    """Connect within ``seconds``: Dask waits for ever where a port is open but silent."""
    keys = distributed.Security().get_connection_args("client")
    comm = await asyncio.wait_for(distributed.comm.connect(address, timeout=seconds, **keys), seconds)
    await comm.close()


def _reason(error: Exception) -> str:
    if isinstance(error, (OSError, TimeoutError)):
        return "it does not reply"
    if isinstance(error, MemoryError):  # Dask takes the first words of anybody for the length of a message
        return "something else answers"
    return str(error) or repr(error)
