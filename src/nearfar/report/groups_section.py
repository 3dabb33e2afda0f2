"""Groups of people on the page: what is said and drawn about two of them, and how alike everybody sees the objects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearfar import words
from nearfar.evaluate.agreements import PersonAgreement
from nearfar.evaluate.bootstrap import Estimate
from nearfar.evaluate.groups import GroupComparison, GroupPair
from nearfar.evaluate.subgroups import Subgroups
from nearfar.report.print.placing import place_names

__all__ = [
    "NOT_COMPARED",
    "Alike",
    "GroupsFacts",
    "PairFacts",
    "Share",
    "Spot",
    "alike_facts",
    "groups_facts",
]

SHOWN_MOVES = 10
WIDTH, MARGIN, LETTER, LONGEST = 380.0, 26.0, 5.8, 24  # of a map as it is drawn, and of its names
FAR_OUT = 3.0  # times the typical distance from the middle, where an object stands at the border instead
BORDER = 9.0  # between it and the edge
NOT_COMPARED = (
    "The groups are not compared: that takes two groups of at least three people each, and answers to enough different "
    "questions."
)
MOST_PEOPLE = 60  # in the drawn matrix; everybody is in the tables


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval, None where that is not known; ``points``: the difference of two shares."""

    what: str
    value: float
    low: float | None
    high: float | None
    points: bool = False


@dataclass(frozen=True)
class Spot:
    """An object on the two maps: (x, y) on each over the width of a map, or None where a group says nothing about it.

    ``first_name_at``, ``second_name_at`` : the middle of its name, None where there is no room for it.
    ``first_beyond``, ``second_beyond`` : where it lies so far out that it stands at the border instead, the direction in
    which it lies, in degrees clockwise from the right.
    """

    name: str
    first: tuple[float, float] | None
    second: tuple[float, float] | None
    moves: bool
    first_name_at: tuple[float, float] | None = None
    second_name_at: tuple[float, float] | None = None
    first_beyond: float | None = None
    second_beyond: float | None = None


@dataclass(frozen=True)
class MoveFacts:
    """How far an object lies apart on the two maps, over the radius of the common map."""

    name: str
    distance: float
    low: float
    high: float
    sure: bool


@dataclass(frozen=True)
class PairFacts:
    """Two groups; ``height`` : of a map over its width; ``beyond`` : who is at the border, and why, in a sentence or ""."""

    names: tuple[str, str]
    people: tuple[int, int]
    answers: tuple[int, int]
    level: str
    verdict: str
    p: float
    permutations: int
    agreement: tuple[Share, ...]
    accuracy: tuple[Share, ...]
    leads: tuple[Share, ...]
    spots: tuple[Spot, ...]
    moves: tuple[MoveFacts, ...]
    height: float
    beyond: str = ""


@dataclass(frozen=True)
class GroupsFacts:
    """Every two groups, by which model, and how many people were in none; ``reason`` : why there are no pairs, or ""."""

    model: str
    pairs: tuple[PairFacts, ...]
    left_out: int
    reason: str = ""


@dataclass(frozen=True)
class Alike:
    """How alike people see the objects.

    ``cells`` : (row, column, share, low, high, questions) of two people, where they shared enough questions;
    ``known`` : share of all pairs of people of which that is so; ``sizes`` : of the groups of people shown, in their order.
    """

    verdict: str
    level: str
    groups: int | None
    people: tuple[str, ...]
    cells: tuple[tuple[int, int, float, float, float, int], ...]
    known: float
    chance: float
    sizes: tuple[int, ...] = ()


def groups_facts(found: GroupComparison, display_names: Mapping[str, str]) -> GroupsFacts:
    """Facts of a comparison; ``display_names`` : by name."""
    pairs = tuple(_pair(pair, found.objects, display_names) for pair in found.pairs)
    return GroupsFacts(found.model, pairs, found.left_out)


def _pair(pair: GroupPair, objects: tuple[str, ...], display_names: Mapping[str, str]) -> PairFacts:
    one, other = pair.names
    agreement: tuple[Share, ...] = ()
    if pair.agreement is not None:
        whats = (f"two people of {one}", f"two people of {other}", "one of each", "within less between")
        rates = (*pair.agreement.shares, pair.agreement.gap)
        agreement = tuple(
            _share(what, rate, rate is pair.agreement.gap) for what, rate in zip(whats, rates, strict=True)
        )
    accuracy = tuple(
        _share(f"answers of {pair.names[j]} by the map of {pair.names[i]}", pair.accuracy[i][j])
        for j in (0, 1)
        for i in (j, 1 - j)
    )
    leads = tuple(
        _share(f"own map of {name} over the other's", lead, True)
        for name, lead in zip(pair.names, pair.lead, strict=True)
    )
    sure = {move.name for move in pair.moves if move.sure}
    shown = [move for move in pair.moves if move.sure] or list(pair.moves[:SHOWN_MOVES])
    moves = tuple(
        MoveFacts(display_names.get(m.name, m.name), m.distance, m.low, m.high, m.sure)
        for m in shown[:SHOWN_MOVES]
    )
    level, verdict = _verdict(pair, len(sure))
    spots, height = _spots(pair, objects, display_names, sure)
    return PairFacts(
        pair.names, pair.people, pair.answers, level, verdict, pair.test.p, pair.test.permutations,
        agreement, accuracy, leads, spots, moves, height, _beyond(spots, pair.names),
    )  # fmt: skip


def _verdict(pair: GroupPair, moved: int) -> tuple[str, str]:
    one, other = pair.names
    if pair.test.questions_differ:
        return "poor", (
            f"{one} and {other} were asked different questions, so a difference may lie in the questions and not in the "
            "people; nothing is said about it."
        )
    how = f"p = {pair.test.p:.3f} by {pair.test.permutations:,} permutations of the people"
    if not pair.test.differ:
        return "note", f"{one} and {other} do not differ recognisably ({how}, level 5\xa0%)."
    objects = (
        "no single object clearly moves"
        if not moved
        else f"{moved} object{' clearly moves' if moved == 1 else 's clearly move'}"
    )
    if not pair.each_leads:
        return "fair", (
            f"{one} and {other} see the objects differently, or one of them answers with more noise ({how}, level 5\xa0%): the "
            f"answers of each are not predicted better by its own map than by the other's; {objects}."
        )
    return "good", f"{one} and {other} see the objects differently ({how}, level 5\xa0%); {objects}."


def _spots(
    pair: GroupPair, objects: tuple[str, ...], display_names: Mapping[str, str], sure: set[str]
) -> tuple[tuple[Spot, ...], float]:
    """The objects on both maps, which are one width wide, and how high these are."""
    known = pair.maps[np.isfinite(pair.maps).all(axis=2)]
    if not len(known):
        return (), 1.0
    near = known[~_far_out(known, known)]
    low, high = near.min(axis=0), near.max(axis=0)
    across, along = np.maximum(high - low, 1e-9)
    room = WIDTH - 2 * MARGIN
    scale = min(room / across, room / along)
    tall = max(along * scale + 2 * MARGIN, 0.5 * WIDTH)
    middle = np.array([WIDTH / 2, tall / 2])
    placed = (pair.maps - (low + high) / 2) * scale * [1, -1] + middle
    beyond = [
        _to_border(locations, far, tall)
        for locations, far in zip(placed, _far_out(pair.maps, known), strict=True)
    ]
    shown = [i for i in range(len(objects)) if np.isfinite(placed[:, i]).all(axis=1).any()]
    names = [display_names.get(objects[i], objects[i]) for i in shown]
    moves = np.array([objects[i] in sure for i in shown])
    beside = [
        _names_at(locations, names, moves | np.isfinite(turned[shown]), tall)
        for locations, turned in zip(placed[:, shown], beyond, strict=True)
    ]
    return tuple(
        Spot(
            name, _place(placed[0, i]), _place(placed[1, i]), bool(moves[k]), _place(beside[0][k]), _place(beside[1][k]),
            *(None if math.isnan(turned[i]) else round(float(turned[i]), 1) for turned in beyond),
        )
        for k, (i, name) in enumerate(zip(shown, names, strict=True))
    ), tall / WIDTH  # fmt: skip


def _far_out(points: Any, known: Any) -> Any:
    """Which points would squeeze all others together: beyond FAR_OUT times the distance from the middle that 3 of 4 have."""
    middle = np.median(known, axis=0)
    typical = np.quantile(np.hypot(*(known - middle).T), 0.75)
    far: Any = np.hypot(*np.moveaxis(points - middle, -1, 0)) > FAR_OUT * max(typical, 1e-9)
    return far


def _to_border(locations: Any, far: Any, tall: float) -> Any:
    """(n,) directions of points that are moved, in place, along their direction onto the border; NaN for the others."""
    size = np.array([WIDTH, tall])
    turned = np.full(len(locations), np.nan)
    away = locations[far] - size / 2
    turned[far] = np.degrees(np.arctan2(away[:, 1], away[:, 0]))
    share = (np.abs(away) / (size / 2 - BORDER)).max(axis=1, keepdims=True, initial=0.0)
    locations[far] = size / 2 + away / np.maximum(share, 1.0)
    return turned


def _beyond(spots: tuple[Spot, ...], names: tuple[str, str]) -> str:
    """Which objects stand at the border."""
    where = []
    for name, turned in zip(
        names, ([s.first_beyond for s in spots], [s.second_beyond for s in spots]), strict=True
    ):
        far = [spot.name for spot, direction in zip(spots, turned, strict=True) if direction is not None]
        where += [f"{', '.join(far)} ({name})"] if far else []
    return f"Arrows at the border: objects that lie far beyond it, {'; '.join(where)}." if where else ""


def _names_at(locations: Any, names: list[str], moves: Any, tall: float) -> Any:
    """(n, 2) middles of the names on one map: of objects that move always, of others where there is room."""
    sizes = np.array([[LETTER * min(len(name), LONGEST) + 2, 12.0] for name in names])
    found = np.full((len(names), 2), np.nan)
    here = np.isfinite(locations).all(axis=1)
    found[here] = place_names(locations[here], sizes[here], gap=5.0, frame=(WIDTH, tall))
    crowded = here & moves & np.isnan(found[:, 0])
    found[crowded] = locations[crowded] + [0, 11]
    half = np.minimum(sizes / 2, WIDTH / 2)
    found[crowded] = np.clip(found[crowded], half[crowded], [WIDTH, tall] - half[crowded])
    return found


def _place(point: Any) -> tuple[float, float] | None:
    """Over the width of the map."""
    x, y = (float(value) / WIDTH for value in point)
    return (round(x, 4), round(y, 4)) if math.isfinite(x) and math.isfinite(y) else None


def _share(what: str, found: Estimate, points: bool = False) -> Share:
    known = math.isfinite(found.low) and math.isfinite(found.high)
    return Share(what, found.value, found.low if known else None, found.high if known else None, points)


def alike_facts(tastes: Subgroups | None, agreement: PersonAgreement, shown: Mapping[str, str]) -> Alike:
    """Facts about everybody; ``shown`` : participant -> the name on the page."""
    said = words.subgroups(tastes)
    level, verdict = said.level, str(said)
    order = _order(tastes, agreement)[:MOST_PEOPLE]
    cells = tuple(
        (a, b, float(agreement.share[p, q]), float(agreement.low[p, q]), float(agreement.high[p, q]), int(agreement.shared[p, q]))
        for a, p in enumerate(order)
        for b, q in enumerate(order)
        if p != q and math.isfinite(agreement.share[p, q])
    )  # fmt: skip
    people = tuple(shown.get(agreement.people[p], agreement.people[p]) for p in order)
    count = None if tastes is None else tastes.count
    group = _group_of(tastes)
    sizes = np.bincount([group.get(agreement.people[p], 0) for p in order]).tolist()
    return Alike(verdict, level, count, people, cells, agreement.known, 1 / agreement.options, tuple(sizes))


def _group_of(tastes: Subgroups | None) -> dict[str, int]:
    return {} if tastes is None else dict(zip(tastes.people, tastes.group.tolist(), strict=True))


def _order(tastes: Subgroups | None, agreement: PersonAgreement) -> list[int]:
    """People by group, and within it by how often they agree with others."""
    group = _group_of(tastes)
    known = np.isfinite(agreement.share)
    mean = np.where(known, agreement.share, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    return sorted(range(len(agreement.people)), key=lambda p: (group.get(agreement.people[p], 0), -mean[p]))
