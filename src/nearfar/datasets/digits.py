"""USPS and MNIST: handwritten digits, to simulate answers on."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.progress import step
from nearfar.datasets._download import VARIABLE, data_folder, read_npz, writable_folder
from nearfar.errors import FileError, UnreachableError

__all__ = ["Digits", "fetch_mnist", "fetch_usps"]

USPS, USPS_TRAIN = 9_298, 7_291
MNIST, MNIST_TRAIN = 70_000, 60_000
USPS_ID, MNIST_ID = 41_082, 554  # on openml.org


@dataclass(frozen=True, eq=False)
class Digits:
    """Images of digits: the training images first, then the test images.

    Parameters
    ----------
    images : (n, side, side) grey values.
    labels : (n,) digit 0 to 9.
    n_train : how many are training images.

    Examples
    --------
    >>> digits = Digits(np.zeros((3, 8, 8)), np.array([0, 1, 2], dtype=np.uint8), n_train=2)
    >>> digits.points.shape
    (3, 64)
    """

    images: NDArray[Any]
    labels: NDArray[np.uint8]
    n_train: int

    @property
    def points(self) -> NDArray[Any]:
        """(n, side * side) one row of grey values per digit."""
        return self.images.reshape(len(self.images), -1)


def fetch_usps(data_dir: str | os.PathLike[str] | None = None) -> Digits:
    """9,298 digits from US envelopes, 16 x 16, grey values from -1 to 1 (float32).

    Parameters
    ----------
    data_dir : folder to look in and to download to, or the NPZ file itself. Default: $NEARFAR_DATA, else the
        user's cache folder. Found there: ``usps/usps.npz``; otherwise fetched from OpenML, checksum included.

    Raises
    ------
    UnreachableError : not at hand, and the server cannot be reached.
    FileError : not the published counts.

    Notes
    -----
    Licence: none stated. Cite: J. Hull, A database for handwritten text recognition research, IEEE
    Transactions on Pattern Analysis and Machine Intelligence 16(5), 1994.

    Examples
    --------
    ::

        fetch_usps().images.shape  # (9298, 16, 16)

    >>> fetch_usps().points.shape  # doctest: +SKIP
    (9298, 256)
    """
    path = _at_hand(data_dir, "usps/usps.npz")
    if path is None:
        values, labels = _openml(USPS_ID, data_dir)
        # OpenML numbers the digits 0 to 9 as classes 1 to 10.
        return _digits(values.astype(np.float32), labels - 1, USPS_TRAIN, USPS, "OpenML's USPS")
    data = read_npz(path, "x_train_milli", "y_train", "x_test_milli", "y_test")
    values = np.concatenate([data["x_train_milli"], data["x_test_milli"]]).astype(np.float32) / 1000
    labels = np.concatenate([data["y_train"], data["y_test"]])
    return _digits(values, labels, len(data["y_train"]), USPS, path)


def fetch_mnist(data_dir: str | os.PathLike[str] | None = None) -> Digits:
    """70,000 digits, 28 x 28, grey values from 0 to 255 (uint8).

    Parameters
    ----------
    data_dir : folder to look in and to download to, or the NPZ file itself. Default: $NEARFAR_DATA, else the
        user's cache folder. Found there: ``mnist/mnist.npz``; otherwise fetched from OpenML, checksum included.

    Raises
    ------
    UnreachableError : not at hand, and the server cannot be reached.
    FileError : not the published counts.

    Notes
    -----
    Licence: CC BY-SA 3.0. Cite: Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning applied to
    document recognition, Proceedings of the IEEE 86(11), 1998.

    Examples
    --------
    ::

        fetch_mnist().images.shape  # (70000, 28, 28)

    >>> fetch_mnist().points.shape  # doctest: +SKIP
    (70000, 784)
    """
    path = _at_hand(data_dir, "mnist/mnist.npz")
    if path is None:
        values, labels = _openml(MNIST_ID, data_dir)
        return _digits(values.astype(np.uint8), labels, MNIST_TRAIN, MNIST, "OpenML's mnist_784")
    data = read_npz(path, "x_train", "y_train", "x_test", "y_test")
    values = np.concatenate([data["x_train"], data["x_test"]])
    labels = np.concatenate([data["y_train"], data["y_test"]])
    return _digits(values, labels, len(data["y_train"]), MNIST, path)


def _at_hand(data_dir: str | os.PathLike[str] | None, name: str) -> Path | None:
    folder = data_folder(data_dir)
    if folder.is_file():
        return folder
    return folder / name if (folder / name).exists() else None


def _openml(number: int, data_dir: str | os.PathLike[str] | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
    from sklearn.datasets import fetch_openml

    folder = writable_folder(data_folder(data_dir))
    try:
        with step(f"downloading OpenML data set {number}"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)  # it tries again
            data = fetch_openml(data_id=number, as_frame=False, parser="liac-arff", data_home=str(folder))
    except OSError as error:
        raise UnreachableError(
            f"OpenML's data set {number} cannot be fetched into {folder} ({type(error).__name__}: {error}); "
            f"point {VARIABLE} to a folder that has the data"
        ) from error
    return np.asarray(data.data), np.asarray(data.target).astype(np.float64).astype(np.int64)


def _digits(values: NDArray[Any], labels: NDArray[Any], n_train: int, n: int, where: object) -> Digits:
    side = int(np.sqrt(values[0].size)) if len(values) else 0
    right = len(values) == len(labels) == n and side * side == values[0].size
    if not right or labels.min() < 0 or labels.max() > 9:
        raise FileError(
            f"{where}: expected {n:,} square images with digits 0 to 9, found {len(values):,} images and "
            f"{len(labels):,} labels; this is not the file it should be",
        )
    return Digits(values.reshape(-1, side, side), labels.astype(np.uint8), n_train)
