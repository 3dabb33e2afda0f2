"""Held-out accuracy where neither the answers nor the rows are in one place."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from nearfar.errors import InputError
from nearfar.evaluate.metrics import TripletAccuracy
from nearfar.kernel.factored import is_sparse
from nearfar.methods.strategy import stored_bytes
from nearfar.scale._answers import Answers, Batch, Piece, as_answers
from nearfar.scale._cut import Cut, cut_rows
from nearfar.scale._engine import Future, current_engine
from nearfar.space.margins import phi_margins, point_margins
from nearfar.triplets import Triplets

__all__ = ["triplet_accuracy"]

ROWS_BYTES = 1 << 26  # of rows that one task looks at


def triplet_accuracy(
    held_out: Answers | Triplets | ArrayLike, *, points: Any = None, phi: Any = None
) -> TripletAccuracy:
    """Share of held-out answers that points or features predict; a tie counts one half.

    Parameters
    ----------
    held_out : answers that had no part in the fit.
    points : (n, d) dask array of coordinates, as ``KernelPCA`` makes them: judged by their distances.
    phi : (n, p) dask array of features: judged by the kernel, as ``nearfar.triplet_accuracy(kernel=K)``.
    """
    if (points is None) == (phi is None):
        raise InputError(
            f"triplet_accuracy: expected points=... or phi=..., got {'none' if points is None else 'both'}",
        )
    engine, answers = current_engine(), as_answers(held_out)
    cut = cut_rows(engine, phi if points is None else points)
    if cut.n_rows != answers.n_objects:
        raise InputError(
            f"held_out: speaks about {answers.n_objects:,} objects, but there are {cut.n_rows:,} rows; give both the "
            "same object list",
        )
    batches = [engine.submit("held-out", _read, piece, answers.names) for piece in answers.pieces]
    sizes = engine.gather("reading held-out answers", engine.map("held-out", len, batches))
    stored = engine.gather("looking at the features", engine.map("facts", stored_bytes, cut.blocks))
    step = max(1, ROWS_BYTES * cut.n_rows // (3 * sum(stored) + 1))
    judged: list[Future] = []
    for batch, size in zip(batches, sizes, strict=True):
        judged += _judge_batch(cut, batch, range(0, size, step), "phi" if points is None else "points")
    tallies = engine.gather("judging answers", judged)
    halves, ties, m = (sum(column) for column in zip(*tallies, strict=True)) if tallies else (0, 0, 0)
    return TripletAccuracy(halves / (2 * m) if m else np.nan, ties / m if m else np.nan, m)


def _judge_batch(cut: Cut, batch: Future, starts: range, kind: str) -> list[Future]:
    """Futures of the tallies of a batch, cut so that the rows it speaks about fit one task."""
    engine = cut.engine
    judged = []
    for first in starts:
        part = engine.submit("held-out", _slice, batch, first, first + starts.step)
        rows = engine.map("pick", _pick, cut.blocks, cut.starts, [part] * len(cut.blocks))
        judged.append(engine.submit("judge", _judge, part, rows, kind))
    return judged


# -------------------------------------------------------------------- tasks


class _Tally(NamedTuple):
    """Twice the credit, so that it is a whole number; ties; answers."""

    halves: int
    ties: int
    answers: int


def _read(piece: Piece, names: Any) -> Batch:
    batches = list(piece.read(names))
    roles = [[getattr(batch, role) for batch in batches] for role in ("anchor", "near", "far")]
    none = np.empty(0, np.int32)
    return Batch(*(np.concatenate([none, *columns]) for columns in roles))


def _slice(batch: Batch, first: int, last: int) -> Batch:
    return Batch(batch.anchor[first:last], batch.near[first:last], batch.far[first:last])


def _objects(batch: Batch) -> NDArray[np.int32]:
    return np.unique(np.concatenate([batch.anchor, batch.near, batch.far]))


def _pick(block: Any, start: int, batch: Batch) -> Any:
    """The rows of a block that a batch speaks about."""
    objects = _objects(batch)
    here = objects[(objects >= start) & (objects < start + block.shape[0])] - start
    return block[here]


def _judge(batch: Batch, picked: list[Any], kind: str) -> _Tally:
    rows: Any = sparse.csr_array(sparse.vstack(picked)) if is_sparse(picked[0]) else np.concatenate(picked)
    objects = _objects(batch)
    places = [
        np.searchsorted(objects, role).astype(np.int32) for role in (batch.anchor, batch.near, batch.far)
    ]
    margin = (phi_margins if kind == "phi" else point_margins)(rows, *places)
    ties = int((margin == 0).sum())
    return _Tally(2 * int((margin > 0).sum()) + ties, ties, len(batch))
