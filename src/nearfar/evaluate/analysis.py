"""Analysis: everything that can be said about a collection of answers, each thing computed once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar import words
from nearfar._tools.arrays import Codes
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar.errors import InputError
from nearfar.evaluate.auto import Choice, choose, with_short_list
from nearfar.evaluate.baseline import pair_memory_credits
from nearfar.evaluate.bootstrap import Draws, Estimate, make_draws, speakers
from nearfar.evaluate.ceiling import NoiseCeiling, noise_ceiling
from nearfar.evaluate.clusters import ClusterCount, ClusterTree, cluster_tree, count_object_clusters
from nearfar.evaluate.collection import AnswerCounts, count_answers
from nearfar.evaluate.comparison import Comparison, make_comparison
from nearfar.evaluate.controls import counts_repeats, without_excess_controls
from nearfar.evaluate.crossval import Credits, cross_validate
from nearfar.evaluate.curve import LearningCurve, measure_curve
from nearfar.evaluate.designs import design_of
from nearfar.evaluate.map_stability import (
    Resamples,
    Stability,
    coordinates,
    kept_by_chance,
    make_stability,
    resample,
    tree_labels,
)
from nearfar.evaluate.participants import People, judge_people
from nearfar.evaluate.reliability import Reliability, between_participants, split_half
from nearfar.evaluate.splits import Split, Units, kfold, some_units, split_units, warn_of_screens
from nearfar.space.models import Model, empty_space, parse_model, parse_models
from nearfar.space.space import Space
from nearfar.triplets import Triplets, as_triplets, random_rows

if TYPE_CHECKING:
    from nearfar.evaluate.agreements import PersonAgreement
    from nearfar.evaluate.groups import GroupComparison
    from nearfar.evaluate.subgroups import Subgroups

__all__ = ["Analysis", "analyse"]

MAX_JUDGED = 260_000  # answers that models are judged on
MOST_RESAMPLES = 30


class Analysis:
    """Everything that can be said about answers: lazily, reproducibly, each thing once.

    Parameters
    ----------
    answers : Triplets, an (m, 3) array of indices, or a data frame.
    model : "auto", the model that predicts held-out answers best; or the name of a model, or an estimator.
    models : the models that are judged, names or estimators or a dict of own names; "auto" in a list stands for its
        short list. Default: that list, and ``model``.
    cv : number of folds that are held out in turn; default 5 up to 5,000 answers, 4 up to 20,000, else 3.
    n_resamples : how often people are drawn again; default 30, fewer for very many answers.
    max_judged : how many answers models are judged on, at most, drawn at random in whole units; default 260,000; all
        answers where ``cv`` is given.
    max_shown : how many objects trees and pages are over, at most, drawn at random.
    design : how questions were chosen, where it is known: "adaptive" and "blocked" (booklets) limit what accuracies speak
        of. Default: as the column ``rule`` of the answers says, and blocked where the answers look like it. Where that
        column names random questions beside others, accuracy, ceiling and curve come from the random ones.
    seed : None, an integer or a numpy Generator; fixes everything random.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.array([rng.permutation(12)[:3] for _ in range(600)])  # objects 0..11 on a line
    >>> d = np.abs(rows[:, :1] - rows[:, 1:])
    >>> rows[d[:, 0] > d[:, 1]] = rows[d[:, 0] > d[:, 1]][:, [0, 2, 1]]
    >>> analysis = Analysis(rows, models=["score", "soe-2"])
    >>> analysis.best.name, analysis.space
    ('soe-2', Space('soe-2', 12 objects))
    """

    def __init__(
        self,
        answers: Triplets | ArrayLike,
        model: Any = "auto",
        *,
        models: Mapping[str, Any] | Iterable[Any] | None = None,
        cv: int | None = None,
        n_resamples: int | None = None,
        max_judged: int | None = None,
        max_shown: int = 2_000,
        design: str | None = None,
        seed: Seed = 0,
    ) -> None:
        self.answers = as_triplets(answers)
        self.seed = seed_number(seed)
        self._named = None if isinstance(model, str) and model == "auto" else parse_model(model)
        self._has_own_list = models is not None
        self.models = tuple(self._judged_models(models))
        self._design = design
        self._cv = None if cv is None else check_count(cv, "cv", least=2)
        self._trees: dict[int | None, ClusterTree | None] = {}
        self._max_judged = None if max_judged is None else check_count(max_judged, "max_judged")
        self._max_shown = check_count(max_shown, "max_shown", least=3)
        self._n_resamples = None if n_resamples is None else check_count(n_resamples, "n_resamples")

    def _judged_models(self, models: Mapping[str, Any] | Iterable[Any] | None) -> list[Model]:
        listed = parse_models(with_short_list("auto" if models is None else models, self.answers.n_objects))
        if self._named is not None and self._named.name not in [model.name for model in listed]:
            listed.append(self._named)
        return listed

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that make this analysis of the same answers again; models by their names."""
        return {
            "model": "auto" if self._named is None else self._named.name,
            "models": [model.name for model in self.models] if self._has_own_list else None,
            "cv": self._cv,
            "n_resamples": self._n_resamples,
            "max_judged": self._max_judged,
            "max_shown": self._max_shown,
            "design": self._design,
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        return f"Analysis({len(self.answers)} answers, {self.answers.n_objects} objects)"

    def __str__(self) -> str:
        return f"{self.scores}\n\n{self.headline}" if self.splits else self.headline

    # ---------------------------------------------------------------- held-out answers

    @property
    def judged(self) -> Triplets:
        """The answers that models are judged on."""
        return self._judged[1]

    @cached_property
    def _judged(self) -> tuple[NDArray[np.intp], Triplets]:
        """Their rows: all answers, or whole units drawn at random where there are very many."""
        m, wanted = len(self.answers), self._max_judged or MAX_JUDGED
        if m <= wanted or (self._cv is not None and self._max_judged is None):
            return np.arange(m), self.answers
        rows = some_units(split_units(self.answers), wanted, seed=self.seed)
        return rows, self.answers[rows]

    @cached_property
    def units(self) -> Units:
        """What is held out, and drawn, as a whole: trios, or statements."""
        units = split_units(self.judged)
        warn_of_screens(units)
        return units

    @cached_property
    def design(self) -> str | None:
        """How questions were chosen: declared, or seen in the answers; None where nothing speaks against random ones."""
        return design_of(self.judged, self.units, self._design)

    @cached_property
    def draws(self) -> Draws:
        """Bootstrap draws of the judged answers, which all intervals come from."""
        return make_draws(self.judged, self.units, design=self.design, seed=self.seed)

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """Training and test rows of ``judged``, fold by fold; empty where too few different questions were asked."""
        m = len(self.judged)
        cv = self._cv or min(5 if m <= 5_000 else 4 if m <= 20_000 else 3, self.units.count)
        return tuple(kfold(self.judged, cv, by=self.units, seed=self.seed)) if cv > 1 else ()

    @cached_property
    def credits(self) -> Credits:
        """Held-out credits of every judged model on every judged answer."""
        if not self.splits:
            raise InputError(
                "answers: too few different questions to hold any of them out; collect more answers"
            )
        return cross_validate(self.judged, self.models, self.splits)

    @cached_property
    def _scored(self) -> NDArray[np.bool_] | None:
        """(judged,) random questions, where there are such beside others: accuracies come from them. None: all."""
        drawn = random_rows(self.judged)
        return drawn if drawn is not None and drawn.any() else None

    @cached_property
    def _scored_credits(self) -> Credits:
        if self._scored is None:
            return self.credits
        return replace(self.credits, values=np.where(self._scored, self.credits.values, np.nan))

    @cached_property
    def scores(self) -> Comparison:
        """The judged models side by side, with the ceiling."""
        number, accuracy = self._choice
        return make_comparison(
            self._scored_credits,
            pair_memory_credits(self.judged, self.splits),
            self.draws,
            chosen=None if self.is_named else (self.models[number].name, accuracy),
            ceiling=self.ceiling,
            cv=len(self.splits),
            unit=self.units.kind,
            n_answers=len(self.judged),
            n_objects=self.judged.n_objects,
        )

    @cached_property
    def _choice(self) -> tuple[int, Estimate]:
        """The number of the model that the space is made of, and its accuracy."""
        if self._named is None:
            return choose(self._scored_credits, self.draws) if self.splits else (0, Estimate(np.nan))
        number = [model.name for model in self.models].index(self._named.name)
        if not self.splits:
            return number, Estimate(np.nan)
        return number, self.draws.estimate(self._scored_credits.values[number])

    @property
    def chosen(self) -> Model:
        """The model that the space is made of."""
        return self.models[self._choice[0]]

    @cached_property
    def best(self) -> Choice:
        """The model that the space is made of, and its accuracy; ``model`` itself where it was named."""
        number, accuracy = self._choice
        second = ""
        if self.splits:
            order = np.argsort(-self._scored_credits.accuracies, kind="stable")
            second = next((self.models[k].name for k in order if k != number), "")
        judged = len(self.judged) if self.splits else 0
        name = self.models[number].name
        return Choice(name, accuracy.value, accuracy.low, accuracy.high, second, judged, len(self.answers))

    @property
    def headline(self) -> str:
        """One line: what was chosen, its accuracy, its ceiling and what was second."""
        return words.headline(
            self.best, self.ceiling, self.scores if self.splits else None, named=self.is_named
        )

    # ---------------------------------------------------------------- the answers themselves

    @cached_property
    def ceiling(self) -> NoiseCeiling:
        """What repeated questions say about the best possible accuracy."""
        drawn = random_rows(self.answers)
        rows = slice(None) if drawn is None or not drawn.any() else drawn
        if not self.splits:
            return noise_ceiling(self.answers[rows])
        return noise_ceiling(self.answers[rows], credit=self.held_out[rows], accuracy=self._choice[1])

    @cached_property
    def people(self) -> People | None:
        """Every participant, those who answer unlike the others first; None where nobody is known."""
        return judge_people(self.answers, self.held_out if self.splits else None)

    @cached_property
    def counts(self) -> AnswerCounts:
        """How often every object and question was asked."""
        return count_answers(self.answers)

    @cached_property
    def curve(self) -> LearningCurve | None:
        """Accuracy of the chosen model against the number of answers; None where nothing can be held out.

        Nor where a fold leaves nothing to train on: its questions stand in every statement.
        """
        if not self.splits or not all(len(train) for train, _ in self.splits):
            return None
        return self.measure_curve()

    def measure_curve(self, sizes: Sequence[float] | None = None) -> LearningCurve:
        """``curve`` at other ``sizes``: numbers of answers, or shares of the training answers."""
        return measure_curve(
            self.judged,
            self.chosen,
            self.splits,
            self.draws,
            statements=self._statements,
            full=self.credits.values[self._choice[0]],
            scored=self._scored,
            sizes=sizes,
            seed=self.seed,
        )

    @property
    def _statements(self) -> Codes:
        """(judged,) what comes at a time where the collection grows; where statements are lost, or many go through the same
        sets of questions, what splits keep whole stands for them."""
        whole = self.units.screens is not None or self.design == "blocked"
        return self.units.codes if whole else self.judged.statement_ids

    @cached_property
    def reliability(self) -> Reliability | None:
        """How alike the map of another study would be; None where nothing can be held out."""
        if not self.splits:
            return None
        model = self._model(self.plane_name)
        answers = self._weighed_for(model.name)
        known = answers.participant is not None
        return Reliability(
            participants=split_half(answers, model, speakers(answers), seed=self.seed) if known else np.nan,
            questions=split_half(answers, model, split_units(answers).codes, seed=self.seed),
            spread=between_participants(self.held_out, speakers(self.answers)) if known else np.nan,
            model=model.name,
        )

    @cached_property
    def held_out(self) -> NDArray[np.float32]:
        """(m,) held-out credits of ``best`` on all answers, NaN for those that were not judged."""
        credit = np.full(len(self.answers), np.nan, dtype=np.float32)
        if self.splits:
            credit[self._judged[0]] = self.credits.values[self._choice[0]]
        return credit

    # ---------------------------------------------------------------- groups of people

    @cached_property
    def alike(self) -> PersonAgreement | None:
        """How often every two people gave the same answer; None where nobody is known."""
        from nearfar.evaluate.agreements import person_agreement

        return None if self.answers.participant is None else person_agreement(self.answers)

    @cached_property
    def subgroups(self) -> Subgroups | None:
        """Whether subgroups of participants have maps of their own; None where too few people are known."""
        from nearfar.evaluate.subgroups import find_subgroups

        if self.answers.participant is None or not self.splits:
            return None
        return find_subgroups(self.answers, seed=self.seed)

    def groups(self, groups: Mapping[Any, str]) -> GroupComparison:
        """Compare groups of people by the chosen model; ``groups`` : participant -> group."""
        from nearfar.evaluate.groups import compare_groups

        return compare_groups(self.answers, groups, model=self._model(self.best.name), seed=self.seed)

    # ---------------------------------------------------------------- spaces

    @cached_property
    def space(self) -> Space:
        """The space of the chosen model, fitted to all answers."""
        return self.fit(self.best.name)

    @cached_property
    def plane(self) -> Space:
        """The space with two dimensions that predicts best; the first two axes of ``space`` where none was judged."""
        return self.in_dimensions(2)

    @property
    def plane_name(self) -> str:
        """The model of ``plane``."""
        return self._name_in_dimensions(2)

    def in_dimensions(self, n_components: int) -> Space:
        """The judged model with so many dimensions that predicts best; the first axes of ``space`` without one."""
        name = self._name_in_dimensions(n_components)
        if name != self.best.name:
            return self.fit(name)
        if self.space.n_components == n_components:
            return self.space
        points, known = self.space.map(n_components), self.space.informed
        return Space(points, self.answers.objects, kind="points", informed=known, model=name)

    def _name_in_dimensions(self, n_components: int) -> str:
        best = self._model(self.best.name)
        flat = [model.name for model in self.models if model.n_components == n_components]
        if best.n_components == n_components or not flat:
            return best.name
        if not self.splits:
            return flat[0]
        return max(flat, key=lambda name: self.scores[name].accuracy)

    @property
    def is_named(self) -> bool:
        """Whether the model was named, not chosen."""
        return self._named is not None

    def _model(self, name: str) -> Model:
        return next(model for model in self.models if model.name == name)

    def fit(self, name: str) -> Space:
        """The space of one of the judged models, fitted to all answers."""
        if not len(self.answers):
            return empty_space(name, self.answers, self._model(name).n_components)
        return self._model(name).fit(self._weighed_for(name))

    def _weighed_for(self, *names: str) -> Triplets:
        """The answers that spaces of these models are made of: a control question weighs no more than any other.

        k1 and k2 divide by the number of answers to a question, so they get all of them.
        """
        counting = any(counts_repeats(self._model(name)) for name in names)
        return self._weighed if counting else self.answers

    @cached_property
    def _weighed(self) -> Triplets:
        return without_excess_controls(self.answers, self.seed)

    # ---------------------------------------------------------------- how sure

    @property
    def n_resamples(self) -> int:
        """How often people are drawn again."""
        if self._n_resamples is not None:
            return self._n_resamples
        return int(np.clip(500_000 // max(len(self.answers), 1), 6, MOST_RESAMPLES))

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
        return count_object_clusters(self._weighed, self.judged, self.splits, self.shown)

    @cached_property
    def resamples(self) -> Resamples:
        """Map and tree made again from people drawn again."""
        if not len(self.answers):
            raise InputError("answers: there are none, so there is nothing to resample")
        return resample(
            self._weighed_for(self.best.name, self.plane_name),
            self._model(self.best.name),
            self._model(self.plane_name),
            n_resamples=self.n_resamples,
            seed=self.seed,
            shown=self.shown,
        )

    def stability(self, n_clusters: int | None = 5) -> Stability:
        """How uncertain positions on the map and clusters of the tree (cut into ``n_clusters``) are."""
        flat = self.space if self.plane_name == self.best.name else self.plane
        labels = kept = by_chance = None
        if n_clusters is not None:
            informed = int(self.shown_space.informed.sum())
            wanted = min(check_count(n_clusters, "n_clusters"), informed)
            labels = tree_labels(self.shown_space, wanted)
            kept = self.resamples.kept(labels, wanted)
            weighed, best = self._weighed_for(self.best.name), self._model(self.best.name)
            by_chance = kept_by_chance(
                weighed, best, self.shown, wanted, n_resamples=self.n_resamples, seed=self.seed
            )
        return make_stability(
            self.answers, self.plane_name, coordinates(flat), self.resamples, labels, kept, by_chance
        )

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
        from nearfar.report import keep_key, key_beside, make_report

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
