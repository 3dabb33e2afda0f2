"""FeatureMap: Triplets -> Phi as an estimator of scikit-learn."""

from __future__ import annotations

from sklearn.base import BaseEstimator, TransformerMixin

from nearfar.features.mapping import TripletMap


class FeatureMap(TripletMap, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The explicit feature map of a triplet kernel: one unit row per object, K = Phi Phi'.

    Parameters
    ----------
    kernel : "k1", "k2" (Kleindessner and von Luxburg, 2017), "score" (ours), or a sum such as "k1+k2".
    landmarks : names or indices of the objects that columns are made of; None for all objects.
    layout : "dense" for an ndarray, "sparse" for a csr_array, "auto" for what is cheaper.
    dtype : float64 or float32.

    Attributes
    ----------
    features_ : (n, p) Phi of the fitted answers, ndarray or csr_array.
    columns_ : Columns, what each column is about.
    objects_ : names of the n fitted objects.
    informed_ : (n,) bool, whether the object has a non-zero row.
    uninformed_ : indices of the others.
    uninformed_objects_ : names of the others.
    coverage_ : per kernel part, the columns that two informed objects share on average.

    Examples
    --------
    >>> line = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 0, 2], [1, 0, 3], [1, 2, 3]]
    >>> line += [[2, 3, 1], [2, 3, 0], [2, 1, 0], [3, 2, 1], [3, 2, 0], [3, 1, 0]]  # points at 0, 1, 5, 6
    >>> phi = FeatureMap("k1").fit_transform(line)
    >>> phi.shape
    (4, 6)
    >>> (phi @ phi.T).round(2)[0]
    array([ 1.  ,  0.33, -0.33, -0.33])
    """

    # scikit-learn's set_output looks at methods that the class itself has
    fit_transform = TripletMap.fit_transform
    transform = TripletMap.transform
