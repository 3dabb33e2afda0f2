"""Answers, names or a path where Phi is expected: one sentence, with the right call."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import nearfar as nf
from nearfar.errors import InputError, TripletError
from nearfar.methods import link_clusters, linkage, medoid, neighbours, outliers

N = 8
ROWS = np.array([np.random.default_rng(seed).permutation(N)[:3] for seed in range(60)])
ANSWERS = nf.Triplets.from_array(ROWS, n_objects=N)
NAMES = np.array([f"o{i}" for i in range(N)])[ROWS]
PHI = nf.FeatureMap("score").fit_transform(ANSWERS)
ROLES = ["anchor", "near", "far"]
MAKE_PHI = r"make Phi of them first: FeatureMap\(\.\.\.\)\.fit_transform\(answers\)"
READ = r"read them with nearfar\.read_triplets\(\.\.\.\) and then use FeatureMap\(\.\.\.\)\.fit_transform"

USES = {
    "KernelPCA": lambda given: nf.KernelPCA(2).fit(given),
    "KernelPCA.transform": lambda given: nf.KernelPCA(2).fit(PHI).transform(given),
    "KernelKMeans": lambda given: nf.KernelKMeans(2).fit(given),
    "KernelKMeans.predict": lambda given: nf.KernelKMeans(2, random_state=0).fit(PHI).predict(given),
    "cross_kernel": lambda given: nf.cross_kernel(given, given),
    "linkage": linkage,
    "link_clusters": lambda given: link_clusters(given, n_clusters=3),
    "medoid": lambda given: medoid(given, np.zeros(N, dtype=int)),
    "neighbours": lambda given: neighbours(given, 2),
    "outliers": lambda given: outliers(given, 2),
}
GIVEN = {
    "Triplets": (ANSWERS, f"these are answers, not rows of numbers; {MAKE_PHI}"),
    "pandas names": (pd.DataFrame(NAMES, columns=ROLES), rf"holds text such as 'o\d', .*{READ}"),
    "polars names": (pl.DataFrame(NAMES, schema=ROLES), rf"holds text such as 'o\d', .*{READ}"),
    "an array of names": (NAMES, rf"holds text such as 'o\d', .*{READ}"),
    "a Space": (
        nf.fit(ANSWERS, "score"),
        r"this is a Space; give its rows, space\.rows, or call its own map",
    ),
    "a path": (Path("answers.csv"), r"got the path 'answers\.csv'; .*read_triplets\(path\)\)"),
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("use", USES)
def test_one_sentence_with_the_right_call(use, given):
    value, sentence = GIVEN[given]
    with pytest.raises(InputError, match=f"^(X|phi): .*{sentence}") as raised:
        USES[use](value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kernel", ["k1", "k2", "score", "k1+k2"])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_phi_itself_is_taken_for_phi(kernel, layout):
    phi = nf.FeatureMap(kernel, layout=layout).fit_transform(ANSWERS)
    assert nf.KernelPCA(2).fit_transform(phi).shape == (N, 2)
    assert len(linkage(phi)) == N - 1 and len(nf.KernelKMeans(2).fit(phi).labels_) == N


def test_a_correlation_matrix_may_be_rows_of_features():
    rows = np.corrcoef(np.random.default_rng(0).normal(size=(8, 20)))
    assert len(nf.KernelKMeans(2, random_state=0).fit(rows).labels_) == len(linkage(rows)) + 1 == 8


@pytest.mark.parametrize("estimator", [SVC(), SVC(kernel="linear"), LogisticRegression()])
def test_estimators_of_scikit_learn_refuse_answers_and_take_phi_and_k(estimator):
    classes = np.arange(N) % 2
    with pytest.raises(
        TripletError, match=r"these are answers, not rows of numbers; give FeatureMap\(\.\.\.\)"
    ):
        estimator.fit(ANSWERS, np.arange(len(ANSWERS)) % 2)
    assert len(estimator.fit(PHI, classes).predict(PHI)) == N
    K = nf.kernel_matrix(ANSWERS, "score")
    assert len(SVC(kernel="precomputed").fit(K, classes).predict(K)) == N


@pytest.mark.parametrize("function", [nf.kernel.gram, nf.kernel.shifted_kernel])
@pytest.mark.parametrize("given", ["Triplets", "polars names", "an array of names", "a path"])
def test_kernels_of_rows_refuse_answers(function, given):
    value, sentence = GIVEN[given]
    with pytest.raises(InputError, match=f"^phi: .*{sentence}"):
        function(value)
    with pytest.raises(InputError, match=f"^phi: .*{sentence}"):
        nf.kernel.cross_kernel(np.eye(3), value)


# ---------------------------------------------------------------- where answers are expected


@pytest.mark.parametrize(
    "make", [nf.FeatureMap("k1").fit, nf.fit, nf.analyse, lambda given: nf.kernel_matrix(given, "k1")]
)
def test_a_path_where_answers_are_expected(make):
    with pytest.raises(
        TripletError, match=r"answers: got the path 'answers\.csv'; give nearfar\.read_triplets\('"
    ):
        make("answers.csv")


def test_names_in_an_array_where_answers_are_expected():
    sentence = (
        "'o[0-9]' is not a valid index; .*; for names give a data frame with columns anchor, near and far"
    )
    with pytest.raises(TripletError, match=sentence):
        nf.FeatureMap("k1").fit(NAMES)


def test_a_frame_of_names_is_read_as_read_triplets_reads_it():
    frame = pd.DataFrame(NAMES, columns=ROLES)
    read = nf.FeatureMap("score").fit_transform(nf.read_triplets(frame))
    assert np.array_equal(nf.FeatureMap("score").fit_transform(frame), read)


@pytest.mark.parametrize("matrix", [np.eye(4), nf.kernel_matrix(ANSWERS, "k1")])
def test_a_frame_of_numbers_is_not_a_frame_of_answers(matrix):
    with pytest.raises(InputError, match="data frame: the columns '0', '1', '2'"):
        nf.FeatureMap("k1").fit(pd.DataFrame(matrix))
