"""Triplets -> Phi, by k1, k2, score, or a sum of them, without scikit-learn.

``FeatureMap`` is this with scikit-learn's manners. Whoever only computes, as the command line does, takes what is
here: importing scikit-learn takes longer than the work.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from nearfar._tools.text import listed
from nearfar.design.landmarks import landmark_indices as design_indices
from nearfar.errors import CoverageWarning, InputError, UnfittedColumnWarning, UninformedWarning
from nearfar.features.counts import Counts
from nearfar.features.kernels import K1, K2, SCORE
from nearfar.features.part import Columns, Part, columns_of
from nearfar.features.rows import Block, Phi, rows_from_counts, shared_columns, stack
from nearfar.triplets import Triplets, as_triplets

PARTS = {part.name: part for part in (K1, K2, SCORE)}
_one_at_a_time = threading.RLock()  # batches of several threads are counted one after the other


def parse_kernel(kernel: str) -> list[Part]:
    """The parts of a kernel's name, in the order written.

    >>> [part.name for part in parse_kernel("k1+score")]
    ['k1', 'score']
    """
    names = [name.strip() for name in kernel.split("+")] if isinstance(kernel, str) else [kernel]
    wrong = [name for name in names if name not in PARTS]
    if wrong or len(set(names)) < len(names):
        raise InputError(
            f"kernel: {kernel!r} is not known; expected k1, k2, score, or a sum of different ones such as 'k1+k2'"
        )
    return [PARTS[name] for name in names]


class TripletMap:
    """The explicit feature map of a triplet kernel, one unit row per object; ``FeatureMap`` describes it.

    >>> phi = TripletMap("score").fit_transform([[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    >>> phi.shape
    (3, 3)
    """

    def __init__(
        self,
        kernel: str = "k1",
        *,
        landmarks: Sequence[str] | Sequence[int] | None = None,
        layout: Literal["auto", "dense", "sparse"] = "auto",
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.layout = layout
        self.dtype = dtype

    # ---------------------------------------------------------------- fitting

    def fit(self, answers: Triplets | ArrayLike, y: object = None) -> Self:
        """Learn the columns and rows from answers (Triplets or an (m, 3) array of indices)."""
        answers = as_triplets(answers)
        self._start(answers.objects)
        self._count(answers)
        self._phi = stack(self._finish_blocks(), self.layout, self.dtype)
        del self._counts
        self._warn()
        return self

    def fit_transform(self, answers: Triplets | ArrayLike, y: object = None) -> Phi:
        """Phi of the answers, one row per object."""
        phi: Phi = self.fit(answers).features_
        return phi

    def partial_fit(self, answers: Triplets | ArrayLike, y: object = None) -> Self:
        """Count more answers about the same objects; batches in any order and size give the same Phi.

        Memory depends on the objects and the cells answered about, not on the answers. Several threads may give
        batches to one map.
        """
        batch = as_triplets(answers)
        with _one_at_a_time:
            if not hasattr(self, "_counts"):
                if hasattr(self, "_phi"):
                    raise InputError(
                        "partial_fit: this map was fitted in one go and kept no counts; start a new FeatureMap and "
                        "give all batches to partial_fit"
                    )
                self._start(batch.objects)
            elif batch.objects is not self.objects_ and batch.objects != self.objects_:
                raise InputError(
                    f"partial_fit: this batch names {len(batch.objects)} objects, the first one named "
                    f"{len(self.objects_)} or other ones; give every batch the same list of objects"
                )
            self._count(batch)
            self.__dict__.pop("_phi", None)
        return self

    def _start(self, objects: tuple[str, ...]) -> None:
        check_form(self.layout, self.dtype)
        parts = parse_kernel(self.kernel)
        self.objects_ = objects
        self._mark_objects = landmark_indices(self.landmarks, objects)
        mark = np.full(len(objects), -1, dtype=np.int32)
        mark[self._mark_objects] = np.arange(len(self._mark_objects), dtype=np.int32)
        sizes = (len(objects), mark, len(self._mark_objects))
        # a grid where Phi has all columns and is to be dense; else it may turn out
        dense = self.layout == "dense"
        self._counts = [Counts(part, *sizes, dense=(dense and self._has_all(part)) or None) for part in parts]
        self.__dict__.pop("_phi", None)

    def _count(self, answers: Triplets) -> None:
        for counts in self._counts:
            counts.add(answers.anchor, answers.near, answers.far)

    def _finish_blocks(self) -> list[Block]:
        """Rows of each part, and everything that is learnt but Phi itself."""
        parts = [counts.part for counts in self._counts]
        rows = [rows_from_counts(each, None, self._has_all(each.part), self.dtype) for each in self._counts]
        self._codes = [own.codes for own in rows]
        self._informed = np.any([own.informed for own in rows], axis=0)
        shared = [shared_columns(own.rows_per_column, int(self._informed.sum())) for own in rows]
        self._coverage = {part.name: value for part, value in zip(parts, shared, strict=True)}
        return [own.phi for own in rows]

    def _has_all(self, part: Part) -> bool:
        """Whether columns that nobody answered about are kept."""
        return self.landmarks is not None or not part.of_pairs

    def _warn(self) -> None:
        missing = [self.objects_[i] for i in np.flatnonzero(~self._informed)]
        warn_of_gaps(self.kernel, self._coverage, len(self._informed), missing)

    # ---------------------------------------------------------------- what was learnt

    def _ready(self) -> None:
        with _one_at_a_time:
            if hasattr(self, "_counts") and not hasattr(self, "_phi"):
                self._phi = stack(self._finish_blocks(), self.layout, self.dtype)
                self._warn()
        if not hasattr(self, "_phi"):
            from sklearn.exceptions import NotFittedError  # what callers of any estimator catch

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit with answers first")

    @property
    def features_(self) -> Phi:
        """Phi of the fitted answers."""
        self._ready()
        return self._phi

    @property
    def informed_(self) -> NDArray[np.bool_]:
        """(n,) whether each fitted object has a non-zero row."""
        self._ready()
        informed: NDArray[np.bool_] = self._informed
        return informed

    @property
    def uninformed_(self) -> NDArray[np.intp]:
        """Indices of the fitted objects whose row is zero."""
        return np.flatnonzero(~self.informed_)

    @property
    def uninformed_objects_(self) -> list[str]:
        """Names of the fitted objects whose row is zero."""
        return [self.objects_[i] for i in self.uninformed_]

    @property
    def coverage_(self) -> dict[str, float]:
        """Per kernel part, the number of columns that two informed objects share on average."""
        self._ready()
        return dict(self._coverage)

    @property
    def columns_(self) -> Columns:
        """What each column is about."""
        self._ready()
        return columns_of(parse_kernel(self.kernel), self._codes, self._mark_objects, self.objects_)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Every column in words, as scikit-learn asks for them."""
        return np.array(self.columns_.describe(), dtype=object)

    # ---------------------------------------------------------------- new objects

    def transform(self, answers: Triplets | ArrayLike) -> Phi:
        """One row per ``answers.objects``, from these answers alone, over the fitted columns.

        Objects are matched to columns by name (an array: by index). An answer on a column that was not fitted
        counts in the row's length (k1, k2) or is lost (score: what it says about two new objects, which are no
        columns for each other), and is reported by a warning.
        """
        self._ready()
        new = as_triplets(answers, self.objects_)
        rows, outside = [], 0
        for part, codes in zip(parse_kernel(self.kernel), self._codes, strict=True):
            extend = self.landmarks is None and part.of_pairs
            mark, n_marks = self._marks_of(new.objects, extend)
            counts = Counts(part, new.n_objects, mark, n_marks)
            counts.add(new.anchor, new.near, new.far)
            rows.append(rows_from_counts(counts, codes, False, self.dtype))
            outside += rows[-1].outside
            if self.landmarks is None and not extend:  # entries between two new objects, in both rows
                fresh = (mark < 0)[new.array]
                outside += 2 * int((fresh[:, :1] & fresh[:, 1:]).sum())
        if outside:
            warnings.warn(
                f"{outside} entries of these answers concern columns of {self.kernel} that are not in the fitted map; "
                "they are ignored",
                UnfittedColumnWarning,
                stacklevel=2,
            )
        return stack([part.phi for part in rows], self.layout, self.dtype)

    def _marks_of(self, objects: tuple[str, ...], extend: bool) -> tuple[NDArray[np.int32], int]:
        """Mark of each new object among the fitted column objects; unknown ones -1, or after the known."""
        known = {self.objects_[o]: mark for mark, o in enumerate(self._mark_objects)}
        mark = np.array([known.get(name, -1) for name in objects], dtype=np.int32)
        n_marks = len(self._mark_objects)
        if extend:
            fresh = np.flatnonzero(mark < 0)
            mark[fresh] = n_marks + np.arange(len(fresh), dtype=np.int32)
            n_marks += len(fresh)
        return mark, n_marks


def check_form(layout: str, dtype: DTypeLike) -> None:
    """An error for a layout or a dtype that Phi cannot have."""
    if layout not in ("auto", "dense", "sparse"):
        raise InputError(f"layout: {layout!r} is not known; expected auto, dense or sparse")
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputError(f"dtype: {np.dtype(dtype)} is not supported; expected float64 or float32")


def warn_of_gaps(kernel: str, coverage: dict[str, float], n: int, missing: list[str]) -> None:
    """Warn of objects without a usable answer, and of too little coverage."""
    if missing:
        shown = f"{len(missing)} of {n} objects ({listed(missing, 5)})"
        warnings.warn(
            f"the model {kernel!r} cannot place {shown}: there are no usable answers about them",
            UninformedWarning,
            stacklevel=4,
        )
    paired = [value for name, value in coverage.items() if name != "score"]
    if len(paired) == len(coverage) and n - len(missing) > 1 and max(paired) < 1:  # K is almost diagonal
        warnings.warn(
            f"two objects share {max(paired):.2g} columns of {kernel} on average, too few to compare them; use the score "
            "kernel or an embedding (model='auto' chooses), or ask landmark questions",
            CoverageWarning,
            stacklevel=4,
        )


def landmark_indices(landmarks: Any, objects: Sequence[str]) -> NDArray[np.int32]:
    """Indices of the objects that columns are made of, ascending."""
    if landmarks is None:
        return np.arange(len(objects), dtype=np.int32)
    return np.sort(design_indices(landmarks, objects))
