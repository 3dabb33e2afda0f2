"""Records become plain data in one way."""

import json
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from nearfar._tools.records import Record, plain


class Row(NamedTuple):
    share: float
    count: np.int64


@dataclass(frozen=True)
class Inner:
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Outer(Record):
    inner: Inner
    matrix: np.ndarray
    cache: object = field(default=None, repr=False)


class Named(Outer):
    def to_dict(self):
        return {"name": "mine", **super().to_dict()}


def test_everything_nested_is_plain_and_nan_is_none():
    record = Outer(Inner((Row(float("nan"), np.int64(2)),)), np.array([[1.0, np.inf]]), object())
    expected = {"inner": {"rows": [{"share": None, "count": 2}]}, "matrix": [[1.0, None]]}
    assert record.to_dict() == plain(record) == expected
    assert json.loads(json.dumps(plain([record]), allow_nan=False)) == [expected]


def test_a_record_speaks_for_itself_inside_others():
    named = Named(Inner(()), np.arange(2))
    assert plain({"of": named})["of"] == {"name": "mine", "inner": {"rows": []}, "matrix": [0, 1]}
