"""Classifiers on K and on Phi beat a dummy, on real cars and on digits never seen in training."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

import nearfar as nf

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))


@pytest.fixture(scope="module")
def cars(shared_data):
    return nf.datasets.fetch_car(shared_data)


@pytest.mark.parametrize("kernel", ["k1", "score"])
def test_cars_are_classified_far_above_the_dummy(cars, kernel):
    from classify_cars import accuracies

    accuracy = accuracies(cars.triplets, cars.groups, kernel, repeats=1)
    dummy = accuracy.pop("dummy, most frequent class")
    assert dummy == pytest.approx(0.4, abs=0.02)  # 24 of 60 are ordinary
    assert set(accuracy) == {"SVC on the precomputed K", "LinearSVC on Phi", "logistic regression on Phi"}
    assert min(accuracy.values()) > dummy + 0.3


def test_shuffled_classes_are_not_found(cars):
    """The same classifiers on shuffled classes: no better than the dummy, so the test above can fail."""
    from classify_cars import accuracies

    shuffled = np.random.default_rng(0).permutation(cars.groups)
    accuracy = accuracies(cars.triplets, shuffled, "k1", repeats=1)
    assert max(accuracy.values()) < 0.55


def test_spectral_clustering_finds_the_cars(cars):
    from classify_cars import spectral_purity

    one, many = spectral_purity(cars.triplets, cars.groups, "score")
    assert one == pytest.approx(0.4) and many > 0.65


def test_new_digits_are_classified_through_out_of_sample_rows(shared_data):
    from classify_new_digits import classify_new

    usps = nf.datasets.fetch_usps(shared_data)
    taken = np.concatenate([np.arange(400), usps.n_train + np.arange(200)])
    accuracy, (one, many) = classify_new(usps.points[taken], usps.labels[taken], 400, per_object=120)
    dummy_inside, dummy_outside = accuracy.pop("dummy, most frequent digit")
    for inside, outside in accuracy.values():
        assert inside > dummy_inside + 0.3
        assert outside > dummy_outside + 0.25
    assert many > one + 0.15


def test_precomputed_kernel_and_rows_are_one_and_the_same(cars):
    """A linear SVC on K and on Phi decide alike: K is Phi Phi', diagonal kept."""
    phi = nf.FeatureMap("k1").fit_transform(cars.triplets)
    K = nf.kernel_matrix(cars.triplets, "k1", diagonal="keep")
    by_kernel = SVC(kernel="precomputed").fit(K, cars.groups).predict(K)
    by_rows = SVC(kernel="linear").fit(phi, cars.groups).predict(phi)
    assert by_kernel.tolist() == by_rows.tolist()


def test_methods_fit_into_pipelines(cars):
    phi = nf.FeatureMap("k1").fit_transform(cars.triplets)
    model = make_pipeline(nf.KernelPCA(10, diagonal="keep"), LinearSVC())
    assert clone(model).fit(phi, cars.groups).score(phi, cars.groups) > 0.8
