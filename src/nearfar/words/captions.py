"""Captions of figures, as text beside them: what is shown, how to read it, what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nearfar._tools.text import count, listed


def map_caption(
    model: str,
    *,
    drawn: int,
    named: int,
    without: Sequence[str] = (),
    colours: str = "",
    told: str = "",
) -> str:
    """Of a map; ``named`` : how many objects have their name or picture, ``without`` : objects without a usable answer.

    >>> map_caption("tste-2", drawn=12, named=9)
    'Map of 12 objects (tste-2). Similar objects are close together; directions have no meaning. Not all names fit: 9 of 12 are shown.'
    """
    parts = [
        f"Map of {count(drawn, 'object')} ({model}).",
        told,
        "Similar objects are close together; directions have no meaning.",
        colours,
        f"Not all names fit: {named} of {drawn} are shown." if 0 < named < drawn else "",
    ]
    return _joined(*parts, _missing(without))


def tree_caption(
    model: str,
    method: str,
    *,
    drawn: int,
    clusters: int | None = None,
    named: bool,
    without: Sequence[str] = (),
) -> str:
    """Of a tree; ``named`` : whether there was room for names."""
    return _joined(
        f"Tree of {count(drawn, 'object')} ({method} linkage in the space of {model}).",
        "A join stands at the distance between the two branches it joins.",
        "" if clusters is None else f"Colours: the {clusters} clusters below the dashed line.",
        "" if named else "There is no room for names at this size.",
        _missing(without),
    )


def matrix_caption(model: str, *, drawn: int, without: Sequence[str] = ()) -> str:
    """Of a kernel matrix."""
    return _joined(
        f"Similarity of every two of {count(drawn, 'object')} ({model}), in the order of the tree.",
        "The diagonal may lie beyond the scale.",
        _missing(without),
    )


def comparison_caption(comparison: dict[str, Any]) -> str:
    """Of models side by side, from their record as plain data."""
    return _joined(
        f"Held-out accuracy of {count(len(comparison['scores']), 'model')}.",
        "Lines: 95 % intervals. Orange: the chosen model, and the best in two dimensions. Dashed: guessing.",
        _possible(comparison["ceiling"]),
    )


def curve_caption(curve: dict[str, Any], ceiling: dict[str, Any]) -> str:
    """Of a learning curve, from the records as plain data."""
    twice = " Open dot: expected with twice the answers." if curve["next_gain"] else ""
    return _joined(
        f"Learning curve of {curve['model']}. Band: 95 % interval.{twice} Dashed: guessing.",
        _possible(ceiling),
    )


def groups_caption(pair: Any, finding: str, beyond: Sequence[str] = ()) -> str:
    """Of two groups side by side; ``finding`` : what was found, ``beyond`` : objects at the border."""
    one, other = pair.names
    return _joined(
        f"Maps of {one} and {other}, turned onto each other.",
        finding,
        "Coloured objects clearly differ; lines lead to where the other group sees them.",
        f"Arrows at the border point to objects far beyond it: {listed(list(beyond))}." if beyond else "",
    )


PARTICIPANTS = (
    "Agreement of participants with the model's prediction of their held-out answers. Lines: 95 % intervals. "
    "Orange: to check. Dashed: guessing."
)
POSITIONS = "Uncertainty of positions: radius of an object's circle as a share of the map's radius."
COVERAGE = "Answers per object, fewest first."


def _possible(ceiling: dict[str, Any]) -> str:
    possible = ceiling["best_possible"]
    if not possible:
        return "The best possible accuracy is unknown."
    return f"Shaded: the best possible accuracy, {100 * possible['low']:.0f} to {100 * possible['high']:.0f} % (95 % interval)."


def _missing(without: Sequence[str]) -> str:
    return f"Not shown, no usable answer: {listed(list(without))}." if len(without) else ""


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part).replace("\xa0", " ")
