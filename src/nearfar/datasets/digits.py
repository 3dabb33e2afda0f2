"""USPS and MNIST: handwritten digits, to simulate answers on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nearfar._tools.progress import step
from nearfar.datasets._download import VARIABLE, Folder, data_folder, describes_folder, writable_folder
from nearfar.datasets._readers import read_npz
from nearfar.errors import FileError, UnreachableError


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


@describes_folder
def fetch_usps(data_dir: Folder = None) -> Digits:
    """9,298 digits from US envelopes, 16 x 16, grey values from -1 to 1 (float32).

    Licence: none stated. Cite: J. Hull, A database for handwritten text recognition research, IEEE
    Transactions on Pattern Analysis and Machine Intelligence 16(5), 1994.

    >>> fetch_usps().points.shape  # doctest: +SKIP
    (9298, 256)
    """
    local = _at_hand(data_dir, "usps/usps.npz", "x_train_milli", "y_train", "x_test_milli", "y_test")
    if local is not None:
        values, labels = local
        return _digits(values.astype(np.float32) / 1000, labels, 7_291, 9_298)
    values, labels = _openml(41_082, data_dir)
    # OpenML numbers the digits 0 to 9 as classes 1 to 10.
    return _digits(values.astype(np.float32), labels - 1, 7_291, 9_298)


@describes_folder
def fetch_mnist(data_dir: Folder = None) -> Digits:
    """70,000 digits, 28 x 28, grey values from 0 to 255 (uint8).

    Licence: CC BY-SA 3.0. Cite: Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning applied to
    document recognition, Proceedings of the IEEE 86(11), 1998.

    >>> fetch_mnist().points.shape  # doctest: +SKIP
    (70000, 784)
    """
    local = _at_hand(data_dir, "mnist/mnist.npz", "x_train", "y_train", "x_test", "y_test")
    values, labels = local or _openml(554, data_dir)
    return _digits(values.astype(np.uint8), labels, 60_000, 70_000)


def _at_hand(data_dir: Folder, name: str, *keys: str) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Images and labels of an NPZ file with training and test images, where there is one."""
    folder = data_folder(data_dir)
    path = folder if folder.is_file() else folder / name
    if not path.exists():
        return None
    data = read_npz(path, *keys)
    return np.concatenate([data[keys[0]], data[keys[2]]]), np.concatenate([data[keys[1]], data[keys[3]]])


def _openml(number: int, data_dir: Folder) -> tuple[NDArray[Any], NDArray[Any]]:
    from sklearn.datasets import fetch_openml

    folder = writable_folder(data_folder(data_dir))
    try:
        with step(f"downloading OpenML data set {number}"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)  # it tries again
            data = fetch_openml(data_id=number, as_frame=False, parser="liac-arff", data_home=str(folder))
    except OSError as error:
        wrong = f"cannot be fetched into {folder} ({type(error).__name__}: {error})"
        way = f"point {VARIABLE} to a folder that has the data"
        raise UnreachableError(f"OpenML's data set {number} {wrong}; {way}") from error
    return np.asarray(data.data), np.asarray(data.target).astype(np.float64).astype(np.int64)


def _digits(values: NDArray[Any], labels: NDArray[Any], n_train: int, n: int) -> Digits:
    side = int(np.sqrt(values[0].size)) if len(values) else 0
    right = len(values) == len(labels) == n and side * side == values[0].size
    if not right or labels.min() < 0 or labels.max() > 9:
        found = f"found {len(values):,} images and {len(labels):,} labels; this is not the file it should be"
        raise FileError(f"expected {n:,} square images with digits 0 to 9, {found}")
    return Digits(values.reshape(-1, side, side), labels.astype(np.uint8), n_train)
