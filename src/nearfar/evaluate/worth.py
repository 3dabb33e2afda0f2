"""What vectors of the objects are worth: alone, beside the answers, in answers saved, and for objects nobody was asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nearfar import words
from nearfar._tools.arrays import Floats
from nearfar._tools.progress import track
from nearfar._tools.records import Record
from nearfar.evaluate.bootstrap import Draws, Estimate, make_draws
from nearfar.evaluate.crossval import fit_timed
from nearfar.evaluate.priors import VectorsAlone, settle
from nearfar.evaluate.splits import Split, Units, split_units
from nearfar.space.models import Model
from nearfar.triplets import Triplets

if TYPE_CHECKING:
    from nearfar.evaluate.comparison import Score
    from nearfar.evaluate.judging import Judging


@dataclass(frozen=True)
class Worth(Record):
    """What vectors bring.

    Parameters
    ----------
    alone, answers, both : held-out accuracy of the vectors alone, of the best model without them, and of the best with both.
    gain : how much more accurate both are than the answers alone.
    times : with vectors, 1 / times of the answers predict as well as all of them without; infinite where an eighth is enough,
        None where the gain is not clear.
    new_objects : accuracy of answers about an object that was left out of the answers; None where vectors do not enter.
    shares : share of the prior that every source has, in the model of all answers; empty where vectors do not enter.
    missing : objects without a vector. ``n_extra`` : vectors without an object.
    """

    alone: Score
    answers: Score
    both: Score
    gain: Estimate
    times: Estimate | None
    new_objects: Estimate | None
    shares: Mapping[str, float]
    missing: tuple[str, ...]
    n_extra: int

    def __str__(self) -> str:
        return words.worth_text(self)


def measure_worth(analysis: Judging) -> Worth:
    """What the vectors of an analysis bring; it has folds to hold out."""
    vectors: Any = analysis.vectors
    scores = analysis.scores
    kinds: dict[str, list[int]] = {"alone": [], "answers": [], "both": []}
    for row, model in enumerate(analysis.models):
        own = isinstance(model.estimator, VectorsAlone)
        kinds["alone" if own else "answers" if model.prior is None else "both"].append(row)
    kinds["both"] = kinds["both"] or kinds["answers"]  # where vectors do not enter
    listed, credits = tuple(scores), analysis.scored_credits.values
    rows = {kind: min(those, key=lambda row: listed[row].behind) for kind, those in kinds.items()}
    gain = analysis.draws.difference(credits[rows["both"]], credits[rows["answers"]])
    model = analysis.models[rows["both"]]
    prior: Any = analysis.settled(model.name).prior
    times, new_objects, shares = None, None, dict[str, float]()
    if hasattr(prior, "shares"):
        new_objects = new_object_accuracy(analysis.judged, model, seed=analysis.seed)
        if gain.low > 0 and all(len(train) for train, _ in analysis.splits):
            times = _times(*analysis.growth(model), credits[rows["answers"]], analysis.draws)
        shares = prior.shares
    alone, answers, both = (listed[rows[kind]] for kind in kinds)
    return Worth(alone, answers, both, gain, times, new_objects, shares, vectors.missing, len(vectors.extra))


def _times(sizes: Floats, credits: Floats, without: Floats, draws: Draws) -> Estimate:
    """All answers : answers with vectors that predict as well as all without; by interpolation in the logarithm of the size.

    ``credits`` : (sizes, m) with vectors. Every draw has its own ratio; the interval holds the middle 95 % of them.
    """
    known = np.where(np.isnan(without), np.nan, credits)
    drawn = _ratios(sizes, draws.means(known), draws.means(without)[0])
    value = _ratios(sizes, np.nanmean(known, axis=1)[:, None], np.array([np.nanmean(without)]))
    return Estimate(float(value[0]), *map(float, np.quantile(drawn, [0.025, 0.975], method="nearest")))


def _ratios(sizes: Floats, curves: Floats, targets: Floats) -> Floats:
    """(draws,) where each column of (sizes, draws) reaches its target; infinite below the first size, 1 above the last."""
    pairs = zip(targets, np.maximum.accumulate(curves, axis=0).T, strict=True)
    logs = np.log2(sizes[-1] / sizes)
    return np.asarray([2.0 ** np.interp(target, curve, logs, left=np.inf) for target, curve in pairs])


def new_object_accuracy(answers: Triplets, model: Model, *, seed: int = 0) -> Estimate | None:
    """Accuracy of answers about one object that has a vector and that no training answer names; None where that leaves too few to train on.

    The model is fitted to fewer answers than there are (about three quarters of them for triplets), so that it is a careful figure.
    Objects and participants are drawn for its interval.
    """
    if (left_out := left_out_objects(answers, model, seed=seed)) is None:
        return None
    credits, rows, codes = left_out
    units = Units(codes, int(codes.max()) + 1, "trio")
    return make_draws(answers[rows], units, seed=seed).estimate(credits)


def left_out_objects(
    answers: Triplets, model: Model, *, least: float = 0.6, seed: int = 0
) -> tuple[Floats, NDArray[np.intp], NDArray[np.int64]] | None:
    """Credits of answers that name one left-out object, their rows, and the code of that object.

    So many objects are left out at a time, five times, that at least ``least`` of the answers stay (a tenth of them for triplets;
    fewer for screens, which go as a whole). None where even a hundredth leaves less.
    """
    named, units = answers.array, split_units(answers)
    known: Any = model.prior.known if model.prior is not None else np.ones(answers.n_objects, dtype=bool)
    order = np.random.default_rng([seed, 30]).permutation(answers.n_objects)

    def split(n_folds: int, k: int) -> tuple[NDArray[np.bool_], Split]:
        out = (order % n_folds == k)[named]
        touched = np.zeros(units.count, dtype=bool)
        touched[units.codes[out.any(axis=1)]] = True
        train = np.flatnonzero(~touched[units.codes])
        by_vector = (out & known[named]).any(axis=1)  # nothing speaks of others
        return out, Split(train, np.flatnonzero(by_vector & (out.sum(axis=1) == 1)))

    n_folds = next((n for n in (5, 10, 20, 50, 100) if len(split(n, 0)[1].train) >= least * len(answers)), 0)
    found = []
    for k in track(range(min(n_folds, 5)), "leaving out objects", total=5):
        out, (train, test) = split(n_folds, k)
        if len(train) and len(test):
            fitted = fit_timed(settle(model, answers[train], enter=True), answers[train])
            codes = named[test][out[test]].astype(np.int64)
            found.append((fitted.space.credits(answers[test]), test, codes))
    return tuple(map(np.concatenate, zip(*found, strict=True))) if found else None  # type: ignore[return-value]
