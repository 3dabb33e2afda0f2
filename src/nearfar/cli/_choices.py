"""The choice of a model, remembered: the same answers, options and program choose the same, so they need not choose twice."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearfar import __version__
from nearfar._tools.atomic import atomic_path
from nearfar.cli._options import Given
from nearfar.errors import NearfarError

if TYPE_CHECKING:
    from nearfar.evaluate import Analysis

VARIABLE = "NEARFAR_CACHE"  # the folder that choices are kept in; default: the user's cache folder


@dataclass(frozen=True)
class Choice:
    """What ``auto`` chose: the ``model``, the best one with so many dimensions (``flat``), accuracies, a line about it."""

    model: str
    flat: dict[int, str]
    accuracy: dict[str, float]
    headline: str


def chosen(given: Given, analysis: Analysis) -> Choice:
    """The choice of an analysis: remembered, or made now and remembered."""
    choice = None if given.no_cache else _read(_file(analysis), analysis)
    if choice is None:
        return remember(given, analysis)
    _ = analysis.units  # which warns of answers from screens
    given.tell("the model was chosen before, from the same answers; --no-cache chooses again")
    return choice


def remember(given: Given, analysis: Analysis) -> Choice:
    """Keep the choice of an analysis; where it cannot be written, or is not to be, it is only returned."""
    flat = {n: analysis.name_in_dimensions(n) for n in _dimensions(analysis)}
    accuracy = {score.name: float(score.accuracy) for score in analysis.scores} if analysis.splits else {}
    choice = Choice(analysis.chosen.name, flat, accuracy, analysis.headline)
    if not given.no_cache and not analysis.is_named:
        file = _file(analysis)
        with suppress(OSError, NearfarError):
            file.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(file) as temporary:  # so that two who write at once leave one whole file
                temporary.write_text(json.dumps({"key": file.stem, **asdict(choice)}), encoding="utf-8")
    return choice


def _dimensions(analysis: Analysis) -> list[int]:
    return sorted({model.n_components for model in analysis.models if model.n_components})


def _read(file: Path, analysis: Analysis) -> Choice | None:
    """A choice as it was kept; None where there is none, or what is there is not one of this analysis."""
    try:
        kept: Any = json.loads(file.read_text(encoding="utf-8"))
        flat = {int(n): str(name) for n, name in kept["flat"].items()}
        accuracy = {str(name): float(value) for name, value in kept["accuracy"].items()}
        choice = Choice(str(kept["model"]), flat, accuracy, str(kept["headline"]))
        whole = kept["key"] == file.stem and list(flat) == _dimensions(analysis)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    known = {model.name for model in analysis.models}
    return choice if whole and {choice.model, *flat.values()} <= known else None


def _file(analysis: Analysis) -> Path:
    """Where the choice of an analysis is kept; the name is a checksum of program, options, answers and vectors."""
    import numpy as np
    import pooch
    import scipy

    sources = sorted(Path(__file__).parents[1].rglob("*.py"))  # a version changes while it is worked on
    key: list[Any] = [__version__, np.__version__, scipy.__version__, analysis.settings]
    for table in [] if analysis.vectors is None else analysis.vectors.tables:
        key.append((table.objects, table.values.shape, hashlib.sha256(table.values.tobytes()).digest()))
    for each in fields(analysis.answers):
        column = getattr(analysis.answers, each.name)
        names = column if each.name == "objects" else getattr(column, "names", ())
        array = np.asarray(getattr(column, "codes", () if column is names or column is None else column))
        own = hashlib.sha256(array.tobytes()).digest()
        key.append((each.name, [str(name) for name in names], array.dtype, own))
    digest = hashlib.sha256(repr(key).encode() + b"".join(path.read_bytes() for path in sources))
    folder = os.environ.get(VARIABLE) or pooch.os_cache("nearfar") / "choices"
    return Path(folder).expanduser() / f"{digest.hexdigest()}.json"
