"""Answers -> everything a report needs: the facts, the small pictures, and the arrays behind them."""

from __future__ import annotations

import datetime
import hashlib
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearfar.errors import InputError, NearfarWarning
from nearfar.evaluate.analysis import Analysis
from nearfar.evaluate.collection import accuracy_per_object, double_submits
from nearfar.report import facts as f
from nearfar.report.curve_section import curve_facts
from nearfar.report.groups_section import NOT_COMPARED, Alike, GroupsFacts, alike_facts, groups_facts
from nearfar.report.judge_section import make_judge
from nearfar.report.kernel_section import Shown, show_space
from nearfar.report.map_section import make_maps
from nearfar.report.paragraph import citations, methods_paragraph, versions
from nearfar.report.people import participant_facts
from nearfar.report.pictures import FoundPictures, Thumbnail, find_pictures, thumbnails
from nearfar.report.pseudonyms import shown_names
from nearfar.report.stability_section import Certainty, make_certainty
from nearfar.report.verdict import make_verdict
from nearfar.report.words import count, display_names, number
from nearfar.triplets import Triplets

if TYPE_CHECKING:
    from nearfar.io import ObjectList

__all__ = ["Made", "Options", "collect"]


@dataclass(frozen=True)
class Options:
    """How a report is made.

    Parameters
    ----------
    title : of the page.
    n_clusters : to cut the tree into; None: chosen.
    show_participants : under their own names instead of pseudonyms.
    groups : participant -> group, to compare groups of people; None: no groups.
    key : of the pseudonyms, which are the same for the same key.
    checks : participant -> check questions answered right, and answered at all.
    """

    title: str = ""
    n_clusters: int | None = None
    show_participants: bool = False
    groups: Mapping[str, str] | None = None
    key: str = ""
    checks: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Made:
    """What ``collect`` found: facts to show, pictures to show them with, and the arrays behind them.

    ``files`` : object -> its picture's file; ``people`` : participant -> the name shown; ``options`` : how the
    report was made.
    """

    facts: f.Facts
    analysis: Analysis
    space: Shown
    kept: dict[int, NDArray[np.float64]]
    thumbnails: dict[str, Thumbnail]
    files: dict[str, Path]
    people: dict[str, str]
    options: Options


def collect(
    analysis: Analysis,
    options: Options | None = None,
    *,
    objects: ObjectList | None = None,
    pictures: FoundPictures | None = None,
    files: Sequence[str | os.PathLike[str]] = (),
    left_out: Sequence[f.LeftOut] = (),
    excluded: Mapping[str, int] | None = None,
) -> Made:
    """Gather the facts of an analysis for a report; nothing is computed here that the analysis does not hold.

    Parameters
    ----------
    analysis : of the answers.
    options : see ``Options``.
    objects : display names and groups.
    pictures : as ``find_pictures`` found them.
    files : where the answers came from, for the record and the hash.
    left_out : what the reader set aside, for the record.
    excluded : participant -> number of answers that were left out.
    """
    answers = analysis.answers
    if len(answers) < 1 or answers.n_objects < 3:
        raise InputError(
            f"answers: got {count(len(answers), 'answer')} about {count(answers.n_objects, 'object')}; a report needs at "
            "least one answer and three objects",
        )
    options = options or Options()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearfarWarning)  # what they say stands on the page
        return _Collector(analysis, options, excluded or {}).run(objects, pictures, files, left_out)


class _Collector:
    """One step per section of the page."""

    def __init__(self, analysis: Analysis, options: Options, excluded: Mapping[str, int]) -> None:
        self.analysis, self.options, self.excluded = analysis, options, excluded
        answers = analysis.answers
        names = [] if answers.participant is None else [str(name) for name in answers.participant.names]
        self.people = shown_names(
            [*names, *(name for name in excluded if name not in names)],
            key=None if options.show_participants else options.key,
        )

    def run(
        self,
        objects: ObjectList | None,
        pictures: FoundPictures | None,
        files: Sequence[str | os.PathLike[str]],
        left_out: Sequence[f.LeftOut],
    ) -> Made:
        analysis = self.analysis
        answers, seed = analysis.answers, analysis.seed
        judge = make_judge(analysis)
        space = show_space(analysis.shown_space, analysis.cluster_tree(self.options.n_clusters))
        maps = make_maps(analysis, judge)
        certainty = make_certainty(analysis, judge, space.tree)
        curve = None if analysis.curve is None else curve_facts(analysis.curve, len(answers))
        quality = self._quality(space)
        names = [answers.objects[x] for x in analysis.shown]
        small, account = thumbnails(pictures or find_pictures([]), names if pictures else [])
        collection = self._collection(files, left_out)
        facts = f.Facts(
            title=self.options.title or "What the answers say",
            made=_today(),
            versions=versions(),
            seed=seed,
            answers=collection,
            verdict=make_verdict(collection, judge, quality, curve),
            judge=judge,
            objects=self._objects(space, certainty, objects, small),
            sampled=_sampled(answers.n_objects, len(analysis.shown)),
            maps=tuple(found.facts(judge, analysis.shown) for found in maps),
            tree=space.tree,
            matrix=space.matrix,
            sure=certainty.summary,
            outliers=space.flagged,
            quality=quality,
            curve=curve,
            pictures=account,
            methods=methods_paragraph(collection, judge, space.tree, certainty.summary, curve, seed=seed),
            citations=citations(judge),
            alike=self._alike(),
            groups=self._groups(objects),
        )
        found_files = pictures.files if pictures else {}
        return Made(facts, analysis, space, certainty.kept, small, found_files, self.people, self.options)

    def _collection(
        self, files: Sequence[str | os.PathLike[str]], left_out: Sequence[f.LeftOut]
    ) -> f.Collection:
        answers, counts = self.analysis.answers, self.analysis.counts
        people = None
        if answers.participant is not None:
            people = len(answers.participant.known)
        gone = [
            f.LeftOut(f"answers of {self.people[name]}", size, "this participant was excluded")
            for name, size in self.excluded.items()
            if size
        ]
        return f.Collection(
            files=tuple(Path(file).name for file in files),
            sha256=_hash(files, answers),
            answers=len(answers),
            statements=counts.statements,
            unique=counts.triplets,
            questions=counts.questions,
            repeated=counts.repeated,
            contradicted=counts.contradicted,
            objects=answers.n_objects,
            participants=people,
            left_out=(*left_out, *gone),
        )

    def _alike(self) -> Alike | None:
        alike = self.analysis.alike
        if alike is None or len(alike.people) < 2:
            return None
        return alike_facts(self.analysis.subgroups, alike, self.people)

    def _groups(self, objects: ObjectList | None) -> GroupsFacts | None:
        if self.options.groups is None:
            return None
        shown_as = {} if objects is None else dict(zip(objects.names, objects.display_names, strict=True))
        people = self.analysis.answers.participant
        named = set() if people is None else set(map(str, people.names[people.known].tolist()))
        try:
            found = self.analysis.groups(self.options.groups)
        except InputError:
            if named.isdisjoint(map(str, self.options.groups)):
                raise
            return GroupsFacts("", (), 0, NOT_COMPARED)
        return groups_facts(found, shown_as)

    def _quality(self, space: Shown) -> f.Quality:
        analysis = self.analysis
        answers, total = analysis.answers, analysis.counts.per_object
        index = np.full(answers.n_objects, -1, dtype=np.int64)
        index[analysis.shown] = np.arange(len(analysis.shown))
        people = analysis.people
        disputed = [
            f.Contradiction(
                int(index[q.anchor]), int(index[q.one]), int(index[q.other]), q.said_one, q.said_other
            )
            for q in analysis.counts.disputed()
        ]
        return f.Quality(
            participants=participant_facts(people, self.people, self.options.checks) if people else None,
            pseudonyms=not self.options.show_participants,
            fast_below=people.fast_below if people else None,
            usual=dict(people.usual) if people else {},
            contradictions=tuple(q for q in disputed if min(q.anchor, q.one, q.other) >= 0),
            double_submits=int(double_submits(answers).sum()),
            coverage=_coverage(analysis),
            answers_per_object=(int(total.min()), int(np.median(total)), int(total.max())),
            uninformed=tuple(space.space.uninformed.tolist()),
        )

    def _objects(
        self,
        space: Shown,
        certainty: Certainty,
        listed: ObjectList | None,
        small: dict[str, Thumbnail],
    ) -> tuple[f.Object, ...]:
        analysis = self.analysis
        counts, answers = analysis.counts, analysis.answers
        accuracy = accuracy_per_object(answers, analysis.held_out)
        kept = certainty.kept.get(space.tree.k) if space.tree else None
        shown = [answers.objects[x] for x in analysis.shown]
        listed_names, groups = _listed(listed)
        spoken = dict(zip(shown, display_names(shown), strict=True))
        flagged = set(space.flagged)
        found = []
        for index, x in enumerate(analysis.shown.tolist()):
            name = shown[index]
            given = listed_names.get(name, name)
            found.append(
                f.Object(
                    name=name,
                    display_name=given if given != name else spoken[name],
                    group=groups.get(name) or "",
                    picture=name in small,
                    answers=int(counts.per_object[x]),
                    as_anchor=int(counts.as_anchor[x]),
                    accuracy=_known(accuracy[x]),
                    informed=bool(space.space.informed[index]),
                    neighbours=space.neighbours[index],
                    spread=_known(certainty.spread[index]),
                    circle=_known(certainty.circle[index]),
                    sure=_known(kept[index]) if kept is not None else None,
                    unusual=_known(space.unusual[index]),
                    outlier=index in flagged,
                )
            )
        return tuple(found)


def _coverage(analysis: Analysis) -> dict[str, float]:
    """Columns that two objects share, where the chosen model is a kernel."""
    return dict(getattr(analysis.space.estimator, "coverage_", {}))


def _listed(objects: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Display names and groups of an object list, by name."""
    if objects is None:
        return {}, {}
    names = objects.names
    return (
        dict(zip(names, objects.display_names or names, strict=True)),
        dict(zip(names, objects.groups or [""] * len(names), strict=True)),
    )


def _sampled(n: int, shown: int) -> str:
    if shown == n:
        return ""
    return (
        f"The page shows a random {number(shown)} of the {number(n)} objects; accuracy and data quality "
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
