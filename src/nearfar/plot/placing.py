"""Where to put names and pictures on a map so that they do not lie on each other. All in pixels, or in points."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.arrays import Floats

# where a name may stand beside its point, best first: (share of its width, share of its height) from its centre
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
RINGS = (1.0, 2.5)


def place_names(
    points: Floats,
    sizes: Floats,
    *,
    gap: float,
    frame: tuple[float, float],
    first: NDArray[np.bool_] | None = None,
    always: bool = False,
    blocked: Floats | None = None,
) -> Floats:
    """(n, 2) centres for names of the given (n, 2) sizes beside their points; NaN where there is no room inside the frame.

    Crowded points choose last, so that as many names as possible find room near their point. Names that are ``first`` choose
    before the others, and stand on anything but names where there is no room; ``always`` : even on these, under their point.
    ``blocked`` : (k, 4) boxes (x0, y0, x1, y1).

    >>> place_names(np.array([[50.0, 50.0]]), np.array([[20.0, 10.0]]), gap=4, frame=(100, 100))
    array([[64., 50.]])
    """
    n = len(points)
    marks = np.column_stack([points - gap, points + gap])  # boxes (x0, y0, x1, y1) no name may touch
    lines, named = np.zeros((0, 4)) if blocked is None else blocked, np.zeros((0, 4))
    early = np.zeros(n, bool) if first is None else first
    centres = np.full((n, 2), np.nan)
    order = _loneliest_first(points)
    for x in order[np.argsort(~early[order], kind="stable")]:
        half, every = sizes[x] / 2, np.concatenate([np.delete(marks, x, axis=0), lines, named])
        # what matters stands on lines and marks rather than nowhere
        for others, ring, side in product((every, named) if early[x] else (every,), RINGS, SIDES):
            centre = points[x] + np.array(side) * (half + gap * ring)
            box = np.concatenate([centre - half, centre + half])
            beside = (others[:, :2] >= box[2:]) | (others[:, 2:] <= box[:2])
            if (box[:2] >= 0).all() and (box[2:] <= frame).all() and beside.any(axis=1).all():
                centres[x] = centre
                named = np.concatenate([named, box[None]])
                break
    crowded = early & np.isnan(centres[:, 0]) & always
    half = np.minimum(sizes, frame) / 2
    centres[crowded] = np.clip(points - [0.0, gap] - half * [0, 1], half, frame - half)[crowded]
    return centres


def _loneliest_first(points: Floats) -> NDArray[np.intp]:
    if len(points) < 2:
        return np.arange(len(points))
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    return np.argsort(-squares.min(axis=1), kind="stable")


def spread(points: Floats, sizes: Floats, *, frame: tuple[float, float], steps: int = 300) -> Floats:
    """(n, 2) centres for boxes of the given sizes, moved apart as little as it takes, inside the frame.

    >>> spread(np.array([[50.0, 50.0], [52.0, 50.0]]), np.array([[10.0, 10.0]] * 2), frame=(100, 100)).round(1)
    array([[46., 50.],
           [56., 50.]])
    """
    half = sizes / 2
    reach = half[:, None] + half[None]
    low, high = np.minimum(half, np.array(frame) - half), np.maximum(half, np.array(frame) - half)
    centres = np.clip(points.astype(np.float64), low, high)
    order = np.arange(len(points))
    # of two on one spot the earlier goes left
    sideways = np.sign(order[:, None] - order)[..., None] * [1.0, 0.0]
    for _ in range(steps):
        gaps = centres[:, None] - centres[None]
        overlap = reach - np.abs(gaps)
        hit: NDArray[np.bool_] = np.all(overlap > 1e-6, axis=2)
        np.fill_diagonal(hit, False)
        if not hit.any():
            break
        # along the line between the two, as far as it takes to part them, half of it each
        together = np.abs(gaps).max(axis=2) < 1e-9
        towards = np.where(together[..., None], sideways, gaps)
        lengths = np.abs(towards)
        factor = np.where(lengths > 1e-9, overlap / np.maximum(lengths, 1e-9), np.inf).min(axis=2)
        moves = (towards * np.where(hit, factor / 2, 0.0)[..., None]).sum(axis=1)
        moves /= np.maximum(hit.sum(axis=1), 1)[:, None]
        centres = np.clip(centres + moves, low, high)
    return centres


def far_out(at: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Which points would squeeze all others together: beyond three times the distance from the middle that 3 of 4 have; the others."""
    known: NDArray[np.bool_] = np.isfinite(at.sum(axis=-1))
    if not known.any():
        return known, np.zeros((0, 2))
    away = np.hypot(*np.moveaxis(at - np.median(at[known], axis=0), -1, 0))
    far: NDArray[np.bool_] = away > 3 * max(np.quantile(away[known], 0.75), 1e-9)
    return far, at[known & ~far]


def to_border(at: Floats, far: NDArray[np.bool_], size: Floats, border: float) -> Floats:
    """(n,) directions in degrees of points that are moved, in place, to the border of a frame; NaN for the others."""
    turned = np.full(len(at), np.nan)
    away = at[far] - size / 2
    turned[far] = np.degrees(np.arctan2(away[:, 1], away[:, 0]))
    share = (np.abs(away) / (size / 2 - border)).max(axis=1, keepdims=True, initial=0.0)
    at[far] = size / 2 + away / np.maximum(share, 1.0)
    return turned
