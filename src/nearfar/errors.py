"""Every exception and warning of nearfar.

::

    Exception
    └── NearfarError
        ├── InputError (also ValueError)      something given by the caller is not what was expected
        │   ├── TripletError                  ... in triplets held in memory
        │   ├── FileError                     ... in a file as a whole
        │   │   └── ColumnsError              its columns are not known; carries the options that would read it
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
        ├── FeatureWarning                    vectors that lack, are left over, or say nothing
        └── NotConverged                      an iterative method stopped early
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "ColumnsError",
    "CoverageWarning",
    "FeatureWarning",
    "FileError",
    "InputError",
    "MissingExtra",
    "NearfarError",
    "NearfarWarning",
    "NotConverged",
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

    >>> import nearfar as nf
    >>> try:
    ...     nf.Triplets.from_array([[0, 0, 1]])
    ... except nf.errors.NearfarError as error:
    ...     print(str(error)[:65])
    answer 0: anchor, near and far are ('0', '0', '1'); a triplet nee
    """


class InputError(NearfarError, ValueError):
    """Something that was given is not what was expected; the message says where, what was given and the way out."""


class TripletError(InputError):
    """Triplets in memory that cannot be triplets."""


class FileError(InputError):
    """A file that cannot be read as a whole, or a path that cannot be written to."""


class ColumnsError(FileError):
    """The columns of a file are not known; ``options`` of the command line would read it, where what it ``means`` is certain."""

    def __init__(self, message: str, *, options: Sequence[str] = (), means: str = "") -> None:
        super().__init__(message)
        self.options, self.means = list(options), means


class RowsError(InputError):
    """Rows of a file that are not answers; ``rejected`` is a data frame of all of them, the message has five."""

    def __init__(self, message: str, *, rejected: Any = None) -> None:
        super().__init__(message)
        self.rejected = rejected


class TooLargeError(NearfarError, MemoryError):
    """What was asked for would not fit in memory; the message names the size and the way out."""


class MissingExtra(NearfarError, ImportError):
    """A part of nearfar that is installed apart, with the command that installs it.

    >>> print(MissingExtra("jinja2", "report"))
    jinja2 is not installed: run  pip install '.[report]'  in the checkout of nearfar
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)

    def __str__(self) -> str:
        package, extra = self.args
        return f"{package} is not installed: run  pip install '.[{extra}]'  in the checkout of nearfar"


class UnreachableError(NearfarError, OSError):
    """A server or a network that was needed did not answer."""


class NearfarWarning(UserWarning):
    """Base of every warning that nearfar gives.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", NearfarWarning)  # stop where nearfar would only warn
    """


class UninformedWarning(NearfarWarning):
    """Some objects have a zero row of Phi: no usable answer concerns them."""


class CoverageWarning(NearfarWarning):
    """Two objects share too few columns for k1 or k2 to say anything about them."""


class UnfittedColumnWarning(NearfarWarning):
    """New answers concern columns that the fitted map does not have."""


class ScreenWarning(NearfarWarning):
    """Bare triplets look like grid, list or ranking screens; splits keep (anchor, near) together."""


class FeatureWarning(NearfarWarning):
    """Some objects have no vector, some vectors no object, or some columns say nothing: all objects have the same value."""


class NotConverged(NearfarWarning):
    """An iterative method stopped before it reached its tolerance."""
