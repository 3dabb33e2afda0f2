"""Threads of BLAS: held back for little work, and given back whoever leaves last."""

import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import nearfar as nf
from nearfar.threads import one_blas_thread, run


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


@pytest.mark.parametrize(("eigen_solver", "called"), [("arpack", "eigsh"), ("dense", "eigh")])
def test_small_kernels_are_solved_in_one_thread(eigen_solver, called):
    seen = {}

    def watch(frame, event, argument):
        if event == "call" and frame.f_code.co_name in ("eigsh", "eigh", "eigvalsh"):
            seen[frame.f_code.co_name] = blas_threads()

    with threadpool_limits(2, user_api="blas"):
        sys.setprofile(watch)
        try:
            nf.KernelPCA(1, eigen_solver=eigen_solver).fit(np.random.default_rng(0).normal(size=(60, 80)))
        finally:
            sys.setprofile(None)
    assert {called, "eigvalsh"} <= set(seen)
    assert all(threads == {1} for threads in seen.values())


def test_all_threads_take_calls(monkeypatch):
    """Each of six calls meets another one: that needs two threads all the way, the calling one among them."""
    monkeypatch.setenv("NEARFAR_NUM_THREADS", "2")
    meeting, seen = threading.Barrier(2, timeout=20), set()

    def meet(number):
        meeting.wait()
        seen.add(threading.get_ident())
        return number

    assert run(meet, [(number,) for number in range(6)]) == list(range(6))
    assert len(seen) == 2 and threading.get_ident() in seen


@pytest.mark.parametrize("bad", [0, 3, 7])
def test_a_call_that_fails_stops_the_others_and_is_raised(monkeypatch, bad):
    monkeypatch.setenv("NEARFAR_NUM_THREADS", "2")

    def work(number):
        if number == bad:
            raise KeyError(bad)
        return run(lambda inner: inner, [(number,), (number,)])  # from inside: one by one

    with pytest.raises(KeyError, match=str(bad)):
        run(work, [(number,) for number in range(8)])
    assert run(work, [(number,) for number in range(bad)]) == [[number, number] for number in range(bad)]
