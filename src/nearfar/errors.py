"""Every exception and warning of nearfar.

::

    Exception
    └── NearfarError
        ├── InputError (also ValueError)      something given by the caller is not what was expected
        │   ├── TripletError                  ... in triplets held in memory
        │   ├── FileError                     ... in a file as a whole
        │   └── RowsError                     ... in rows of a file; carries the rejected rows
        ├── TooLargeError (also MemoryError)  the result would not fit; says what would
        ├── MissingExtra (also ImportError)   an extra is not installed
        └── UnreachableError                  a server or a network was needed and is not there
    Warning
    └── NearfarWarning (also UserWarning)
        ├── UninformedWarning                 objects without a single usable answer
        ├── CoverageWarning                   too few shared columns for k1 or k2 to mean anything
        ├── UnfittedColumnWarning             new answers about columns the map never saw
        ├── ScreenWarning                     answers came from screens whose statement ids are lost
        ├── RepeatedControlWarning            a control question was asked far more often than the others
        └── NotConverged                      an iterative method stopped early
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "CoverageWarning",
    "FileError",
    "InputError",
    "MissingExtra",
    "NearfarError",
    "NearfarWarning",
    "NotConverged",
    "RepeatedControlWarning",
    "RowsError",
    "ScreenWarning",
    "TooLargeError",
    "TripletError",
    "UnfittedColumnWarning",
    "UninformedWarning",
    "UnreachableError",
]


class NearfarError(Exception):
    """Base of every error that nearfar raises on purpose.

    Examples
    --------
    >>> import nearfar as nf
    >>> try:
    ...     nf.Triplets.from_array([[0, 0, 1]])
    ... except nf.errors.NearfarError as error:
    ...     print(str(error)[:65])
    answer 0: anchor, near and far are ('0', '0', '1'); a triplet nee
    """


class InputError(NearfarError, ValueError):
    """Something that was given is not what was expected; the message says where, what was given and the way out.

    Examples
    --------
    >>> import nearfar as nf
    >>> try:
    ...     nf.fit([[0, 1, 2]], "k3")
    ... except nf.errors.InputError as error:
    ...     print(str(error)[:70])
    model: 'k3' is not known; known are auto, the kernels k1, k2, k1+k2, s
    """


class TripletError(InputError):
    """Triplets in memory that cannot be triplets.

    Examples
    --------
    >>> import nearfar as nf
    >>> try:
    ...     nf.Triplets.from_array([[0, 0, 1]])
    ... except nf.errors.TripletError as error:
    ...     print(str(error)[:65])
    answer 0: anchor, near and far are ('0', '0', '1'); a triplet nee
    """


class FileError(InputError):
    """A file that cannot be read as a whole, or a path that cannot be written to.

    Examples
    --------
    >>> import nearfar as nf
    >>> try:
    ...     nf.read_triplets("no-such-file.csv")
    ... except nf.errors.FileError as error:
    ...     print(error)
    no-such-file.csv: cannot be read, there is no such file
    """


class RowsError(InputError):
    """Rows of a file that are not answers; ``rejected`` holds all of them, the message the first five.

    Examples
    --------
    >>> import tempfile
    >>> import nearfar as nf
    >>> path = tempfile.mkdtemp() + "/answers.csv"
    >>> with open(path, "w") as file:
    ...     _ = file.write("anchor,near,far\\nfig,fig,plum\\n")
    >>> try:
    ...     nf.read_triplets(path)
    ... except nf.errors.RowsError as error:
    ...     print(error.rejected["reason"][0])
    two equal objects
    """

    def __init__(self, message: str, *, rejected: Any = None) -> None:
        super().__init__(message)
        self.rejected = rejected


class TooLargeError(NearfarError, MemoryError):
    """What was asked for would not fit in memory; the message names the size and the way out.

    Examples
    --------
    >>> import numpy as np
    >>> import nearfar as nf
    >>> try:
    ...     nf.kernel.gram(np.zeros((10_000_000, 1)))
    ... except nf.errors.TooLargeError as error:
    ...     print(str(error)[:62])
    the kernel matrix of 10,000,000 objects needs 800000.0 GB, but
    """


class MissingExtra(NearfarError, ImportError):
    """A part of nearfar that is installed apart, with the command that installs it.

    Examples
    --------
    >>> print(MissingExtra("bokeh", "report"))
    bokeh is not installed: run  pip install '.[report]'  in the checkout of nearfar
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed: run  pip install '.[{extra}]'  in the checkout of nearfar"
        )
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.package, self.extra)  # it may come from a worker process


class UnreachableError(NearfarError, OSError):
    """A server or a network that was needed did not answer.

    Examples
    --------
    >>> import nearfar as nf
    >>> try:  # doctest: +SKIP
    ...     nf.datasets.fetch_food()
    ... except nf.errors.UnreachableError:
    ...     print("no network: give data_dir a folder that has the files")
    """


class NearfarWarning(UserWarning):
    """Base of every warning that nearfar gives.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", NearfarWarning)  # stop where nearfar would only warn
    """


class UninformedWarning(NearfarWarning):
    """Some objects have a zero row of Phi: no usable answer concerns them.

    Examples
    --------
    >>> import warnings
    >>> import nearfar as nf
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = nf.FeatureMap("score").fit(nf.Triplets([0], [1], [2], ["a", "b", "c", "d"]))
    >>> [warning.category.__name__ for warning in told]
    ['UninformedWarning']
    """


class CoverageWarning(NearfarWarning):
    """Two objects share too few columns for k1 or k2 to say anything about them.

    Examples
    --------
    >>> import warnings
    >>> import nearfar as nf
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = nf.FeatureMap("k1").fit([[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]])
    >>> [warning.category.__name__ for warning in told]
    ['CoverageWarning']
    """


class UnfittedColumnWarning(NearfarWarning):
    """New answers concern columns that the fitted map does not have.

    Examples
    --------
    >>> import warnings
    >>> import nearfar as nf
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = nf.FeatureMap("score").fit([[0, 1, 2], [1, 2, 0], [2, 0, 1]]).transform([[3, 1, 2], [3, 1, 4]])
    >>> [warning.category.__name__ for warning in told]
    ['UninformedWarning', 'UnfittedColumnWarning']
    """


class ScreenWarning(NearfarWarning):
    """Bare triplets look like grid, list or ranking screens; splits keep (anchor, near) together.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import nearfar as nf
    >>> points = np.random.default_rng(0).normal(size=(30, 2))
    >>> grids = nf.simulate.answers(nf.design.grid_questions(30, 150), points=points).triplets
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = list(nf.kfold(grids.array, 5))  # bare triplets: which of them share a screen is lost
    >>> [warning.category.__name__ for warning in told]
    ['ScreenWarning']
    """


class RepeatedControlWarning(NearfarWarning):
    """A control question was asked far more often than the others; it weighs no more than they do.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import nearfar as nf
    >>> points = np.random.default_rng(0).normal(size=(10, 2))
    >>> rows = nf.simulate.answers(nf.design.random_questions(10, 200), points=points).triplets.array
    >>> rows = np.vstack([rows, np.repeat(rows[:1], 60, axis=0)])  # one question was put to everybody
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = nf.analyse(rows, "score", models=["score"]).space
    >>> [warning.category.__name__ for warning in told]
    ['RepeatedControlWarning']
    """


class NotConverged(NearfarWarning):
    """An iterative method stopped before it reached its tolerance.

    Examples
    --------
    >>> import warnings
    >>> import nearfar as nf
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = nf.embedding.SOE(2, max_iter=1).fit([[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]])
    >>> [warning.category.__name__ for warning in told]
    ['NotConverged']
    """
