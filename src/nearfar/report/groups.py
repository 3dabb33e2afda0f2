"""Groups of participants on the page: the figures of every two groups, and their two maps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfar import words
from nearfar._tools.records import plain
from nearfar.plot.placing import far_out, place_names, to_border

if TYPE_CHECKING:
    from nearfar.evaluate.groups import GroupComparison, GroupPair

WIDTH, MARGIN, BORDER = 380.0, 26.0, 9.0  # of a map as drawn; from the edge to objects, and to those far out
NOT_COMPARED = (
    "Groups are not compared: that takes two groups of three people each, and answers to enough questions."
)


def group_comparison(comparison: GroupComparison, display_names: Mapping[str, str]) -> dict[str, Any]:
    """Every two groups; ``display_names`` : by name."""
    pairs = [_pair(pair, comparison.objects, display_names) for pair in comparison.pairs]
    told = {"model": comparison.model, "left_out": comparison.left_out, "reason": ""}
    return {**told, "finding": words.group_comparison(comparison)._asdict(), "pairs": pairs}


def _pair(pair: GroupPair, objects: tuple[str, ...], display_names: Mapping[str, str]) -> dict[str, Any]:
    one, other = pair.names
    kinds = f"two people of {one}", f"two people of {other}", "one of each"
    same = zip(kinds, pair.agreement or (), strict=False)
    shares: list[Any] = [(f"Same answer: {kind}", {"value": share}) for kind, share in same]
    for j, i in ((0, 0), (0, 1), (1, 1), (1, 0)):
        what = f"Answers of {pair.names[j]}, predicted by the map of {pair.names[i]}"
        shares.append((what, pair.accuracy[i][j]))
    leads = [(f"Own map of {name} minus the other's", pair.lead[j]) for j, name in enumerate(pair.names)]
    return {
        "names": pair.names,
        "people": pair.people,
        "answers": pair.answers,
        "finding": words.group_pair(pair)._asdict(),
        "p": pair.test.p,
        "shares": [{"what": what, **plain(share)} for what, share in shares],
        "differences": [{"what": what, **plain(lead)} for what, lead in leads],
        "moves": [{**plain(m), "name": display_names.get(m.name, m.name)} for m in pair.moves],
        "moved": words.moves(pair, display_names),
        **two_maps(pair, objects, display_names),
    }


def two_maps(pair: GroupPair, objects: tuple[str, ...], display_names: Mapping[str, str]) -> dict[str, Any]:
    """Where objects and their names stand on two maps of width 1, how high these are, and who lies beyond their border.

    A spot has a name, whether it ``moves``, and for each map ``at``, ``name_at`` (the middle of its name, None without room) and
    ``beyond`` (where it is so far out that it stands at the border: its direction in degrees clockwise from the right).
    """
    far, near = far_out(pair.maps)
    called = [display_names.get(name, name) for name in objects]
    if not len(near):
        return {"spots": [], "height": 1.0, "beyond": ""}
    low, high = near.min(axis=0), near.max(axis=0)
    scale = float(((WIDTH - 2 * MARGIN) / np.maximum(high - low, 1e-9)).min())
    tall = max((high - low)[1] * scale + 2 * MARGIN, 0.5 * WIDTH)
    placed = (pair.maps - (low + high) / 2) * scale * [1, -1] + [WIDTH / 2, tall / 2]
    shown = np.flatnonzero(np.isfinite(placed).all(axis=2).any(axis=0))
    placed, names = placed[:, shown], [called[i] for i in shown]
    frame = np.array([WIDTH, tall])
    beyond = np.stack(
        [to_border(at, out, frame, BORDER) for at, out in zip(placed, far[:, shown], strict=True)]
    )
    sure = {move.name for move in pair.moves if move.sure}
    moves = np.array([objects[i] in sure for i in shown])
    name_at = [_names_at(placed[w], names, moves | np.isfinite(beyond[w]), tall) for w in (0, 1)]
    columns = {
        "name": names,
        "moves": moves,
        "at": np.round(placed / WIDTH, 4).swapaxes(0, 1),
        "name_at": np.round(np.stack(name_at, axis=1) / WIDTH, 4),
        "beyond": np.round(beyond, 1).T,
    }
    rows = zip(*map(plain, columns.values()), strict=True)
    spots = [{key: _known(value) for key, value in zip(columns, row, strict=True)} for row in rows]
    return {"spots": spots, "height": tall / WIDTH, "beyond": words.beyond(pair, far, called)}


def _known(value: Any) -> Any:
    """For each of two maps, a place or None."""
    return [None if at == [None, None] else at for at in value] if isinstance(value, list) else value


def _names_at(at: Any, names: list[str], always: Any, tall: float) -> Any:
    """(n, 2) middles of the names on one map: some always, others where there is room."""
    sizes = np.array([[5.8 * min(len(name), 24) + 2, 12.0] for name in names])
    middles = np.full((len(names), 2), np.nan)
    here = np.isfinite(at).all(axis=1)
    given = {"first": always[here], "always": True}
    middles[here] = place_names(at[here], sizes[here], gap=5.0, frame=(WIDTH, tall), **given)
    return middles
