"""The joins of a tree as a table: what ``nearfar tree`` and the bundle of a report write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl


def joins(tree: Any, names: Sequence[str], sizes: Sequence[int] | None = None) -> pl.DataFrame:
    """A row per join of a linkage matrix, lowest first: what was joined, at which height, how many objects it holds.

    ``sizes`` : how many objects each leaf stands for.
    """
    n, held = len(names), [1] * len(names) if sizes is None else list(sizes)
    rows = []
    for row, (left, right, height, _) in enumerate(np.asarray(tree).tolist()):
        held.append(held[int(left)] + held[int(right)])
        one, other = (names[int(node)] if node < n else f"join {int(node) - n + 1}" for node in (left, right))
        rows.append((f"join {row + 1}", one, other, height, held[-1]))
    schema = dict.fromkeys(("join", "left", "right"), pl.String) | {"height": pl.Float64, "size": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")
