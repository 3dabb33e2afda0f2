"""Models judged on answers that they were not fitted on: folds, credits, the choice, the ceiling and the curve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar._tools.checks import Seed, check_count, seed_number
from nearfar.embedding.prior import as_vectors
from nearfar.errors import InputError
from nearfar.evaluate.bootstrap import Draws, Estimate, make_draws
from nearfar.evaluate.ceiling import NoiseCeiling, noise_ceiling
from nearfar.evaluate.clusters import ClusterTree
from nearfar.evaluate.comparison import (
    FEATURE_LIST,
    Comparison,
    DimensionChoice,
    OneDimension,
    Score,
    candidates,
    choose,
    count_dimensions,
    is_auto,
    judge_one_dimension,
    make_comparison,
)
from nearfar.evaluate.crossval import (
    Credits,
    LearningCurve,
    cross_validate,
    grow,
    make_curve,
    pair_memory_credits,
)
from nearfar.evaluate.priors import VectorsAlone, choose_setting
from nearfar.evaluate.splits import Split, Units, design_of, kfold, some_units, split_units, warn_of_screens
from nearfar.evaluate.worth import Worth, measure_worth
from nearfar.space.models import WITH_FEATURES, Model, parse_model, parse_models
from nearfar.triplets import Triplets, as_triplets, random_rows

if TYPE_CHECKING:
    from nearfar.embedding.prior import Setting
    from nearfar.evaluate.groups import GroupComparison

DIMENSIONS = (1, 2, 3, 5, 8)  # numbers of them that are tried
# an answer goes by the difference of two distances, or by their ratio; one of them alone, or STE, found more dimensions than the
# objects have, in simulations of the other law
LAWS = ("soe", "ckl")
TOO_FEW_QUESTIONS = "answers: too few different questions to hold any of them out; collect more answers"


class Judging:
    """The part of an ``Analysis`` that rests on held-out answers; parameters as there."""

    def __init__(
        self, answers: Triplets | ArrayLike, model: Any = "auto", *,
        models: Mapping[str, Any] | Iterable[Any] | None = None, cv: int | None = None,
        n_resamples: int | None = None, max_judged: int | None = None, max_shown: int = 2_000,
        design: str | None = None, features: Any = None, seed: Seed = 0,
    ) -> None:  # fmt: skip
        self.answers = as_triplets(answers)
        self.seed = seed_number(seed)
        self.vectors = as_vectors(features, self.answers.objects)
        self._named = None if is_auto(model) else parse_model(model)
        self._has_own_list = models is not None
        models = [models or "auto"] if isinstance(models, str | None) else models
        if not isinstance(models, Mapping):  # "auto" stands for those it looks at, simpler ones first
            models = list(models)
            short = candidates(self.answers.n_objects) if any(map(is_auto, models)) else []
            models = short + [m for m in models if not (isinstance(m, str) and m in ("auto", *short))]
        listed = parse_models(models)
        if self._named is not None and self._named.name not in [model.name for model in listed]:
            listed.append(self._named)
        self._listed = listed
        if self.vectors is not None and (self._named or self._has_own_list):
            first = next((model for model in listed if model.takes_vectors), listed[0])
            (self._named or first).with_vectors(self.vectors)  # an error for a kernel
        self._design = design
        self._cv = None if cv is None else check_count(cv, "cv", least=2)
        self._n_resamples = None if n_resamples is None else check_count(n_resamples, "n_resamples")
        self._max_judged = None if max_judged is None else check_count(max_judged, "max_judged")
        self._max_shown = check_count(max_shown, "max_shown", least=3)
        self._trees: dict[int | None, ClusterTree | None] = {}
        self._groups: dict[frozenset[tuple[str, str]], GroupComparison] = {}
        self._growths: dict[str, tuple[Floats, Floats]] = {}

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The judged models; those with vectors where these enter at all."""
        if self.vectors is None:
            return tuple(self._listed)
        twins = self._listed if self._has_own_list else [self._named] if self._named else []
        if not self._has_own_list:
            twins = [*map(parse_model, candidates(self.answers.n_objects, FEATURE_LIST)), *twins]
        listed = {model.name: model for model in self._listed}
        for model in twins if self._setting is not None else ():
            if model.takes_vectors:
                listed[model.name + WITH_FEATURES] = model.with_vectors(self.vectors)
        return (*listed.values(), Model("features", estimator=VectorsAlone(self.vectors)))

    @cached_property
    def _setting(self) -> Setting | None:
        """How vectors enter, by all answers; None where they do not."""
        return None if self.vectors is None else choose_setting(self.answers, self.vectors)

    @property
    def is_named(self) -> bool:
        """Whether the model was named, not chosen."""
        return self._named is not None

    def settled(self, name: str) -> Model:
        """A judged model; how vectors enter is that which all answers choose."""
        model = next(model for model in self.models if model.name == name)
        if model.prior is None or self.vectors is None or self._setting is None:
            return model
        return replace(model, prior=self.vectors.prior(self._setting))

    @property
    def judged(self) -> Triplets:
        """The answers that models are judged on."""
        return self._judged[1]

    @cached_property
    def _judged(self) -> tuple[NDArray[np.intp], Triplets]:
        """Their rows: all answers, or whole units drawn at random where there are very many."""
        m, wanted = len(self.answers), self._max_judged or 260_000
        if m <= wanted or (self._cv is not None and self._max_judged is None):
            return np.arange(m), self.answers
        rows = some_units(split_units(self.answers, design=self._design).codes, wanted, seed=self.seed)
        return rows, self.answers[rows]

    @cached_property
    def units(self) -> Units:
        """What is held out, and drawn, as a whole: trios, or statements."""
        units = split_units(self.judged, design=self._design)
        warn_of_screens(units)
        return units

    @cached_property
    def design(self) -> str | None:
        """How questions were chosen: declared, or seen in the answers; None where nothing speaks against random ones."""
        return design_of(self.judged, self.units, self._design)

    @cached_property
    def draws(self) -> Draws:
        """Bootstrap draws of the judged answers, which all intervals come from."""
        draws = make_draws(self.judged, self.units, design=self.design, seed=self.seed)
        scored = _scored(self.judged)
        draws.scope = replace(draws.scope, n_random=0 if scored.all() else int(scored.sum()))
        return draws

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
            raise InputError(TOO_FEW_QUESTIONS)
        return cross_validate(self.judged, self.models, self.splits)

    @cached_property
    def scored_credits(self) -> Credits:
        """``credits``, NaN for answers that do not count."""
        return self._scored_only(self.credits)

    def _scored_only(self, credits: Credits) -> Credits:
        return replace(credits, values=np.where(_scored(self.judged), credits.values, np.nan))

    @cached_property
    def scores(self) -> Comparison:
        """The judged models side by side, with the ceiling."""
        return self._compared(self.scored_credits)

    def _compared(self, credits: Credits) -> Comparison:
        memory = np.where(_scored(self.judged), pair_memory_credits(self.judged, self.splits), np.nan)
        about = {"ceiling": self.ceiling, "cv": len(self.splits), "unit": self.units.kind}
        return make_comparison(self.judged, credits, memory, self.draws, **about)

    @cached_property
    def _choice(self) -> tuple[int, Estimate]:
        """The number of the model that the space is made of, and its accuracy."""
        if self._named is None:
            if not self.splits:
                return 0, Estimate(np.nan)
            return choose(self.scored_credits, self.draws, self.one_dimension.enough)
        number = [model.name for model in self.models].index(self.chosen.name)
        accuracy = self.draws.estimate(self.scored_credits.values[number]) if self.splits else None
        return number, accuracy or Estimate(np.nan)

    @cached_property
    def one_dimension(self) -> OneDimension:
        """Whether one dimension is enough among the judged models: then ``auto`` chooses it, and it is drawn as a scale."""
        return judge_one_dimension(self.scored_credits, self.draws)

    @property
    def chosen(self) -> Model:
        """The model that the space is made of; where it was named, nothing is judged for it."""
        if self._named is None:
            return self.models[self._choice[0]]
        named = {model.name: model for model in self.models}
        return named.get(self._named.name + WITH_FEATURES, named[self._named.name])

    @property
    def best(self) -> Score:
        """The model that the space is made of, its accuracy corrected for the choice; ``model`` itself where it was named."""
        if not self.splits:
            return Score(self.chosen.name, np.nan)
        own = self._choice[1]
        return replace(self.scores[self.chosen.name], accuracy=own.value, low=own.low, high=own.high)

    @property
    def dimension(self) -> int | None:
        """The fewest dimensions that may be enough; 0 where no model is clearly above guessing, None where it is not known."""
        return None if self.dimension_choice is None else self.dimension_choice.dimension

    @cached_property
    def dimension_choice(self) -> DimensionChoice | None:
        """How many dimensions the answers support, among the models that were asked for, or else among those of SOE and CKL.

        None where nothing can be held out, or no model has dimensions.
        """
        if not self.splits:
            return None
        credits = self.credits
        if not self._has_own_list:
            most = max(self.judged.n_objects - 2, 1)
            names = [f"{name}-{d}" for d in DIMENSIONS if d <= most for name in LAWS]
            known = [model.name for model in credits.models]
            others = [name for name in names if name not in known]
            credits = credits.joined(cross_validate(self.judged, parse_models(others), self.splits))
            credits = credits.take([(known + others).index(name) for name in names])
        if not any(model.n_components for model in credits.models):
            return None
        credits = self._scored_only(credits)
        sizes, rows, enough = count_dimensions(credits, self.draws)
        compared = self._compared(credits.take(rows))
        return DimensionChoice(enough if compared.above_guessing else 0, sizes, compared)

    @property
    def headline(self) -> str:
        """One line: what was chosen, its accuracy, its ceiling and what was second."""
        return words.headline(self)

    @cached_property
    def ceiling(self) -> NoiseCeiling:
        """What repeated questions say about the best possible accuracy."""
        rows = _scored(self.answers)
        if not self.splits:
            return noise_ceiling(self.answers[rows])
        return noise_ceiling(self.answers[rows], credit=self.held_out[rows], accuracy=self._choice[1])

    @cached_property
    def held_out(self) -> NDArray[np.float32]:
        """(m,) held-out credits of ``best`` on all answers, NaN for those that were not judged."""
        credit = np.full(len(self.answers), np.nan, dtype=np.float32)
        if self.splits:
            credit[self._judged[0]] = self.credits.values[self._choice[0]]
        return credit

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
        used, credits = self.growth(self.chosen, sizes)
        scored = np.where(_scored(self.judged), credits, np.nan)
        return make_curve(self.chosen.name, used, scored, self.draws, len(self.judged))

    def growth(self, model: Model, sizes: Sequence[float] | None = None) -> tuple[Floats, Floats]:
        """Numbers of training answers and (sizes, judged) held-out credits of one judged model; kept for the usual sizes."""
        if sizes is None and model.name in self._growths:
            return self._growths[model.name]
        # where statements are lost, or many go through the same sets of questions, units stand for them
        whole = self.units.screens or self.design == "blocked"
        given: Any = {"statements": self.units.codes if whole else self.judged.statement_ids}
        full = self.credits.values[self.models.index(model)]
        settled = self.settled(model.name)  # so that vectors which enter all answers enter fewer, too
        grown = grow(self.judged, settled, self.splits, full=full, sizes=sizes, seed=self.seed, **given)
        if sizes is None:
            self._growths[model.name] = grown
        return grown

    # ---------------------------------------------------------------- vectors

    @cached_property
    def worth(self) -> Worth | None:
        """What vectors of the objects bring; None without them, or where nothing can be held out."""
        return measure_worth(self) if self.vectors is not None and self.splits else None


def _scored(answers: Triplets) -> NDArray[np.bool_]:
    """(m,) answers that accuracies come from: to random questions, where there are such beside others; else all."""
    drawn = random_rows(answers)
    return drawn if drawn is not None and drawn.any() else np.ones(len(answers), dtype=bool)


def parse_or_choose(answers: Triplets, model: Any, seed: int) -> Model:
    """The model that is given, or for "auto" the one that ``nf.analyse`` chooses by these answers."""
    return Judging(answers, seed=seed).chosen if is_auto(model) else parse_model(model)
