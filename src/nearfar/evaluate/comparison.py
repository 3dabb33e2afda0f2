"""Which model predicts answers that it has not seen: models side by side, the one that ``auto`` chooses, and with how many dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import rankdata

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar._tools.records import Record, plain
from nearfar.embedding.choices import odd_one_out_rows
from nearfar.evaluate.bootstrap import Draws, Estimate, Scope
from nearfar.evaluate.ceiling import NoiseCeiling
from nearfar.evaluate.crossval import Credits
from nearfar.evaluate.priors import VectorsAlone
from nearfar.space.models import Model
from nearfar.triplets import Triplets

# On each of food, car, musicians and THINGS one of these is within .002 of the best of ste, tste, ckl, soe and gnmds with 2
# to 20 dimensions (docs/models.md); kernels are there for landmark designs and speed, two dimensions for the map, one for scales
SHORT_LIST = ("score", "k1", "ckl-1", "ckl-2", "soe-5", "ckl-8", "soe-20", "ste-20")
# with vectors as a prior: SOE's default pull does well from few answers to many
FEATURE_LIST = ("soe-2", "soe-5", "soe-20")


@dataclass(frozen=True)
class Score(Record):
    """How one model did on answers that it was not fitted on; NaN where nothing could be held out.

    Parameters
    ----------
    name : of the model.
    accuracy : share of held-out answers that it predicts; a tie counts one half. Only ``Analysis.best`` is corrected for
        having been chosen by the same answers.
    low, high : its 95 % interval; NaN where it is not known.
    ties : share of held-out answers where it sees no difference.
    seconds : of a fit, the median over the folds, features included (maps of one kernel are cut from the same fit).
    behind : how far its accuracy lies below the best one, on the same answers.
    as_good_as_best : whether it cannot be told apart from the best, all models compared at once at the 5 % level.
    warned : (kind of warning, number of fits that gave it).
    odd_one_out : share of held-out odd ones of three that it predicts (guessing 1/3); NaN where none were asked for.
    """

    name: str
    accuracy: float
    low: float = np.nan
    high: float = np.nan
    ties: float = np.nan
    seconds: float = np.nan
    behind: float = np.nan
    as_good_as_best: bool = True
    warned: tuple[tuple[str, int], ...] = ()
    odd_one_out: float = np.nan


@dataclass(frozen=True, repr=False)
class Comparison(Record):
    """Models judged on the same held-out answers; prints as a table, best first.

    ``comparison["ste-2"]`` is one score, iterating gives all of them in the order asked for.

    Parameters
    ----------
    scores : one per model.
    ceiling : what repeated questions say about the best possible accuracy.
    cv : number of folds.
    unit : what was held out as a whole: "trio", "statement", or "pair" (anchor and near).
    scope : of whom, and of which questions, the intervals speak.
    n_answers, n_objects : size of the collection.
    pair_memory : the baseline that only remembers how often an option won, as seen from the same anchor.
    p_guessing : p of no model being above one half, corrected for their number.
    """

    scores: tuple[Score, ...]
    ceiling: NoiseCeiling
    cv: int
    unit: str
    scope: Scope
    n_answers: int
    n_objects: int
    pair_memory: Score
    p_guessing: float

    @property
    def above_guessing(self) -> bool:
        """Whether some model is clearly above one half."""
        return self.p_guessing <= 0.05

    @property
    def remembers_pairs(self) -> bool:
        """Whether the pair-memory baseline rivals the best model: then nothing beyond pairs was learnt."""
        return self.pair_memory.as_good_as_best

    @property
    def best(self) -> Score:
        """The score with the highest accuracy on the same answers; of equal ones the first asked for."""
        return min(self.scores, key=lambda score: score.behind)

    def ranked(self) -> list[Score]:
        """The scores, best first."""
        return sorted(self.scores, key=lambda score: score.behind)

    def __getitem__(self, name: str) -> Score:
        return {score.name: score for score in self.scores}[name]

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"Comparison({len(self)} models, best {self.best.name!r} {self.best.accuracy:.3f})"

    def __str__(self) -> str:
        return words.comparison_text(self)

    def to_frame(self) -> pl.DataFrame:
        """One row per model, best first, as a polars data frame."""
        rows = [{**asdict(score), "warned": words.warned(score, self.cv)} for score in self.ranked()]
        return pl.DataFrame(rows)

    def _repr_html_(self) -> str:
        """How a notebook shows it: the table."""
        return f"<p>{escape(repr(self))}</p>{self.to_frame()._repr_html_()}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, for JSON."""
        return {"best": self.best.name, **super().to_dict(), "scores": plain(self.ranked())}


def make_comparison(
    answers: Triplets, credits: Credits, memory: Floats, draws: Draws, **about: Any
) -> Comparison:
    """Judge models by their held-out credits on ``answers``, ``memory`` those of remembering pairs; ``about`` : other fields."""
    trios = odd_one_out_rows(answers)
    values = np.concatenate([credits.values, memory[None].astype(np.float32)])
    means = credits.accuracies
    best = int(np.argmax(means))
    worse = np.append(draws.clearly_better(credits.values)[:, best], False)
    worse[-1] = draws.clearly_better(values[[best, -1]])[1, 0]
    scores = []
    for k, value in enumerate(values):
        own, is_model = draws.estimate(value), k < len(means)
        score = Score(
            credits.models[k].name if is_model else "pair memory",
            own.value,
            own.low,
            own.high,
            ties=float(np.mean(value == 0.5)),
            seconds=float(np.median(credits.seconds[k])) if is_model else 0.0,
            behind=float(means[best] - own.value) if k != best else 0.0,
            as_good_as_best=not worse[k],
            warned=tuple(sorted(credits.heard[k].items())) if is_model else (),
            odd_one_out=odd_one_out_share(value, trios),
        )
        scores.append(score)
    about |= {"n_answers": len(answers), "n_objects": answers.n_objects, "scope": draws.scope}
    about["p_guessing"] = draws.p_guessing(credits.values)
    return Comparison(scores=tuple(scores[:-1]), pair_memory=scores[-1], **about)


def odd_one_out_share(credit: NDArray[Any], trios: tuple[NDArray[np.intp], NDArray[np.intp]]) -> float:
    """Share of odd ones of three predicted, from the credits of their two triplets; ``trios`` : the rows of each.

    The odd one is predicted where both triplets are. A tie of two pairs counts 1/2, of all three 1/3.

    >>> odd_one_out_share(np.array([1, 1, 1, 0, 1, 0.5, 0.5, 0.5]), (np.arange(0, 8, 2), np.arange(1, 8, 2))).__round__(3)
    0.458
    """
    one, other = (credit[rows].astype(np.float64) for rows in trios)
    right = np.where((one == 0.5) & (other == 0.5), 1 / 3, one * other)
    return float(np.nanmean(right)) if np.isfinite(right).any() else np.nan


def is_auto(model: Any) -> bool:
    """Whether a model is to be chosen, not given."""
    return isinstance(model, str) and model == "auto"


def candidates(n_objects: int, names: Sequence[str] = SHORT_LIST) -> list[str]:
    """The models that ``auto`` looks at, simpler ones first; none with more dimensions than objects allow.

    >>> candidates(8)
    ['score', 'k1', 'ckl-1', 'ckl-2', 'soe-5']
    """
    most = n_objects - 2
    return [name for name in names if "-" not in name or int(name.rpartition("-")[2]) <= most]


def pick(models: Sequence[Model], means: Floats, unclear: NDArray[np.bool_]) -> int:
    """The most accurate model; a much simpler one (half the dimensions, or a kernel) that is as accurate, but for .001.

    One without vectors and with no more dimensions is simpler, too. Vectors alone use no answers: they are chosen only where
    every model is clearly worse.

    ``unclear`` : (k, k) pairs of models whose difference has an interval that contains 0.
    """
    alone = np.array([isinstance(model.estimator, VectorsAlone) for model in models])
    size = np.array([model.n_components or 0 for model in models])
    given = np.array([model.prior is not None for model in models])
    best = int(np.argmax(means))
    if alone[best] and (as_good := ~alone & unclear[best] & np.isfinite(means)).any():
        best = int(np.argmax(np.where(as_good, means, -np.inf)))
    simpler = size <= size[best] / np.where(given[best] & ~given, 1, 2)
    rivals = simpler & (means[best] - means <= np.where(unclear[best], 0.001, 0.0)) & ~alone
    return min([best, *np.flatnonzero(rivals).tolist()], key=lambda k: (size[k], -means[k]))


def choose(credits: Credits, draws: Draws, one_is_enough: bool = False) -> tuple[int, Estimate]:
    """The number of the chosen model, and its accuracy corrected for the choice.

    One dimension is read as a scale. Where there are models with more, it is chosen where it is shown to be enough, and only there.

    The best of several models is flattered by the answers that it was chosen by. So every draw chooses by the answers
    drawn, and is judged by those left out of it; the mean over draws takes the place of the chosen model's own accuracy
    (Tsamardinos, Greasidou and Borboudakis 2018, "Bootstrapping the out-of-sample predictions for efficient and
    accurate cross-validation", Machine Learning 107).
    """
    models, values = credits.models, credits.values
    size = np.array([model.n_components or 0 for model in models])
    means, drawn = credits.accuracies, draws.means(values)
    open_to = (size == 1) == one_is_enough if (size > 1).any() else size >= 0
    if not one_is_enough and size[np.argmax(means)] == 1 and (size == 2).any():
        open_to &= size <= 2  # what one dimension predicts as well is not said to have eight
    apart = np.abs(means[:, None] - means[None, :])
    unclear = apart <= 1.96 * np.nanstd(drawn[:, None] - drawn[None, :], axis=2)
    means, drawn = np.where(open_to, means, -np.inf), np.where(open_to[:, None], drawn, -np.inf)
    chosen = pick(models, means, unclear)
    own = draws.estimate(values[chosen])
    if len(models) == 1:
        return chosen, own
    left_out = draws.left_out_means(values)
    picked = np.array([pick(models, column, unclear) for column in drawn.T])
    judged = left_out[picked, np.arange(len(picked))] - left_out[chosen] + own.value
    shift = min(0.0, float(np.nanmean(judged)) - own.value)  # how much the choice flatters it
    return chosen, Estimate(own.value + shift, max(0.0, own.low + shift), own.high + shift)


MAX_LOSS = 0.03  # share of answers that one dimension may predict less than another model and still be enough


class OneDimension(NamedTuple):
    """``loss`` : how many more answers than one dimension another model predicts at most, by the 95 % interval (NaN where not judged).

    ``enough`` : whether the answers show that one dimension is enough. Not that more are not shown, which is so of any few answers.
    """

    loss: float
    enough: bool


def judge_one_dimension(credits: Credits, draws: Draws) -> OneDimension:
    """Whether one dimension is enough: it loses at most ``MAX_LOSS`` of the answers, and is clearly better than guessing.

    Besides, more dimensions of the same kind make answers no likelier, by one standard error.
    """
    models, values, means = credits.models, credits.values, credits.accuracies
    size = np.array([model.n_components or 0 for model in models])
    one = int(np.argmax(np.where(size == 1, means, -np.inf)))
    if not (size == 1).any() or not (size > 1).any():
        return OneDimension(np.nan, False)
    loss = max(draws.difference(values[k], values[one]).high for k in np.flatnonzero(size != 1))
    if not (loss <= MAX_LOSS and draws.estimate(values[one]).low > 0.5):
        return OneDimension(loss, False)
    rows = [one, *(k for k in np.flatnonzero(size > 1).tolist() if models[k].base == models[one].base)]
    likely = held_out_log_likelihoods(credits.take(rows))
    gain = likely[1:] - likely[0]
    return OneDimension(loss, bool((np.nanmean(gain, axis=1) <= np.nanstd(draws.means(gain), axis=1)).all()))


# Standard errors of a gain that count as clear. A bootstrap of participants and questions overstates them for independent
# answers by up to sqrt 3 (Owen 2007). Of 297 simulated studies 8 were given a dimension too many with 1.4, 3 with 1.7; the number
# was right in 230, 227, and with 2 in 220.
ERRORS = 1.7


@dataclass(frozen=True, repr=False)
class DimensionChoice(Record):
    """The number of dimensions that the answers support; ``int(choice)`` is that number, 0 for noise.

    ``dimensions`` are those tried, in the order of ``comparison.scores``: of each, the model that makes held-out answers likeliest.
    """

    dimension: int
    dimensions: tuple[int, ...]
    comparison: Comparison

    def __int__(self) -> int:
        return self.dimension

    def __repr__(self) -> str:
        return f"DimensionChoice({self.dimension} of {', '.join(map(str, self.dimensions))})"

    def __str__(self) -> str:
        return f"{self.comparison}\n\n{words.dimension_text(self)}"


def count_dimensions(credits: Credits, draws: Draws) -> tuple[tuple[int, ...], list[int], int]:
    """The numbers of dimensions of the models, which model counts for each, and the number that is enough.

    That is the fewest than which no larger one makes answers clearly likelier. Accuracy sees only whether an answer is predicted,
    not how clearly. Of models with the same number the likeliest one counts: answers by another law than a model's own look as if
    they came from more dimensions.
    """
    size = np.array([model.n_components or 0 for model in credits.models])
    known = np.flatnonzero(size > 0).tolist()
    likely, size = held_out_log_likelihoods(credits.take(known)), size[known]
    means = np.nanmean(likely, axis=1)
    sizes = tuple(np.unique(size).tolist())
    best = [int(np.argmax(np.where(size == d, means, -np.inf))) for d in sizes]
    drawn, means, rows = draws.means(likely[best]), means[best], [known[k] for k in best]
    clearer = means[None, :] - means[:, None] > ERRORS * np.nanstd(drawn[None, :] - drawn[:, None], axis=2)
    return sizes, rows, sizes[int(np.argmin(np.triu(clearer, 1).any(axis=1)))]


def held_out_log_likelihoods(credits: Credits) -> Floats:
    """(models, m) ``log_likelihood`` of the answers that count."""
    margins = np.where(np.isnan(credits.values), np.nan, credits.margins)
    return np.stack([log_likelihood(row) for row in margins])


def log_likelihood(margins: NDArray[np.float32]) -> Floats:
    """(m,) log probability of held-out answers with these margins; NaN where the margin is.

    It is l / 2 + (1 - l) / (1 + e^(-b r)) with r the rank of the margin among all, negative where the other answer is expected;
    slope b and share l of lapses are fitted. Ranks make models with margins of any scale comparable.

    >>> sure = log_likelihood(np.array([3.0, 2.0, 1.0, -0.5], dtype=np.float32))
    >>> bool(sure[0] > sure[2] > sure[3])
    True
    """
    known = np.isfinite(margins)
    rank = rankdata(np.abs(margins[known])) / max(known.sum(), 1) * np.sign(margins[known])
    counts, edges = np.histogram(rank, bins=1001, range=(-1, 1))  # which is enough to fit two numbers
    middles = (edges[1:] + edges[:-1]) / 2

    def log_probability(at: Floats, rank: Floats) -> Floats:
        lapses = 0.9 / (1 + np.exp(-at[1]))
        chosen = 1 / (1 + np.exp(-np.clip(np.exp(at[0]) * rank, -40, 40)))
        return np.asarray(np.log(lapses / 2 + (1 - lapses) * chosen))

    def loss(at: Floats) -> float:
        return -float(counts @ log_probability(at, middles))

    fitted = minimize(loss, np.array([0.7, -3.0]), method="Nelder-Mead")
    result = np.full(margins.shape, np.nan)
    result[known] = log_probability(fitted.x, rank)
    return result
