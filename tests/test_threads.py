"""Threads of BLAS, held back for little work; calls and items that several threads make."""

import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import nearfar as nf
from nearfar._tools.threads import ahead, one_blas_thread, run


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


@pytest.mark.parametrize(("dense_limit", "called"), [(0, "eigsh"), (1_000, "eigh")])
def test_small_kernels_are_solved_in_one_thread(dense_limit, called, monkeypatch):
    monkeypatch.setattr("nearfar.methods.principal_axes.DENSE_LIMIT", dense_limit)
    seen = {}

    def watch(frame, event, argument):
        if event == "call" and frame.f_code.co_name in ("eigsh", "eigh", "eigvalsh"):
            seen[frame.f_code.co_name] = blas_threads()

    with threadpool_limits(2, user_api="blas"):
        sys.setprofile(watch)
        try:
            nf.KernelPCA(1).fit(np.random.default_rng(0).normal(size=(60, 80)))
        finally:
            sys.setprofile(None)
    assert {called, "eigvalsh"} <= set(seen)
    assert all(threads == {1} for threads in seen.values())


def test_all_threads_take_calls(monkeypatch):
    """Each of six calls meets another one: that needs two threads all the way."""
    monkeypatch.setenv("NEARFAR_NUM_THREADS", "2")
    meeting, seen = threading.Barrier(2, timeout=20), set()

    def meet(number):
        meeting.wait()
        seen.add(threading.get_ident())
        return number

    assert run(meet, [(number,) for number in range(6)]) == list(range(6))
    assert len(seen) == 2


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


@pytest.mark.parametrize("depth", [1, 2])
def test_the_next_items_are_made_while_one_is_worked_on(monkeypatch, depth):
    monkeypatch.setenv("NEARFAR_NUM_THREADS", "2")
    made, worked_on = [], []

    def make():
        for number in range(3):
            made.append((number, threading.get_ident()))
            begun[number].set()
            yield number

    begun = [threading.Event() for _ in range(3)]
    for number in ahead(make(), depth):
        assert begun[min(number + depth, 2)].wait(60)  # the next ones begin though this one is not done
        worked_on.append(number)
    assert worked_on == [number for number, _ in made] == [0, 1, 2]
    assert threading.get_ident() not in {thread for _, thread in made}


@pytest.mark.parametrize("depth", [1, 2])
def test_an_error_comes_after_the_items_before_it(monkeypatch, depth):
    monkeypatch.setenv("NEARFAR_NUM_THREADS", "2")

    def make():
        yield from (1, 2)
        raise ValueError("stop")

    seen = []
    with pytest.raises(ValueError, match="stop"):
        seen.extend(ahead(make(), depth))
    assert seen == [1, 2]


@pytest.mark.parametrize("depth", [1, 2])
def test_who_stops_early_waits_for_the_item_that_is_being_made(monkeypatch, depth):
    monkeypatch.setenv("NEARFAR_NUM_THREADS", "2")
    made, begun, go_on = [], threading.Event(), threading.Event()

    def make():
        for number in range(5):
            if number == 2:
                begun.set()
                go_on.wait(60)
            made.append(number)
            yield number

    source = make()
    items = ahead(source, depth)
    assert [next(items), next(items)] == [0, 1]
    assert begun.wait(60)
    threading.Timer(0.05, go_on.set).start()
    items.close()
    assert made == [0, 1, 2]
    source.close()  # would raise where it was still running
