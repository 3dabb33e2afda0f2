"""Groups of participants on the page: the figures of every two groups, their two maps, and who agrees with whom."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nearfar import words
from nearfar._tools.records import plain
from nearfar._tools.text import number
from nearfar.plot.placing import far_out, place_names, to_border

if TYPE_CHECKING:
    from nearfar.evaluate.agreements import PersonAgreement
    from nearfar.evaluate.groups import GroupComparison, GroupPair
    from nearfar.evaluate.subgroups import Subgroups

SHOWN_MOVES = 10
WIDTH, MARGIN, BORDER = (
    380.0,
    26.0,
    9.0,
)  # of a map as it is drawn; between the edge and objects, and objects far out
NOT_COMPARED = (
    "Groups are not compared: that takes two groups of three people each, and answers to enough questions."
)


def group_comparison(comparison: GroupComparison, display_names: Mapping[str, str]) -> dict[str, Any]:
    """Every two groups; ``display_names`` : by name."""
    pairs = [_pair(pair, comparison.objects, display_names) for pair in comparison.pairs]
    told = words.group_comparison(comparison)._asdict()
    return {
        "model": comparison.model,
        "left_out": comparison.left_out,
        "reason": "",
        "finding": told,
        "pairs": pairs,
    }


def _pair(pair: GroupPair, objects: tuple[str, ...], display_names: Mapping[str, str]) -> dict[str, Any]:
    one, other = pair.names
    shares: dict[str, Any] = {}
    if pair.agreement is not None:
        names = (f"two people of {one}", f"two people of {other}", "one of each")
        for name, share in zip(names, pair.agreement, strict=True):
            shares[f"Same answer: {name}"] = {"value": share}
    differences = {}
    for j in (0, 1):
        for i in (j, 1 - j):
            shares[f"Answers of {pair.names[j]}, predicted by the map of {pair.names[i]}"] = pair.accuracy[i][
                j
            ]
        differences[f"Own map of {pair.names[j]} minus the other's"] = pair.lead[j]
    moves = [move for move in pair.moves if move.sure] or list(pair.moves)
    return {
        "names": pair.names,
        "people": pair.people,
        "answers": pair.answers,
        "finding": words.group_pair(pair)._asdict(),
        "p": pair.test.p,
        "shares": [{"what": what, **plain(share)} for what, share in shares.items()],
        "differences": [{"what": what, **plain(share)} for what, share in differences.items()],
        "moves": [{**plain(m), "name": display_names.get(m.name, m.name)} for m in moves[:SHOWN_MOVES]],
        **two_maps(pair, objects, display_names),
    }


def two_maps(
    pair: GroupPair, objects: tuple[str, ...], display_names: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Where objects and their names stand on two maps of width 1, how high these are, and who lies beyond their border.

    A spot has a name, whether it ``moves``, and for each map ``at``, ``name_at`` (the middle of its name, None without room) and
    ``beyond`` (where it is so far out that it stands at the border: its direction in degrees clockwise from the right).
    """
    known = pair.maps[np.isfinite(pair.maps).all(axis=2)]
    if not len(known):
        return {"spots": [], "height": 1.0, "beyond": ""}
    near = known[~far_out(known, known)]
    low, high = near.min(axis=0), near.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    scale = float(((WIDTH - 2 * MARGIN) / span).min())
    tall = max(span[1] * scale + 2 * MARGIN, 0.5 * WIDTH)
    placed = (pair.maps - (low + high) / 2) * scale * [1, -1] + [WIDTH / 2, tall / 2]
    turned = np.stack(
        [
            to_border(at, far, np.array([WIDTH, tall]), BORDER)
            for at, far in zip(placed, far_out(pair.maps, known), strict=True)
        ]
    )
    shown = np.flatnonzero(np.isfinite(placed).all(axis=2).any(axis=0))
    names = [(display_names or {}).get(objects[i], objects[i]) for i in shown]
    sure = {move.name for move in pair.moves if move.sure}
    moves = np.array([objects[i] in sure for i in shown])
    beside = [
        _names_at(at, names, moves | np.isfinite(away), tall)
        for at, away in zip(placed[:, shown], turned[:, shown], strict=True)
    ]
    spots: list[dict[str, Any]] = [
        {
            "name": name,
            "moves": bool(moves[k]),
            "at": [_over_width(placed[which, i]) for which in (0, 1)],
            "name_at": [_over_width(beside[which][k]) for which in (0, 1)],
            "beyond": [
                None if np.isnan(turned[which, i]) else round(float(turned[which, i]), 1) for which in (0, 1)
            ],
        }
        for k, (i, name) in enumerate(zip(shown, names, strict=True))
    ]
    far = [
        f"{', '.join(spot['name'] for spot in spots if spot['beyond'][which] is not None)} ({pair.names[which]})"
        for which in (0, 1)
        if any(spot["beyond"][which] is not None for spot in spots)
    ]
    told = f"Arrows at the border point to objects far beyond it: {'; '.join(far)}." if far else ""
    return {"spots": spots, "height": tall / WIDTH, "beyond": told}


def _names_at(at: Any, names: list[str], always: Any, tall: float) -> Any:
    """(n, 2) middles of the names on one map: some always, others where there is room."""
    sizes = np.array([[5.8 * min(len(name), 24) + 2, 12.0] for name in names])
    middles = np.full((len(names), 2), np.nan)
    here = np.isfinite(at).all(axis=1)
    middles[here] = place_names(at[here], sizes[here], gap=5.0, frame=(WIDTH, tall))
    crowded = here & always & np.isnan(middles[:, 0])
    half = np.minimum(sizes / 2, WIDTH / 2)[crowded]
    middles[crowded] = np.clip(at[crowded] + [0, 11], half, [WIDTH, tall] - half)
    return middles


def _over_width(point: Any) -> tuple[float, float] | None:
    x, y = (round(float(value) / WIDTH, 4) for value in point)
    return (x, y) if math.isfinite(x) and math.isfinite(y) else None


def agreement(
    subgroups: Subgroups | None, alike: PersonAgreement, shown: Mapping[str, str], most: int = 60
) -> dict[str, Any]:
    """How often every two people gave the same answer, for a matrix of at most so many; subgroups stand together."""
    group = {} if subgroups is None else dict(zip(subgroups.people, subgroups.group.tolist(), strict=True))
    known = np.isfinite(alike.share)
    mean = np.where(known, alike.share, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    order = sorted(range(len(alike.people)), key=lambda p: (group.get(alike.people[p], 0), -mean[p]))[:most]
    square = np.ix_(order, order)
    everybody = alike.n_participants
    sample = f" Of {number(everybody)} participants, a random {number(len(alike.people))} were compared."
    return {
        "people": [shown.get(alike.people[p], alike.people[p]) for p in order],
        "sizes": np.bincount([group.get(alike.people[p], 0) for p in order]),
        "share": alike.share[square],
        "shared": alike.shared[square],
        "known": alike.known,
        "sample": sample if everybody > len(alike.people) else "",
        "chance": 1 / alike.options,
    }
