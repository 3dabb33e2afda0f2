"""Analysis: everything that can be said about a collection of answers, each thing computed once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar._tools.checks import check_count
from nearfar.errors import InputError
from nearfar.evaluate.bootstrap import Estimate
from nearfar.evaluate.clusters import ClusterCount, ClusterTree, cluster_tree, count_object_clusters
from nearfar.evaluate.collection import AnswerCounts
from nearfar.evaluate.groups import GroupComparison, compare_groups
from nearfar.evaluate.judging import Judging
from nearfar.evaluate.map_stability import (
    Reliability,
    Resamples,
    Scale,
    Stability,
    coordinates,
    kept_by_chance,
    make_scale,
    make_stability,
    measure_reliability,
    resample,
)  # fmt: skip
from nearfar.evaluate.participants import People, judge_people
from nearfar.evaluate.priors import VectorsAlone
from nearfar.evaluate.properties import MIN_OBJECTS, Explained, explain, rsa
from nearfar.evaluate.subgroups import Subgroups, find_subgroups
from nearfar.methods import cut
from nearfar.space.models import fit
from nearfar.space.space import Space
from nearfar.triplets import Triplets


class Analysis(Judging):
    """Everything that can be said about answers: lazily, reproducibly, each thing once.

    Parameters
    ----------
    answers : Triplets, an (m, 3) array of indices, or a data frame.
    model : "auto" (the most accurate on held-out answers, or a simpler one as accurate); or the name of a model, or an estimator.
    models : the models that are judged, names or estimators or a dict of own names; "auto" in a list stands for its
        short list. Default: that list, and ``model``.
    cv : number of folds that are held out in turn; default 5 up to 5,000 answers, 4 up to 20,000, else 3.
    n_resamples : number of bootstrap resamples; default 30, fewer for very many answers.
    max_judged : how many answers models are judged on, at most, drawn at random in whole units; default 260,000; all
        answers where ``cv`` is given.
    max_shown : how many objects trees and pages are over, at most, drawn at random.
    design : how questions were chosen, where it is known: "adaptive" and "blocked" (booklets) limit what accuracies speak
        of, "screens" (grids and lists) what is kept in one fold. Default: as the column ``rule`` of the answers says, and
        blocked or screens where the answers look like it. Where that column names random questions beside others,
        accuracy, ceiling and curve come from the random ones.
    features : vectors of the objects as a prior: an array with one row per object, a data frame with a column "object", a
        file, or a dict of several sources; how they enter, if at all, is chosen by held-out answers.
    seed : None, an integer or a numpy Generator; fixes everything random.

    Examples
    --------
    >>> from nearfar import design, simulate
    >>> line = simulate.answers(design.random_questions(12, 600), points=[[x] for x in range(12)]).triplets
    >>> analysis = Analysis(line, models=["score", "soe-2"])
    >>> analysis.best.name, analysis.space
    ('soe-2', Space('soe-2', 12 objects))
    """

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that make this analysis of the same answers again; models, and sources of vectors, by their names."""
        return {
            "model": "auto" if self._named is None else self._named.name,
            "models": [model.name for model in self._listed] if self._has_own_list else None,
            "cv": self._cv,
            "n_resamples": self._n_resamples,
            "max_judged": self._max_judged,
            "max_shown": self._max_shown,
            "design": self._design,
            "features": None if self.vectors is None else list(self.vectors.sources),
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        return f"Analysis({len(self.answers)} answers, {self.answers.n_objects} objects)"

    def __str__(self) -> str:
        return f"{self.scores}\n\n{self.headline}" if self.splits else self.headline

    # ---------------------------------------------------------------- the answers themselves

    @cached_property
    def people(self) -> People | None:
        """Every participant, those who answer unlike the others first; None where nobody is known."""
        return judge_people(self.answers, self.held_out if self.splits else None)

    @cached_property
    def counts(self) -> AnswerCounts:
        """How often every object and question was asked."""
        return AnswerCounts(self.answers)

    @cached_property
    def reliability(self) -> Reliability | None:
        """How alike the map of another study would be; None where nothing can be held out."""
        model = self.settled(self.plane_name) if self.splits else None
        if model is None or model.prior is not None:  # halves share the vectors, so they are too alike
            return None
        return measure_reliability(self.answers, model, self.draws.scope, self.seed)

    # ---------------------------------------------------------------- groups of people

    @cached_property
    def subgroups(self) -> Subgroups | None:
        """Whether subgroups of participants have maps of their own; None where too few people are known."""
        if self.answers.participant is None or not self.splits:
            return None
        return find_subgroups(self.answers, seed=self.seed)

    def groups(self, groups: Mapping[Any, str]) -> GroupComparison:
        """Compare groups of people by the chosen model; ``groups`` : participant -> group."""
        key = frozenset((str(person), group) for person, group in groups.items())
        if key not in self._groups:
            model = self.settled(self.chosen.name)
            self._groups[key] = compare_groups(self.answers, groups, model=model, seed=self.seed)
        return self._groups[key]

    # ---------------------------------------------------------------- spaces

    @cached_property
    def space(self) -> Space:
        """The space of the chosen model, fitted to all answers."""
        return self.fit(self.chosen.name)

    @cached_property
    def plane(self) -> Space:
        """The space with two dimensions that predicts best; the first two axes of ``space`` where none was judged."""
        return self.in_dimensions(2)

    @property
    def plane_name(self) -> str:
        """The model of ``plane``."""
        return self.name_in_dimensions(2)

    def in_dimensions(self, n_components: int) -> Space:
        """The judged model with so many dimensions that predicts best; its first axes where it has others."""
        name = self.name_in_dimensions(n_components)
        space = self.space if name == self.chosen.name else self.fit(name)
        if space.n_components == n_components:
            return space
        points = space.map(n_components)
        facts: Any = {"informed": space.informed, "model": space.model, "placed": space.placed}
        return Space(points, space.objects, kind="points", **facts)

    def name_in_dimensions(self, n_components: int) -> str:
        """The judged model of ``in_dimensions``."""
        flat = [model.name for model in self.models if model.n_components == n_components]
        if self.chosen.n_components == n_components or not flat:
            return self.chosen.name
        return max(flat, key=lambda name: self.scores[name].accuracy) if self.splits else flat[0]

    def fit(self, name: str) -> Space:
        """The space of one of the judged models, fitted to all answers."""
        return fit(self.answers, self.settled(name))

    # ---------------------------------------------------------------- how sure

    @property
    def n_resamples(self) -> int:
        """Number of bootstrap resamples."""
        if self._n_resamples is not None:
            return self._n_resamples
        return int(np.clip(500_000 // max(len(self.answers), 1), 6, 30))

    @cached_property
    def shown(self) -> NDArray[np.intp]:
        """Objects that trees and pages are over: all, or as many as asked for, drawn at random and in their order."""
        n = self.answers.n_objects
        if n <= self._max_shown:
            return np.arange(n)
        return np.sort(np.random.default_rng(self.seed).permutation(n)[: self._max_shown])

    @cached_property
    def shown_space(self) -> Space:
        """``space`` of the objects that are shown."""
        return self.space.take(self.shown)

    def cluster_tree(self, n_clusters: int | None = None) -> ClusterTree | None:
        """The tree of the shown objects and its cuts; None with fewer than three informed ones."""
        if n_clusters not in self._trees:
            count = self.cluster_count if n_clusters is None else None
            self._trees[n_clusters] = cluster_tree(self.shown_space, count, n_clusters)
        return self._trees[n_clusters]

    @cached_property
    def cluster_count(self) -> ClusterCount:
        """How many clusters the shown objects form, in a map that allows for answers given at random."""
        return count_object_clusters(self, self.shown)

    @cached_property
    def resamples(self) -> Resamples:
        """Map and tree of every bootstrap resample."""
        if not len(self.answers):
            raise InputError("answers: there are none, so there is nothing to resample")
        models = self.settled(self.chosen.name), self.settled(self.plane_name)
        return resample(self.answers, *models, self.shown, n_resamples=self.n_resamples, seed=self.seed)

    @cached_property
    def scale(self) -> Scale | None:
        """The objects on one dimension, with intervals; None where the chosen model has more, or none."""
        if self.space.n_components != 1 or not self.space.informed.any():
            return None
        settings: Any = {"n_resamples": max(self.n_resamples, 2), "seed": self.seed}
        model = self.settled(self.chosen.name)
        drawn = resample(self.answers, model, model, self.shown, **settings)
        return make_scale(coordinates(self.space), drawn)

    def stability(self, n_clusters: int | None = 5) -> Stability:
        """How uncertain positions on the map and clusters of the tree (cut into ``n_clusters``) are."""
        drawn, flat = self.resamples, self.space if self.plane_name == self.chosen.name else self.plane
        clusters: dict[str, Any] = {"labels": None, "kept": None, "kept_by_chance": None}
        if n_clusters is not None:
            wanted = min(check_count(n_clusters, "n_clusters"), int(self.shown_space.informed.sum()))
            labels = cut(self.shown_space.tree(), wanted)
            noise = self.answers, self.settled(self.chosen.name), self.shown, wanted
            by_chance = kept_by_chance(*noise, n_resamples=self.n_resamples, seed=self.seed)
            kept = drawn.kept(labels, wanted)
            clusters = {"labels": labels, "kept": kept, "kept_by_chance": by_chance}
        points = coordinates(flat)
        return make_stability(self.answers, points, drawn, model=self.plane_name, **clusters)

    # ---------------------------------------------------------------- what explains it

    @property
    def without_vectors(self) -> str:
        """The chosen model, or the most accurate one that knows no vectors where the chosen one does."""
        knows = self.chosen.prior is not None or isinstance(self.chosen.estimator, VectorsAlone)
        return self.worth.answers.name if knows and self.worth else self.chosen.name

    @cached_property
    def vector_correlation(self) -> Estimate | None:
        """Rank correlation of distances, of the answers alone, with distances of the vectors; None without vectors."""
        if self.vectors is None or not self.splits or self.vectors.known.sum() < MIN_OBJECTS:
            return None
        points = VectorsAlone(self.vectors).fit_transform(self.answers)
        known = np.flatnonzero(self.vectors.known)
        names = [self.answers.objects[x] for x in known]
        return rsa(self, points[known], names=names, metric="euclidean", seed=self.seed)

    def explain(self, table: Any) -> Explained:
        """How well the space predicts properties of the shown objects; ``table`` as for ``explain``, arrows for ``plane``.

        With vectors it is the space of the best model without them: what vectors hold would be predicted from itself.
        """
        name = self.without_vectors
        space = self.space if name == self.chosen.name else self.fit(name)
        return explain(space.take(self.shown), table, points=self.plane.map(2)[self.shown], seed=self.seed)

    # ---------------------------------------------------------------- showing it

    def _repr_html_(self) -> str:
        """How a notebook shows it: the chosen model, the judged ones, and the map."""
        from nearfar.report import analysis_html

        return analysis_html(self)

    def report(self, path: str | os.PathLike[str] = "report.html", **options: Any) -> Any:
        """Write the report as one HTML page; options as for ``nearfar.report.make_report``.

        The key of the pseudonyms is kept beside the page (``report.key``), so that the next report of the same people
        calls them the same.
        """
        from nearfar._tools.pseudonyms import keep_key, key_beside
        from nearfar.report import make_report

        if not options.get("show_participants"):
            options.setdefault("key", key_beside(path))
        report = make_report(self, **options)
        report.write(path)
        if report.people and options.get("key"):
            keep_key(path, options["key"])
        return report


def analyse(answers: Triplets | ArrayLike, model: Any = "auto", **options: Any) -> Analysis:
    """Everything that can be said about answers; parameters as for ``Analysis``.

    >>> analyse([[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    Analysis(3 answers, 3 objects)
    """
    return Analysis(answers, model, **options)
