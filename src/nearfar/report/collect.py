"""Answers -> everything a report needs: the facts, the small pictures, and the arrays behind them."""

from __future__ import annotations

import datetime
import hashlib
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.ceiling import noise_ceiling
from nearfar.evaluate.curve import learning_curve
from nearfar.io.reading import double_submits
from nearfar.report import facts as f
from nearfar.report.judging import held_out_credit, judge, plan_for
from nearfar.report.paragraph import citations, methods_paragraph, versions
from nearfar.report.people import participants, shown_names
from nearfar.report.pictures import Found, Thumbnail, find_pictures, thumbnails
from nearfar.report.places import Places, make_places
from nearfar.report.quality import (
    accuracy_per_object,
    answers_per_object,
    contradictions,
    curve_facts,
    question_counts,
)
from nearfar.report.space import Space, make_space
from nearfar.report.sure import certainty
from nearfar.report.verdict import make_verdict
from nearfar.report.words import count, display_names, number
from nearfar.triplets import Triplets, as_triplets

if TYPE_CHECKING:
    from nearfar.io import ObjectList

__all__ = ["Made", "Options", "collect"]

CURVE_SIZES = tuple(2.0 ** (-k / 2) for k in (8, 6, 4, 3, 2, 1, 0))
CURVE_ANSWERS = 60_000  # beyond it the curve is the kernel's, which is fast to fit


@dataclass(frozen=True)
class Options:
    """How a report is made.

    Parameters
    ----------
    title : of the page.
    n_clusters : to cut the tree into; None: chosen.
    show_participants : under their own names instead of pseudonyms.
    seed : fixes everything random.
    """

    title: str = ""
    n_clusters: int | None = None
    show_participants: bool = False
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Made:
    """What ``collect`` found: facts to show, pictures to show them with, and the arrays behind them.

    ``files`` : object -> its picture's file; ``people`` : participant -> the name shown.
    """

    facts: f.Facts
    answers: Triplets
    space: Space
    places: tuple[Places, ...]
    kept: dict[int, NDArray[np.float64]]
    thumbnails: dict[str, Thumbnail]
    files: dict[str, Path]
    people: dict[str, str]


def collect(
    answers: Triplets | ArrayLike,
    options: Options | None = None,
    *,
    objects: ObjectList | None = None,
    pictures: Found | None = None,
    files: Sequence[str | os.PathLike[str]] = (),
    left_out: Sequence[f.LeftOut] = (),
    excluded: Mapping[str, int] | None = None,
) -> Made:
    """Analyse answers for a report.

    Parameters
    ----------
    answers : those that are analysed.
    options : see ``Options``.
    objects : labels and groups.
    pictures : as ``find_pictures`` found them.
    files : where the answers came from, for the record and the hash.
    left_out : what the reader set aside, for the record.
    excluded : participant -> number of answers that were left out.
    """
    answers = as_triplets(answers)
    if len(answers) < 1 or answers.n_objects < 3:
        raise InputError(
            f"answers: {count(len(answers), 'answer')} about {count(answers.n_objects, 'object')} came; "
            "a report needs at least one answer and three objects",
        )
    options = options or Options()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)  # what they say stands on the page
        return _Collector(answers, options, excluded or {}).run(objects, pictures, files, left_out)


class _Collector:
    """One step per section of the page."""

    def __init__(self, answers: Triplets, options: Options, excluded: Mapping[str, int]) -> None:
        self.answers, self.options, self.excluded = answers, options, excluded
        names = [] if answers.participant is None else [str(name) for name in answers.participant.names]
        self.people = shown_names(
            [*names, *(name for name in excluded if name not in names)],
            real=options.show_participants,
            seed=options.seed,
        )

    def run(
        self,
        objects: ObjectList | None,
        pictures: Found | None,
        files: Sequence[str | os.PathLike[str]],
        left_out: Sequence[f.LeftOut],
    ) -> Made:
        answers, seed = self.answers, self.options.seed
        judged = judge(answers, plan_for(answers, seed), seed)
        credit = held_out_credit(answers, judged, seed)
        space = make_space(answers, judged.kernel, k=self.options.n_clusters, seed=seed)
        places = make_places(answers, judged)
        sure, spread, kept = certainty(answers, judged, space.tree, space.shown, seed)
        curve = self._curve(judged)
        quality = self._quality(space, credit)
        names = [answers.objects[x] for x in space.shown]
        small, account = thumbnails(pictures or find_pictures([]), names if pictures else [])
        source = self._source(files, left_out)
        chosen = kept.get(space.tree.k) if space.tree else None
        facts = f.Facts(
            title=self.options.title or "What the answers say",
            made=_today(),
            versions=versions(),
            seed=seed,
            answers=source,
            verdict=make_verdict(source, judged, quality, curve),
            judge=judged,
            objects=self._objects(space, credit, (spread, chosen), objects, small),
            sampled=_sampled(answers.n_objects, len(space.shown)),
            maps=tuple(place.facts(judged, space.shown) for place in places),
            tree=space.tree,
            matrix=space.matrix,
            sure=sure,
            outliers=space.flagged,
            quality=quality,
            curve=curve,
            pictures=account,
            methods=methods_paragraph(source, judged, space.tree, sure, curve, seed=seed),
            citations=citations(judged),
        )
        return Made(
            facts, answers, space, places, kept, small, pictures.files if pictures else {}, self.people
        )

    def _source(self, files: Sequence[str | os.PathLike[str]], left_out: Sequence[f.LeftOut]) -> f.Answers:
        answers = self.answers
        questions, repeated, contradicted = question_counts(answers)
        statements = len(np.unique(answers.statement_ids))
        people = None
        if answers.participant is not None:
            people = sum(1 for code in answers.participant.present if str(answers.participant.names[code]))
        gone = [
            f.LeftOut(f"answers of {self.people[name]}", size, "this participant was excluded")
            for name, size in self.excluded.items()
            if size
        ]
        return f.Answers(
            files=tuple(Path(file).name for file in files),
            sha256=_hash(files, answers),
            answers=len(answers),
            statements=statements,
            unique=len(np.unique(answers.triplet_ids)),
            questions=questions,
            repeated=repeated,
            contradicted=contradicted,
            objects=answers.n_objects,
            participants=people,
            left_out=(*left_out, *gone),
        )

    def _curve(self, judged: f.Judge) -> f.Curve | None:
        if judged.cv < 2:
            return None
        large = len(self.answers) > CURVE_ANSWERS
        model = judged.kernel if large else judged.best
        curve = learning_curve(
            self.answers, model, sizes=CURVE_SIZES, cv=min(3, judged.cv), seed=self.options.seed
        )
        remark = (
            f"With {number(len(self.answers))} answers the curve is that of the kernel, which is quick to fit."
            if large and judged.best != judged.kernel
            else ""
        )
        return curve_facts(curve, remark)

    def _quality(self, space: Space, credit: NDArray[np.float64] | None) -> f.Quality:
        answers = self.answers
        place = np.full(answers.n_objects, -1, dtype=np.int64)
        place[space.shown] = np.arange(len(space.shown))
        people = participants(answers, self.people, noise_ceiling(answers), credit)
        total, _ = answers_per_object(answers)
        return f.Quality(
            participants=people.rows if people else None,
            pseudonyms=not self.options.show_participants,
            fast_below=people.fast_below if people else None,
            typical=people.typical if people else {},
            contradictions=contradictions(answers, place),
            double_submits=int(double_submits(answers).sum()),
            coverage=space.coverage,
            answers_per_object=(int(total.min()), int(np.median(total)), int(total.max())),
            uninformed=tuple(np.flatnonzero(~space.informed).tolist()),
        )

    def _objects(
        self,
        space: Space,
        credit: NDArray[np.float64] | None,
        certain: tuple[NDArray[np.float64], NDArray[np.float64] | None],
        listed: ObjectList | None,
        small: dict[str, Thumbnail],
    ) -> tuple[f.Object, ...]:
        spread, kept = certain
        total, anchor = answers_per_object(self.answers)
        accuracy = accuracy_per_object(self.answers, credit)
        shown = [self.answers.objects[x] for x in space.shown]
        labels, groups = _listed(listed)
        spoken = dict(zip(shown, display_names(shown), strict=True))
        flagged = set(space.flagged)
        found = []
        for place, x in enumerate(space.shown.tolist()):
            name = shown[place]
            label = labels.get(name, name)
            found.append(
                f.Object(
                    name=name,
                    label=label if label != name else spoken[name],
                    group=groups.get(name) or "",
                    picture=name in small,
                    answers=int(total[x]),
                    as_anchor=int(anchor[x]),
                    accuracy=_known(accuracy[x]),
                    informed=bool(space.informed[place]),
                    neighbours=space.neighbours[place],
                    spread=_known(spread[place]),
                    sure=_known(kept[place]) if kept is not None else None,
                    unusual=_known(space.unusual[place]),
                    outlier=place in flagged,
                )
            )
        return tuple(found)


def _listed(objects: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Labels and groups of an object list, by name."""
    if objects is None:
        return {}, {}
    names = objects.names
    return (
        dict(zip(names, objects.labels or names, strict=True)),
        dict(zip(names, objects.groups or [""] * len(names), strict=True)),
    )


def _sampled(n: int, shown: int) -> str:
    if shown == n:
        return ""
    return (
        f"The page shows a random {number(shown)} of the {number(n)} objects; kernel, accuracy and data quality "
        "are those of all of them."
    )


def _hash(files: Sequence[str | os.PathLike[str]], answers: Triplets) -> str:
    """SHA-256 of the files one after the other; of the triplets themselves where a file cannot be read again."""
    digest = hashlib.sha256()
    if files and all(Path(file).is_file() for file in files):
        for file in files:
            with open(file, "rb") as stream:
                while chunk := stream.read(1 << 20):
                    digest.update(chunk)
        return digest.hexdigest()
    digest.update("\0".join(answers.objects).encode())
    digest.update(np.ascontiguousarray(answers.array, dtype="<i4").tobytes())
    return digest.hexdigest()


def _today() -> str:
    """The date; ``SOURCE_DATE_EPOCH`` fixes it where builds must be the same."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = (
        datetime.datetime.fromtimestamp(int(fixed), datetime.UTC)
        if fixed.isdigit()
        else datetime.datetime.now(datetime.UTC)
    )
    return moment.strftime("%Y-%m-%d")


def _known(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 5)
