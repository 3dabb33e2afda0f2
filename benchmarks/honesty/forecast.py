"""Whether studies get the interval that ``nearfar plan --people`` forecasts for their number of participants.

    python -m benchmarks.honesty.forecast 30    30 studies per condition and number of participants; goes on where it stopped

A study asks the lists that the forecast describes, planned repeats and checks included. Its participants are drawn anew: noise of their own
(a log-normal law), and each is careless with a probability of .1, so that a small study may have none or three of them. The forecast spreads
both evenly. Rows keep what studies got; the forecast is made anew. Beside the kernel that the forecast takes stands the embedding that a report would choose among others. Rows go to
benchmarks/results/honesty/forecast.jsonl; a table of them is printed.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import defaultdict
from dataclasses import replace

import numpy as np

import nearfar as nf
from benchmarks._measure import RESULTS, size
from nearfar.errors import NearfarWarning
from nearfar.evaluate.advice import Advice
from nearfar.evaluate.simulated import ABILITIES, Assumptions, noise_of_agreement
from nearfar.triplets import Triplets
from nearfar.triplets.ids import Ids

ROWS = RESULTS / "honesty" / "forecast.jsonl"
PEOPLE = 12  # forecast for half as many and twice as many, too
CONDITIONS = size(
    {"20 objects, 5 minutes": (20, 5), "60 objects, 10 minutes": (60, 10)}, {"8 objects, 1 minute": (8, 1)}
)
MODELS = ("score", "soe-2")
CARELESS = 0.1


def study(told: Advice, people: int, rng: np.random.Generator) -> dict[str, float]:
    """Half the width of the interval of each model in one study of so many participants."""
    given, n, asked = told.assumptions, told.n_objects, told.lists
    assert asked is not None
    points = rng.normal(size=(n, given.dimension))
    count = max(asked.n_new, min(people * asked.n_new // 2, told.scheme.total(n)))
    lists = nf.design.booklets(
        told.scheme.questions(n, count, rng), people, per_person=asked.per_person,
        again=asked.n_again / asked.n_new, checks=asked.checks, seed=rng,
    )  # fmt: skip
    noises = noise_of_agreement(given.agreement, given.dimension) * np.exp(
        ABILITIES * rng.normal(size=people)
    )
    flips = np.where(rng.random(people) < CARELESS, 0.5, 0.0)
    said = []
    for person in range(people):
        own = lists[lists.participant == person]
        law = {"noise": noises[person], "flip": flips[person], "ties": "random"}
        answers = nf.simulate.answers(own, points=points, **law, seed=rng).triplets
        said.append(replace(answers, participant=Ids.encode(np.full(len(answers), person))))
    scores = nf.compare(Triplets.concatenate(said), models=list(MODELS)).scores
    return {score.name: (score.high - score.low) / 2 for score in scores}


def main() -> None:
    wanted = size(int(sys.argv[1]) if len(sys.argv) > 1 else 30, 1)
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    known = {(row["condition"], row["people"], row["seed"]) for row in rows}
    warnings.simplefilter("ignore", NearfarWarning)
    forecasts = {}
    for condition, (n, minutes) in CONDITIONS.items():
        told = nf.advise(n, people=PEOPLE, assumptions=Assumptions(minutes=minutes))
        for expected in told.rows:
            forecasts[condition, expected.people] = expected.half_width
            for seed in range(wanted):
                if (condition, expected.people, seed) in known:
                    continue
                got = study(told, expected.people, np.random.default_rng([seed, n, expected.people]))
                row = {"condition": condition, "people": expected.people, "seed": seed, **got}
                rows.append(row)
                with ROWS.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    cells = defaultdict(list)
    for row in rows:
        cells[row["condition"], row["people"]].append(row)
    for (condition, people), some in cells.items():
        for model in MODELS:
            expected = forecasts[condition, people]
            low, middle, high = np.percentile([row[model] / expected for row in some], [5, 50, 95])
            told = f"forecast {100 * expected:.1f} points"
            print(
                f"{condition}, {people} people, {model}: {told}; width / forecast {middle:.2f} ({low:.2f} to {high:.2f}), {len(some)} studies"
            )


if __name__ == "__main__":
    main()
