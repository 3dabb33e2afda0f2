"""Held-out accuracy where neither the answers nor the rows are in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nearfar.blocks import RowBlocks, join
from nearfar.errors import InputError
from nearfar.evaluate.metrics import TripletAccuracy
from nearfar.kernel.phi import stored_bytes
from nearfar.scale._answers import Answers, Piece, Roles, as_answers
from nearfar.space.margins import phi_margins, point_margins
from nearfar.triplets import Triplets

ROWS_BYTES = 1 << 26  # of rows that one task looks at


def triplet_accuracy(
    held_out: Answers | Triplets | ArrayLike,
    *,
    points: Any = None,
    phi: Any = None,
    rows_bytes: int = ROWS_BYTES,
) -> TripletAccuracy:
    """Share of held-out answers that points or features predict; a tie counts one half.

    Parameters
    ----------
    held_out : answers that were not used in the fit.
    points : (n, d) RowBlocks of coordinates, as ``KernelPCA`` makes them: judged by their distances.
    phi : (n, p) RowBlocks of features: judged by the kernel, as ``nearfar.metrics.triplet_accuracy(K=K)``.
    rows_bytes : of the rows that one task looks at, at most.

    Examples
    --------
    >>> import tempfile
    >>> from nearfar.scale import FeatureMap, scratch
    >>> with scratch(tempfile.mkdtemp()):
    ...     phi = FeatureMap("score").fit_transform([[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    ...     float(triplet_accuracy([[0, 1, 2]], phi=phi))
    1.0
    """
    if (points is None) == (phi is None):
        got = "none" if points is None else "both"
        raise InputError(f"triplet_accuracy: expected points=... or phi=..., got {got}")
    rows, answers = phi if points is None else points, as_answers(held_out)
    if not isinstance(rows, RowBlocks):
        raise InputError(
            f"triplet_accuracy: expected rows in blocks, got {type(rows).__name__}; for a matrix in memory use "
            "nearfar.metrics.triplet_accuracy, for a dask array nearfar.scale.from_dask"
        )
    if rows.n_rows != answers.n_objects:
        raise InputError(
            f"held_out: is about {answers.n_objects:,} objects, but there are {rows.n_rows:,} rows; give both the "
            "same object list"
        )
    backend = rows.backend
    batches = [backend.submit("held-out", _read, piece, answers.names) for piece in answers.pieces]
    sizes = backend.gather(
        "reading held-out answers", backend.map("held-out", lambda batch: len(batch[0]), batches)
    )
    stored = sum(rows.gather("looking at the features", stored_bytes))
    step = max(1, rows_bytes * rows.n_rows // (3 * stored + 1))
    kind = "phi" if points is None else "points"
    judged = []  # so few answers at a time that the rows they are about fit one task
    for batch, size in zip(batches, sizes, strict=True):
        for first in range(0, size, step):
            some = backend.submit("held-out", _slice, batch, first, first + step)
            picked = rows.map("pick", _pick, rows.starts, batch=some)
            judged.append(backend.submit("judge", _judge, some, picked, kind))
    halves, ties, m = np.sum([(0, 0, 0), *backend.gather("judging answers", judged)], axis=0).tolist()
    return TripletAccuracy(halves / (2 * m) if m else np.nan, ties / m if m else np.nan, m)


# -------------------------------------------------------------------- tasks


def _read(piece: Piece, names: Any) -> Roles:
    none = np.empty((3, 0), np.int32)
    return tuple(np.concatenate(role) for role in zip(none, *piece.read(names), strict=True))


def _slice(batch: Roles, first: int, last: int) -> Roles:
    return tuple(role[first:last] for role in batch)


def _pick(block: Any, start: int, batch: Roles) -> Any:
    """The rows of a block that a batch concerns."""
    objects = np.unique(batch)
    return block[objects[(objects >= start) & (objects < start + block.shape[0])] - start]


def _judge(batch: Roles, picked: list[Any], kind: str) -> tuple[int, int, int]:
    """Twice the credit, so that it is a whole number; ties; answers."""
    indices = np.searchsorted(np.unique(batch), batch).astype(np.int32)
    margin = (phi_margins if kind == "phi" else point_margins)(join(picked), *indices)
    ties = int((margin == 0).sum())
    return (2 * int((margin > 0).sum()) + ties, ties, len(margin))
