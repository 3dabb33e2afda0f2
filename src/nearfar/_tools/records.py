"""Results as plain data: one rule for every record, so that a page, ``--json`` and a live view show the same."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np


class Record:
    """Mixin for frozen dataclasses that hold a result."""

    def to_dict(self) -> dict[str, Any]:
        """Fields as plain numbers, text, lists and dictionaries, for JSON; what is not known is None."""
        return {
            field.name: plain(getattr(self, field.name))
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.repr
        }


def plain(value: Any) -> Any:
    """Dataclasses and NamedTuples as dictionaries, tuples and arrays as lists, NaN and infinity as None.

    A record says for itself what it is (``to_dict``); a field with ``repr=False`` is left out.

    >>> plain({"share": np.float32(0.5), "limits": (float("nan"), 1.0), "counts": np.arange(2)})
    {'share': 0.5, 'limits': [None, 1.0], 'counts': [0, 1]}
    """
    if hasattr(value, "to_dict") and not isinstance(value, type):
        return plain(value.to_dict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return Record.to_dict(value)  # type: ignore[arg-type]
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        known: Any = value.astype(object)
        known[~np.isfinite(value)] = None
        return known.tolist()
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, tuple | list):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
