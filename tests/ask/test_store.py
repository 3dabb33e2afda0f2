"""Booklets are drawn evenly, answers are saved once, nothing is lost."""

import contextlib
import uuid

import numpy as np
import pytest
from ask_tools import answer, arrive, check_invariants, opened, places, run_all, spread
from hypothesis import given, settings
from hypothesis import strategies as st

from nearfar.ask.store import Transaction, drawing, people, researcher
from nearfar.ask.store.people import Answer
from nearfar.design import Questions
from nearfar.design.booklets import GAP, one_booklet
from nearfar.errors import FileError, UnreachableError

SMALL = {
    "questions": "per_person = 24\nagain = 0.25\nchecks = 2\neach = 3",
    "people": "aim = 12\nidle_minutes = 10",
}


@pytest.fixture
def ready(make):
    return make(**SMALL)


# ---------------------------------------------------------------- the order of a booklet


@given(
    n_new=st.integers(0, 40),
    n_again=st.integers(0, 20),
    n_checks=st.integers(0, 5),
    n_earlier=st.integers(0, 15),
    kind=st.sampled_from(["near", "odd", "grid"]),
    seed=st.integers(0, 2**32),
)
def test_repeats_come_later_with_sides_exchanged_and_nothing_else_twice(
    n_new, n_again, n_checks, n_earlier, kind, seed
):
    width = 5 if kind == "grid" else 3
    rows = np.arange((n_earlier + n_new) * width, dtype=np.int32).reshape(-1, width)
    names = tuple(map(str, range(len(rows) * width + 9)))
    asked = Questions(rows, names, kind, 2 if kind == "grid" else 1)
    made = one_booklet(asked[n_earlier:], n_again, n_checks, earlier=asked[:n_earlier], seed=seed)
    role, question, shown = made.role.tolist(), made.question.tolist(), made.questions.array.tolist()
    place = {(r, q): n_earlier + i for i, (r, q) in enumerate(zip(role, question, strict=True))}
    place |= {(0, q): q for q in range(n_earlier)}
    original = dict(enumerate(rows.tolist())) | {
        q: row for r, q, row in zip(role, question, shown, strict=True) if r == 0
    }
    new = [q for r, q in zip(role, question, strict=True) if r == 0]
    again = [q for r, q in zip(role, question, strict=True) if r == 1]
    assert new == list(range(n_earlier, n_earlier + n_new))
    assert len(set(again)) == len(again) <= n_again and role.count(2) == n_checks
    if n_again <= n_new - GAP:
        assert len(again) == n_again
    for q in again:
        assert place[1, q] - place[0, q] >= GAP
        repeat = shown[place[1, q] - n_earlier]
        assert sorted(repeat) == sorted(original[q])
        moved = slice(0 if kind == "odd" else 1, None)
        assert all(x != y for x, y in zip(repeat[moved], original[q][moved], strict=True))


# ---------------------------------------------------------------- balance


def roles_of(ready, token):
    def look(tx):
        person = people.participant_of(tx, token)
        return tx.rows("SELECT role, question, shown FROM slot WHERE participant = ? ORDER BY place", person)

    return ready.store.read_now(look)


def test_a_booklet_has_new_questions_repeats_and_checks(ready):
    assert arrive(ready, "a") == "ok"
    rows = roles_of(ready, "a")
    assert sorted(row[0] for row in rows) == ["again"] * 4 + ["check"] * 2 + ["new"] * 18
    assert {row[1] for row in rows if row[0] == "again"} < {row[1] for row in rows if row[0] == "new"}


@pytest.mark.parametrize(
    "parts",
    [
        SMALL,
        {"top": 'kind = "odd"', **SMALL},
        {"top": 'kind = "central"', **SMALL},
        {"top": 'kind = "grid"', "questions": SMALL["questions"] + "\noptions = 5\npick = 2", "people": SMALL["people"]},
        # a pool in which three questions are about the same trio
        {"questions": 'design = "landmarks:12"\nrandom = 0\nper_person = 24\nagain=0\nchecks=2\neach = 3', "people": "aim = 50"},
    ],
    ids=["near", "odd", "central", "grid", "crowded"],
)  # fmt: skip
def test_everybody_finishes_and_every_question_is_answered_equally_often(make, parts):
    ready = make(**parts)
    for number in range(25):
        arrive(ready, f"t{number}")
        open_places = places(ready, f"t{number}")
        answer(ready, f"t{number}", open_places, choice=tuple(range(ready.plan.questions.pick)))
        assert spread(ready) <= 1
        assert ready.store.write_now(people.finish, f"t{number}", "CODE", 0.0)["code"] == "CODE"
    check_invariants(ready)


def test_people_at_the_same_time_get_even_booklets(ready):
    """Fifty threads start at once."""
    run_all([lambda i=i: arrive(ready, f"t{i}") for i in range(50)])
    assert spread(ready, "load") <= 1
    check_invariants(ready)


@pytest.mark.parametrize("seed", range(6))
def test_with_drop_out_the_spread_is_at_most_two(make, seed):
    """30 in 100 leave somewhere and some come back; several sit there at the same time."""
    rng = np.random.default_rng(seed)
    names = [f"o{i}" for i in range(20)]
    ready = make(objects=names, questions=SMALL["questions"], people="aim = 30\nidle_minutes = 10")
    now = 0.0
    for number in range(40):
        now += 120
        token = f"t{number}"
        arrive(ready, token, now=now, rng=rng)
        held = places(ready, token)
        stay = int(rng.integers(len(held))) if rng.random() < 0.3 else len(held)
        answer(ready, token, held[:stay], now=now + 60)
        ready.store.write_now(drawing.release_idle, now - 600, rng)
        if rng.random() < 0.1 and number > 10:
            back = f"t{int(rng.integers(number - 9))}"
            arrive(ready, back, now=now, rng=rng)
            answer(ready, back, places(ready, back), now=now)
        check_invariants(ready)
    ready.store.write_now(drawing.release_idle, now + 10_000, rng)
    check_invariants(ready)
    assert spread(ready) <= 2
    assert spread(ready, "load") <= 2


@pytest.mark.parametrize("seed", range(3))
def test_all_come_at_once_and_leavers_are_replaced_until_enough_have_finished(make, seed):
    """Everybody starts before anybody answers; 30 in 100 leave, and as many come once their places are released."""
    rng = np.random.default_rng(seed)
    names = [f"o{i}" for i in range(20)]
    ready = make(objects=names, questions=SMALL["questions"], people="aim = 30")
    now, coming, number = 0.0, 30, 0
    while coming:
        tokens = [f"t{number + i}" for i in range(coming)]
        for token in tokens:
            arrive(ready, token, now=now, rng=rng)
        number, coming, now = number + coming, 0, now + 10_000
        for token in tokens:
            held = places(ready, token)
            leaves = rng.random() < 0.3
            coming += leaves
            answer(ready, token, held[: int(rng.integers(len(held)))] if leaves else held, now=now)
            if not leaves:
                assert ready.store.write_now(people.finish, token, "CODE", now)["code"] == "CODE"
        ready.store.write_now(drawing.release_idle, now + 1, rng)
        check_invariants(ready)
    assert number > 30 and spread(ready) <= 1


class Study:
    """What people may do to a study, in any order; used by the property below."""

    def __init__(self, ready, rng):
        self.ready, self.rng, self.now, self.tokens, self.sent = ready, rng, 0.0, [], {}

    def arrive(self):
        self.tokens.append(f"t{len(self.tokens)}")
        arrive(self.ready, self.tokens[-1], now=self.now, rng=self.rng)

    def come_back(self):
        if self.tokens:
            arrive(self.ready, self.rng.choice(self.tokens), now=self.now, rng=self.rng)

    def answer_some(self):
        if self.tokens:
            token = str(self.rng.choice(self.tokens))
            held = places(self.ready, token)
            chosen = [held[i] for i in self.rng.permutation(len(held))[: self.rng.integers(1, 9)]]
            for sent in answer(self.ready, token, chosen, now=self.now):
                self.sent[sent.id] = (token, sent)

    def send_again(self):
        if self.sent:
            token, sent = self.sent[str(self.rng.choice(sorted(self.sent)))]
            told = self.ready.store.write_now(
                people.save_answers, token, [sent] * 3, self.ready.plan, self.now
            )
            assert told == {"saved": [sent.id] * 3, "refused": []}

    def wait(self):
        self.now += float(self.rng.integers(0, 900))

    def jump_back(self):
        self.now = max(0.0, self.now - 5000)

    def release(self):
        self.ready.store.write_now(drawing.release_idle, self.now - 600, self.rng)

    def answer_blindly(self):
        """An answer to any place at all, released or not: as from a tab that was offline."""
        if self.tokens:
            token = str(self.rng.choice(self.tokens))
            sent = Answer(str(uuid.uuid4()), int(self.rng.integers(0, 40)), (1,), None, None, None)
            told = self.ready.store.write_now(people.save_answers, token, [sent], self.ready.plan, self.now)
            if told["saved"]:
                self.sent.setdefault(sent.id, (token, sent))

    def erase(self):
        if self.tokens and self.rng.random() < 0.3:
            token = self.tokens.pop(int(self.rng.integers(len(self.tokens))))
            assert self.ready.store.write_now(researcher.erase, f"p{token}", self.rng)
            self.sent = {id: pair for id, pair in self.sent.items() if pair[0] != token}
            self.tokens = [one for one in self.tokens if one != token]


ACTS = [name for name in vars(Study) if not name.startswith("_")]


@settings(max_examples=25)
@given(acts=st.lists(st.sampled_from(ACTS), max_size=40), seed=st.integers(0, 2**32))
def test_whatever_people_do_nothing_is_lost_and_loads_are_right(tmp_path_factory, acts, seed):
    with contextlib.closing(opened(tmp_path_factory.mktemp("any"), **SMALL)) as ready:
        study = Study(ready, np.random.default_rng(seed))
        for act in acts:
            getattr(study, act)()
            check_invariants(ready, late=True)
        stored = {row[0] for row in ready.store.read_now(lambda tx: tx.rows("SELECT id FROM answer"))}
    first = {}
    for id, (token, sent) in study.sent.items():
        first.setdefault((token, sent.place), []).append(id)
    # one answer per place, and it is one of those that were confirmed
    assert len(stored) == len(first)
    assert all(len(stored & set(ids)) == 1 for ids in first.values())


# ---------------------------------------------------------------- once, and only one's own


def test_starting_three_times_starts_once(ready):
    assert [arrive(ready, "a") for _ in range(3)] == ["ok"] * 3
    assert arrive(ready, "b", outside="x") == arrive(ready, "c", outside="x") == "ok"
    assert places(ready, "b") == places(ready, "c")
    assert ready.store.read_now(researcher.counts, 0.0)["people"]["active"] == 2


def test_the_first_of_two_tabs_counts(ready):
    arrive(ready, "a")
    one, two = (Answer(str(uuid.uuid4()), 0, (c,), 1.0, 0.0, None) for c in (0, 1))
    for sent in (one, two, one, two):
        told = ready.store.write_now(people.save_answers, "a", [sent], ready.plan, 0.0)
        assert told["saved"] == [sent.id]
    assert ready.store.read_now(researcher.answer_rows)[0][4] == "[0]"
    assert ready.store.read_now(researcher.counts, 0.0)["second_answers"] == 2


def test_nobody_answers_in_anothers_name(ready):
    arrive(ready, "a")
    arrive(ready, "b")
    sent = answer(ready, "a", places(ready, "a")[:1])[0]
    again = Answer(sent.id, 5, (0,), None, None, None)
    told = ready.store.write_now(people.save_answers, "b", [again], ready.plan, 0.0)
    assert told["refused"] == [{"id": sent.id, "reason": "this id belongs to another answer"}]
    assert ready.store.write_now(people.save_answers, "nobody", [again], ready.plan, 0.0) is None
    assert ready.store.write_now(people.finish, "nobody", "CODE", 0.0) is None
    assert ready.store.read_now(people.booklet, "nobody") is None


@pytest.mark.parametrize(
    ("place", "choice", "says"),
    [
        (999, (0,), "there is no such question in this booklet"),
        (0, (2,), "the choice is not one of the options"),
        (0, (-1,), "the choice is not one of the options"),
        (0, (0, 1), "the choice is not one of the options"),
    ],
)
def test_answers_that_cannot_be_are_refused_alone(ready, place, choice, says):
    arrive(ready, "a")
    good = Answer(str(uuid.uuid4()), 1, (0,), None, None, None)
    bad = Answer(str(uuid.uuid4()), place, choice, None, None, None)
    told = ready.store.write_now(people.save_answers, "a", [bad, good], ready.plan, 0.0)
    assert told == {"saved": [good.id], "refused": [{"id": bad.id, "reason": says}]}


def test_the_code_comes_only_with_every_answer(ready):
    arrive(ready, "a")
    held = places(ready, "a")
    answer(ready, "a", held[1:])
    assert ready.store.write_now(people.finish, "a", "CODE", 0.0) == {"left": 1}
    answer(ready, "a", held[:1])
    assert ready.store.write_now(people.finish, "a", "CODE", 0.0)["code"] == "CODE"
    assert ready.store.write_now(people.finish, "a", "OTHER", 0.0)["code"] == "CODE"


def test_paused_and_full(make):
    ready = make(questions=SMALL["questions"], people="aim = 1\nlimit = 2")
    arrive(ready, "a")
    ready.store.write_now(researcher.set_state, "paused")
    assert arrive(ready, "b") == "paused"
    assert arrive(ready, "a") == "ok"  # who has started may finish
    ready.store.write_now(researcher.set_state, "open")
    assert [arrive(ready, token) for token in "bc"] == ["ok", "full"]


# ---------------------------------------------------------------- leaving and coming back


def test_who_comes_back_gets_as_many_questions_as_are_missing(ready):
    rng = np.random.default_rng(0)
    arrive(ready, "a", now=0.0)
    held = places(ready, "a")
    answer(ready, "a", held[:9], now=10.0)
    assert ready.store.write_now(drawing.release_idle, 500.0, rng) == 1
    assert places(ready, "a") == []
    arrive(ready, "a", now=9999.0)
    assert len(places(ready, "a")) == 15
    answer(ready, "a", places(ready, "a"), now=9999.0)
    assert ready.store.write_now(people.finish, "a", "CODE", 0.0)["left"] == 0
    check_invariants(ready)


def test_who_was_only_away_gets_the_same_questions_back(ready):
    """A laptop sleeps for an hour: its page still shows the old booklet."""
    arrive(ready, "a", now=0.0)
    held = places(ready, "a")
    answer(ready, "a", held[:5], now=10.0)
    ready.store.write_now(drawing.release_idle, 500.0, np.random.default_rng(0))
    answer(ready, "a", held[5:6], now=4000.0)
    assert places(ready, "a") == held[6:]
    answer(ready, "a", held[6:], now=4000.0)
    assert ready.store.write_now(people.finish, "a", "CODE", 0.0)["left"] == 0
    check_invariants(ready)


def test_an_answer_to_a_place_that_was_given_away_still_counts(ready):
    arrive(ready, "a", now=0.0)
    held = places(ready, "a")
    ready.store.write_now(drawing.release_idle, 500.0, np.random.default_rng(0))
    arrive(ready, "a", now=1000.0)  # in another tab: a new booklet
    answer(ready, "a", held[3:5], now=1001.0)  # from the old tab
    check_invariants(ready, late=True)
    assert len(ready.store.read_now(researcher.answer_rows)) == 2


# ---------------------------------------------------------------- the file


def test_a_second_process_is_refused(ready, tmp_path):
    from nearfar.ask.store import open_store

    with pytest.raises(FileError, match=r"study.db: another process is serving this study"):
        open_store(str(tmp_path / "study.db"))


def test_a_study_goes_on_after_a_restart_and_may_change_its_texts_only(tmp_path):
    ready = opened(tmp_path, **SMALL)
    arrive(ready, "a")
    held = places(ready, "a")
    password = ready.password
    ready.close()
    again = opened(tmp_path, top='language = "de"', **SMALL)
    assert places(again, "a") == held and password and again.password is None
    again.close()
    with pytest.raises(FileError, match="differs from the database"):
        opened(tmp_path, questions="each = 2")


def test_a_file_that_is_no_database_is_one_sentence(tmp_path):
    (tmp_path / "study.db").write_text("hello " * 1000)
    with pytest.raises(FileError, match=r"study.db: cannot be opened as a database, file is not a database"):
        opened(tmp_path, **SMALL)
    with pytest.raises(FileError, match=r"nowhere.*study.db: cannot be written"):
        opened(tmp_path, str(tmp_path / "nowhere" / "study.db"), **SMALL)


def test_a_full_disk_refuses_and_then_goes_on(ready):
    arrive(ready, "a")
    held = places(ready, "a")
    answer(ready, "a", held[:1])
    pages = ready.store.write_now(lambda tx: tx.rows("PRAGMA page_count")[0][0])
    ready.store.write_now(lambda tx: tx.rows(f"PRAGMA max_page_count = {pages}"))

    def many_arrive():
        for number in range(200):
            arrive(ready, f"t{number}")

    with pytest.raises(UnreachableError, match="cannot be used right now: database or disk is full"):
        many_arrive()
    before = len(ready.store.read_now(researcher.answer_rows))
    ready.store.write_now(lambda tx: tx.rows("PRAGMA max_page_count = 100000"))
    answer(ready, "a", held[1:3])
    assert len(ready.store.read_now(researcher.answer_rows)) == before + 2
    check_invariants(ready)


def test_one_bad_request_does_not_harm_the_others_of_its_commit(ready):
    def fail(tx):
        tx.run("UPDATE study SET state = 'broken'")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        ready.store.write_now(fail)
    assert ready.store.read_now(researcher.study_row)["state"] == "open"


# ---------------------------------------------------------------- locks


class Recorded(Transaction):
    """A transaction that keeps the order in which rows are locked: (table, id)."""

    def __init__(self, tx, locks):
        super().__init__(tx.cursor, tx.mark, tx.drawing or "SELECT 1")  # as where others write, too
        object.__setattr__(self, "locks", locks)

    def run(self, sql, *values):
        if sql.startswith("UPDATE participant"):
            self.locks.append(("participant", values[sql[: sql.index(" id = ?")].count("?")]))
        assert not sql.startswith("UPDATE question")
        return super().run(sql, *values)

    def run_many(self, sql, values):
        if sql.startswith("UPDATE question"):
            self.locks.extend(("question", row[-1]) for row in values)
        super().run_many(sql, values)

    def lock_drawing(self):
        self.locks.append(("drawing", 0))
        super().lock_drawing()


def test_locks_are_taken_in_one_order(ready):
    """Drawing, people, questions, each in the order of their ids: two transactions cannot wait for each other."""
    rng, locks = np.random.default_rng(0), []

    def recorded(tx, operation, *arguments):
        locks.append([])
        return operation(Recorded(tx, locks[-1]), *arguments)

    for token in ("a", "b", "c"):
        arrive(ready, token, now=0.0)
    held = places(ready, "b")
    sent = [Answer(str(uuid.uuid4()), place["place"], (1,), None, None, None) for place in held[::-1]]
    ready.store.write_now(recorded, drawing.release_idle, 500.0, rng)
    told = ready.store.write_now(recorded, people.save_answers, "b", sent, ready.plan, 600.0)
    assert len(told["saved"]) == len(held)
    check_invariants(ready)
    assert ready.store.write_now(recorded, researcher.erase, "pb", rng)
    check_invariants(ready)
    released, saved, erased = locks
    assert len([lock for lock in released if lock[0] == "participant"]) == 3
    order = {"drawing": 0, "participant": 1, "question": 2}
    for taken in (released, list(dict.fromkeys(saved)), erased):  # what is held already is not waited for
        assert ("drawing", 0) in taken and any(table == "question" for table, _ in taken)
        assert taken == sorted(taken, key=lambda lock: (order[lock[0]], lock[1]))
