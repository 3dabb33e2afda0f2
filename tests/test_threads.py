"""Threads of BLAS: held back for little work, and given back whoever leaves last."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import nearfar as nf
from nearfar.kernel import shift
from nearfar.methods import _spectrum
from nearfar.threads import one_blas_thread


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_the_last_who_leaves_gives_the_threads_back():
    """Two threads of Python may be inside at once, and leave in any order."""
    with threadpool_limits(2, user_api="blas"):
        one, two = one_blas_thread(), one_blas_thread()
        one.__enter__()
        two.__enter__()
        assert blas_threads() == {1}
        one.__exit__(None, None, None)
        assert blas_threads() == {1}
        two.__exit__(None, None, None)
        assert blas_threads() == {2}
        with one_blas_thread(10, limit=9):
            assert blas_threads() == {2}
        with pytest.raises(ValueError, match="stop"), one_blas_thread():
            raise ValueError("stop")
        assert blas_threads() == {2}


@pytest.mark.parametrize("all_at_once", [5, 1000])
def test_small_kernels_are_solved_in_one_thread(monkeypatch, all_at_once):
    seen = []

    def watched(function):
        def call(*arguments, **options):
            seen.append(blas_threads())
            return function(*arguments, **options)

        return call

    monkeypatch.setattr(_spectrum, "ALL_AT_ONCE", all_at_once)
    monkeypatch.setattr(_spectrum, "eigsh", watched(_spectrum.eigsh))
    monkeypatch.setattr(_spectrum.linalg, "eigh", watched(_spectrum.linalg.eigh))
    monkeypatch.setattr(shift.linalg, "eigvalsh", watched(shift.linalg.eigvalsh))
    with threadpool_limits(2, user_api="blas"):
        nf.KernelPCA(1).fit(np.random.default_rng(0).normal(size=(60, 80)))
    assert seen == [{1}, {1}]
