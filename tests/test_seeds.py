"""What fixes random numbers: None, an integer or a Generator, in every function and estimator that draws any."""

import inspect

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import nearfar as nf
from nearfar.errors import InputError

POINTS = make_blobs(8, random_state=0)[0]
QUESTIONS = nf.design.random_questions(8, 160)
FEW = nf.design.random_questions(30, 100)
ANSWERS = nf.simulate.answers(QUESTIONS, points=POINTS).triplets
ANSWERS = ANSWERS.replace(participant=[f"p{i % 8}" for i in range(len(ANSWERS))])
GROUPS = {f"p{i}": "ab"[i % 2] for i in range(8)}
PHI = nf.FeatureMap("score").fit_transform(ANSWERS)

DRAWS = {
    "Analysis": lambda seed: nf.Analysis(ANSWERS, "score", models=["score"], seed=seed).scores,
    "advise": lambda seed: nf.advise(4, assumptions=nf.evaluate.Assumptions(dimension=1), seed=seed),
    "choose_dimension": lambda seed: nf.choose_dimension(ANSWERS, "score", (1,), cv=2, seed=seed),
    "compare": lambda seed: nf.compare(ANSWERS, ["score"], cv=2, seed=seed),
    "compare_groups": lambda seed: nf.compare_groups(
        ANSWERS, GROUPS, model="score", n_permutations=9, n_resamples=2, seed=seed
    ),
    "find_dimensions": lambda seed: nf.find_dimensions(ANSWERS, "nonneg-2", seed=seed),
    "find_subgroups": lambda seed: nf.find_subgroups(ANSWERS, model="score", most=2, seed=seed),
    "holdout": lambda seed: nf.holdout(ANSWERS, seed=seed),
    "kfold": lambda seed: list(nf.kfold(ANSWERS, 2, seed=seed)),
    "learning_curve": lambda seed: nf.learning_curve(ANSWERS, "score", cv=2, seed=seed),
    "datasets.make_toy": lambda seed: nf.datasets.make_toy("moons", 20, seed),
    "design.booklets": lambda seed: nf.design.booklets(FEW, 2, seed=seed),
    "design.check_questions": lambda seed: nf.design.check_questions(8, 2, seed=seed),
    "design.farthest_first": lambda seed: nf.design.farthest_first(np.ones((8, 8)), 2, seed=seed),
    "design.grid_questions": lambda seed: nf.design.grid_questions(9, 4, seed=seed),
    "design.landmark_questions": lambda seed: nf.design.landmark_questions(8, [0, 1], seed=seed),
    "design.random_landmarks": lambda seed: nf.design.random_landmarks(8, 2, seed=seed),
    "design.random_questions": lambda seed: nf.design.random_questions(8, 60, seed=seed),
    "design.near_questions": lambda seed: nf.design.near_questions(8, 9, seed=seed),
    "design.next_questions": lambda seed: nf.design.next_questions(ANSWERS, 8, 9, seed=seed),
    "design.trio_questions": lambda seed: nf.design.trio_questions(8, 9, seed=seed),
    "simulate.answers": lambda seed: nf.simulate.answers(QUESTIONS, points=POINTS, seed=seed),
    "KernelKMeans": lambda seed: nf.KernelKMeans(2, random_state=seed).fit(PHI),
    "embedding.SOE": lambda seed: nf.embedding.SOE(1, init="random", random_state=seed).fit(ANSWERS),
    "embedding.SOE from a kernel": lambda seed: nf.embedding.SOE(1, random_state=seed).fit(ANSWERS),
}
COSTLY = {
    "datasets.make_colours": "20,000 answers; drawn as make_toy draws",
    "fit": "an Analysis of all models",
}


def test_every_function_that_draws_is_listed():
    rooms = {"": nf, "datasets.": nf.datasets, "design.": nf.design, "simulate.": nf.simulate}
    drawing = {
        prefix + name
        for prefix, room in rooms.items()
        for name in room.__all__
        if inspect.isfunction(value := getattr(room, name)) and "seed" in inspect.signature(value).parameters
    }
    assert drawing <= DRAWS.keys() | COSTLY.keys()


def test_functions_take_a_seed_and_estimators_a_random_state():
    rooms = (
        nf,
        nf.datasets,
        nf.design,
        nf.embedding,
        nf.evaluate,
        nf.features,
        nf.methods,
        nf.simulate,
        nf.space,
    )
    public = {name: getattr(room, name) for room in rooms for name in room.__all__}
    for name, value in public.items():
        if inspect.isclass(value) and issubclass(value, np.ndarray):
            continue  # before NumPy 2.4 these have no signature
        if inspect.isfunction(value) or (inspect.isclass(value) and not hasattr(value, "get_params")):
            assert "random_state" not in inspect.signature(value).parameters, name
        elif inspect.isclass(value):
            assert "seed" not in inspect.signature(value).parameters, name


@pytest.mark.parametrize("name", DRAWS)
def test_a_generator_or_nothing_does(name):
    for seed in (None, np.random.default_rng(1)):
        assert DRAWS[name](seed) is not None or name == "find_subgroups"


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("wrong", [-1, 1.5, "x"])
def test_anything_else_is_one_sentence(name, wrong):
    with pytest.raises(
        InputError, match=r"(seed|random_state) must be None, an integer >= 0 or a numpy Generator, got"
    ):
        DRAWS[name](wrong)
