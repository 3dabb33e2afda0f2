"""Compiled loops: landmark questions without replacement, a different number per object."""

from __future__ import annotations

import numpy as np

from nearfar._tools.compiled import compiled

__all__ = ["draw"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # splitmix64's step


@compiled()
def _mix(z):  # type: ignore[no-untyped-def]
    """splitmix64's scrambling of a counter."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled()
def _insert(table, value):  # type: ignore[no-untyped-def]
    """Put value >= 0 into a hash set (size a power of two, -1 is free); False where it was there already."""
    mask = np.uint64(len(table) - 1)
    slot = _mix(np.uint64(value)) & mask
    while table[slot] != -1:
        if table[slot] == value:
            return False
        slot = (slot + np.uint64(1)) & mask
    table[slot] = value
    return True


@compiled()
def _subset(size, state, table, chosen):  # type: ignore[no-untyped-def]
    """Floyd's algorithm: len(chosen) distinct numbers below size; table scratch, chosen out."""
    count = len(chosen)
    if count == size:
        for i in range(size):
            chosen[i] = i
        return
    table[:] = -1
    for i in range(count):
        last = size - count + i
        state += GOLDEN
        value = np.int64(_mix(state) % np.uint64(last + 1))
        if not _insert(table, value):
            value = last
            _insert(table, value)
        chosen[i] = value


@compiled()
def _pair(t):  # type: ignore[no-untyped-def]
    """The t-th pair low < high in the order (0,1), (0,2), (1,2), (0,3), ..."""
    high = np.int64((1.0 + np.sqrt(1.0 + 8.0 * t)) / 2.0)
    while high * (high - 1) // 2 > t:  # the root may be off by one
        high -= 1
    while high * (high + 1) // 2 <= t:
        high += 1
    return t - high * (high - 1) // 2, high


@compiled()
def draw(start, stop, k2, room, offset, rank, marks, key, out):  # type: ignore[no-untyped-def]
    """Questions about the objects start..stop; out[:, offset[x]:offset[x + 1]] are those about x.

    in: room (n,) questions there are, offset (n + 1,), rank (n,) number among the landmarks or -1, marks (k,)
    out: out (3, m) anchor, one, other
    """
    most = 1
    for x in range(start, stop):
        most = max(most, offset[x + 1] - offset[x])
    slots = 4
    while slots < 2 * most:
        slots *= 2
    table = np.empty(slots, dtype=np.int64)
    numbers = np.empty(most, dtype=np.int64)
    k = len(marks)
    for x in range(start, stop):
        chosen = numbers[: offset[x + 1] - offset[x]]
        _subset(room[x], _mix(key ^ _mix(np.uint64(x))), table, chosen)
        p = rank[x]
        for i in range(len(chosen)):
            t, at = chosen[i], offset[x] + i
            if k2 and p < 0:
                a = t // (k - 1)
                b = t % (k - 1)
                b += b >= a
            else:
                a, b = _pair(t)
                if p >= 0:  # pairs of the other landmarks
                    a += a >= p
                    b += b >= p
                # Of the three k2 questions in a trio of landmarks each object owns one: its anchor is
                # the object before it, going round.
                if k2 and not a < p < b:
                    a, b = b, a
            out[0, at] = marks[a] if k2 else x
            out[1, at] = x if k2 else marks[a]
            out[2, at] = marks[b]
