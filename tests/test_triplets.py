"""The noun: building, selecting, ids, unique triplets, joins, and what it refuses."""

import pickle
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_tools import same_partition

from nearfar import FeatureMap, read_triplets
from nearfar.design import near_questions
from nearfar.errors import FileError, InputError, RowsError, TooLargeError, TripletError
from nearfar.triplets import Triplets, as_triplets
from nearfar.triplets.columns import pack_ids
from nearfar.triplets.ids import Ids, order_names

NAMES = ["red", "pink", "blue", "green"]


def small(**columns):
    return Triplets([0, 1, 2], [1, 2, 3], [2, 0, 0], NAMES, **columns)


@st.composite
def collections(draw, max_objects=6, max_answers=12):
    n = draw(st.integers(3, max_objects))
    rows = draw(st.lists(st.permutations(range(n)).map(lambda p: p[:3]), max_size=max_answers))
    return Triplets.from_array(np.array(rows).reshape(-1, 3), n_objects=n)


# ---------------------------------------------------------------- building


def test_holds_what_it_was_given():
    answers = small(statement=[5, 5, 9], participant=["ann", "bob", "ann"], seconds=[1, None, 2.5])
    assert answers.array.tolist() == [[0, 1, 2], [1, 2, 0], [2, 3, 0]]
    assert answers.array.dtype == np.int32
    assert answers.objects == tuple(NAMES)
    assert np.asarray(answers.statement).tolist() == [5, 5, 9]
    assert (answers.participant == "ann").tolist() == [True, False, True]
    np.testing.assert_array_equal(answers.seconds, [1, np.nan, 2.5])
    assert answers.near_side is None
    assert repr(answers) == "Triplets(3 answers, 4 objects, 2 participants)"


def test_sides_by_word_or_number():
    assert small(near_side=["left", "right", ""]).near_side.tolist() == [0, 1, -1]
    assert small(near_side=["left", None, "1"]).near_side.tolist() == [0, -1, 1]
    assert small(near_side=np.array([1, 0, -1])).near_side.tolist() == [1, 0, -1]


def test_from_array_counts_objects_up_to_the_largest_index():
    assert Triplets.from_array([[0, 5, 2]]).n_objects == 6
    assert Triplets.from_array([[0, 5, 2]], n_objects=9).n_objects == 9
    assert Triplets.from_array([]).n_objects == 0
    assert len(Triplets.from_array(np.zeros((0, 3)))) == 0


def test_more_objects_than_memory_has_names_for_are_refused():
    makers = (Triplets.from_array, Triplets.from_odd_one_out, Triplets.from_most_central)
    for make in (
        *(partial(way, [[0, 1, 2]], n_objects=10**30) for way in makers),
        partial(near_questions, 10**30, 5),
    ):
        with pytest.raises(TooLargeError, match="objects need"):
            make()
    with pytest.raises(InputError, match="n_objects"):
        Triplets.from_array([[0, 1, 2]], n_objects=-1)


def test_odd_one_out_gives_two_triplets_of_one_statement():
    answers = Triplets.from_odd_one_out([[3, 1, 2], [0, 1, 3]], NAMES, participant=["ann", "bob"])
    assert answers.array.tolist() == [[3, 1, 2], [1, 3, 2], [0, 1, 3], [1, 0, 3]]
    assert np.asarray(answers.statement).tolist() == [0, 0, 1, 1]
    assert np.asarray(answers.participant).tolist() == ["ann", "ann", "bob", "bob"]


def test_most_central_gives_two_triplets_of_one_statement():
    answers = Triplets.from_most_central([[3, 1, 2]], NAMES, statement=None, seconds=[4.0])
    assert answers.array.tolist() == [[1, 3, 2], [2, 3, 1]]
    assert np.asarray(answers.statement).tolist() == [0, 0]
    assert answers.seconds.tolist() == [4.0, 4.0]


@pytest.mark.filterwarnings("ignore:.*have no participant")
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_from_frame_of_any_library(library):
    frame = library(
        {
            "anchor": ["10", "9"],
            "near": ["9", "7"],
            "far": ["7", "10"],
            "statement": [4, None],
            "participant": ["ann", None],
            "seconds": [0.5, None],
            "near_side": ["right", None],
        }
    )
    answers = read_triplets(frame)
    assert answers.objects == ("7", "9", "10")
    assert answers.array.tolist() == [[2, 1, 0], [1, 0, 2]]
    assert np.asarray(answers.statement).tolist() == [4, 5]
    assert np.asarray(answers.participant).tolist() == ["ann", ""]
    np.testing.assert_array_equal(answers.seconds, [0.5, np.nan])
    assert answers.near_side.tolist() == [1, -1]


def test_from_frame_reads_numbers_as_names():
    frame = pd.DataFrame({"anchor": [1.0, 2.0], "near": [2, 3], "far": [3, 1], "statement": ["x", None]})
    answers = read_triplets(frame)
    assert answers.objects == ("1", "2", "3")
    assert np.asarray(answers.statement).tolist() == ["x", "row 1"]


def test_a_frame_names_the_blank_cell_and_the_missing_column():
    with pytest.raises(RowsError, match=r"row 1: NaN: near 'NaN'; expected the name of an object"):
        as_triplets(pd.DataFrame({"anchor": [1, 2], "near": [2, np.nan], "far": [3, 1]}))
    with pytest.raises(FileError, match=r"the columns 'anchor' and 'near' are not known"):
        as_triplets(pl.DataFrame({"anchor": ["a"], "near": ["b"]}))


@pytest.mark.parametrize(
    "convert", [lambda frame: frame, lambda frame: frame.to_pandas(), lambda frame: frame.to_arrow()]
)
def test_a_frame_goes_one_way_wherever_it_is_given(convert):
    """``to_frame`` and back; an unanswered object stays where the frame can list it."""
    answers = Triplets([0, 1], [1, 2], [2, 0], ["red", "pink", "blue"], participant=[7, 8], near_side=[0, 1])
    frame = convert(answers.to_frame())
    for back in (read_triplets(frame), as_triplets(frame)):
        assert sorted(back.objects) == sorted(answers.objects)
        named = [[each.objects[i] for i in row] for each in (back, answers) for row in each.array.tolist()]
        assert named[:2] == named[2:]
        assert np.asarray(back.participant).tolist() == [7, 8]
        assert back.near_side.tolist() == [0, 1]
    assert FeatureMap("score").fit(frame).objects_ == read_triplets(frame).objects


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [[0, 1, 2**31]],
            r"the largest index is 2,147,483,648, but there is only 1 answer; .*, or n_objects",
        ),
        ([[0, 1, np.nan]], r"far, answer 0: nan is not a valid index"),
        ([["a", "b", "c"]], r"'a'.* is not a valid index; .*for names give a data frame"),
        ([[0, 1], [0, 1, 2]], r"triplets: expected an \(m, 3\) array of indices"),
        (
            np.array([[0, 1, 2], [0, 1, "x"]], object),
            r"triplets, answer 1: 'x' is not a valid index; .*for names",
        ),
        (np.array([["2020-01-01"] * 3], "M8[D]"), r"anchor, answer 0: .* is not a valid index"),
    ],
)
def test_arrays_that_are_no_indices(rows, message):
    with pytest.raises(TripletError, match=message):
        Triplets.from_array(rows)


def test_the_gate_takes_both():
    answers = small()
    assert as_triplets(answers) is answers
    assert as_triplets([[0, 1, 2]]).objects == ("0", "1", "2")
    assert as_triplets(np.array([[0, 1, 2]], dtype=object)).array.tolist() == [[0, 1, 2]]


# ---------------------------------------------------------------- refusing


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0, 1, 1], r"answer 0: anchor, near and far are \('red', 'pink', 'pink'\); .*three distinct"),
        ([0, 1, 4], r"far, answer 0: index 4 is outside 0\.\.3 \(4 objects are named\)"),
        ([0, -1, 2], r"near, answer 0: index -1 is outside 0\.\.3"),
        ([0.5, 1, 2], r"anchor, answer 0: 0\.5 is not a valid index; expected a whole number from 0 to 3"),
        ([np.nan, 1, 2], r"anchor, answer 0: nan is not a valid index"),
        (["red", "pink", "blue"], r"anchor, answer 0: .*'red'.* is not a valid index"),
    ],
)
def test_refuses_what_is_no_triplet(row, message):
    with pytest.raises(TripletError, match=message):
        Triplets([row[0]], [row[1]], [row[2]], NAMES)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: small(participant=["ann"]), r"participant has 1 values for 3 answers"),
        (lambda: small(seconds=["a", "b", "c"]), r"seconds: .*expected one number per answer"),
        (lambda: small(near_side=["left", "top", "right"]), r"near_side, answer 1: .*'top'.* is not a side"),
        (lambda: small(near_side=[0, 1, 7]), r"near_side, answer 2: .*7.* is not a side"),
        (lambda: small(statement=[[1], [2], [3]]), r"ids: expected one value per answer"),
        (lambda: Triplets([[0]], [1], [2], NAMES), r"anchor: expected one index per answer, got .*\(1, 1\)"),
        (lambda: Triplets.from_array([[0, 1]]), r"expected an \(m, 3\) array of indices, got shape \(1, 2\)"),
        (lambda: Triplets([0], [1], [2], ["a", "b", "a"]), r"objects: 'a' is listed twice"),
        (lambda: Triplets([0], [1], [2], ["a", "  ", "c"]), r"the name of object 1 is '  '"),
        (lambda: Ids.from_codes([0, 2], ["a", "b"]), r"codes run from 0 to 2, but there are 2 names"),
    ],
)
def test_refuses_columns_and_names_that_do_not_fit(make, message):
    with pytest.raises(TripletError, match=message):
        make()


def test_is_frozen():
    indices = np.array([0, 1, 2], dtype=np.int32)
    who = np.array([0, 0, 1], dtype=np.int32)
    seconds = np.ones(3)
    answers = Triplets(indices, [1, 2, 3], [2, 0, 0], NAMES, participant=Ids.from_codes(who, ["a", "b"]),
                       seconds=seconds)  # fmt: skip
    indices[:], who[:], seconds[:] = 3, 1, 9
    assert answers.anchor.tolist() == [0, 1, 2]
    assert answers.participant.codes.tolist() == [0, 0, 1]
    assert answers.seconds.tolist() == [1, 1, 1]
    columns = (answers.anchor, answers.seconds, answers.participant.codes, answers[1:].near, answers[[0]].far)
    for column in columns:
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    with pytest.raises(AttributeError, match="cannot assign"):
        answers.anchor = indices


# ---------------------------------------------------------------- selecting


def test_selects_by_mask_slice_and_number_and_keeps_objects():
    answers = small(participant=["ann", "bob", "ann"], statement=[7, 8, 9])
    chosen = answers[answers.participant == "ann"]
    assert chosen.array.tolist() == [[0, 1, 2], [2, 3, 0]]
    assert chosen.objects == tuple(NAMES)
    assert np.asarray(chosen.statement).tolist() == [7, 9]
    assert answers[-1].array.tolist() == [[2, 3, 0]]
    assert answers[1:].array.tolist() == answers[[1, 2]].array.tolist()
    assert [len(one) for one in answers] == [1, 1, 1]
    with pytest.raises(IndexError, match="answer 3 of 3"):
        answers[3]


def test_replaces_a_column_and_survives_pickling():
    answers = small(participant=["ann", "bob", "ann"])
    assert answers.replace(participant=None) == small()
    assert answers.replace(seconds=[1, 2, 3]) == small(participant=["ann", "bob", "ann"], seconds=[1, 2, 3])
    assert pickle.loads(pickle.dumps(answers)) == answers


def test_equal_by_value():
    known = {"participant": ["b", "a", "b"], "seconds": [1, np.nan, 2], "near_side": [0, 1, -1]}
    answers = small(**known)
    again = small(**known | {"participant": Ids.from_codes([0, 1, 0], ["b", "a"])})
    assert answers == again and hash(answers) == hash(again) and answers == answers[[0, 1, 2]]
    others = [
        small(),
        small(**known | {"participant": ["b", "a", "c"]}),
        small(**known | {"participant": [1, 2, 1]}),
        small(**known | {"seconds": [1, 3, 2]}),
        answers[:2],
        answers[[1, 0, 2]],
        answers.replace(objects=["red", "pink", "blue", "teal"]),
    ]
    assert [other == answers for other in others] == [False] * len(others)
    assert answers != "answers"


def test_a_notebook_shows_the_first_answers_harmlessly():
    names = ["<script>", *map(str, range(19))]
    page = Triplets([0] * 19, range(1, 20), [2, *range(1, 19)], names, seconds=[np.nan] * 19)._repr_html_()
    assert page.count("<tr>") == 12 and "Triplets(19 answers, 20 objects)" in page
    assert "&lt;script&gt;" in page and "<script" not in page


# ---------------------------------------------------------------- ids


@given(collections())
def test_ids_agree_exactly_where_the_things_do(answers):
    rows = answers.array.tolist()
    questions = [(a, frozenset((i, j))) for a, i, j in rows]
    trios = [frozenset(row) for row in rows]
    for ids, things in (
        (answers.question_ids, questions),
        (answers.trio_ids, trios),
        (answers.triplet_ids, [tuple(row) for row in rows]),
    ):
        assert len(set(zip(ids.tolist(), things, strict=True))) == len(set(ids.tolist())) == len(set(things))


@given(collections())
def test_unique_counts_every_answer(answers):
    distinct, counts = answers.unique()
    assert dict(zip(map(tuple, distinct.array.tolist()), counts.tolist(), strict=True)) == Counter(
        map(tuple, answers.array.tolist())
    )
    assert distinct.array.tolist() == sorted(distinct.array.tolist())
    assert distinct.objects == answers.objects


def test_a_row_is_its_own_statement_unless_said():
    assert small().statement_ids.tolist() == [0, 1, 2]
    assert small(statement=["x", "y", "x"]).statement_ids.tolist() == [0, 1, 0]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["ann", "bob", ""])), min_size=1, max_size=12),
    st.data(),
)
def test_a_statement_belongs_to_one_participant(said, data):
    statement, people = zip(*said, strict=True)
    answers = Triplets.from_array([[0, 1, 2]] * len(said), statement=statement, participant=people)
    codes = answers.statement_ids.tolist()
    assert same_partition(codes, said)
    assert max(codes) < len(said) * 3 and min(codes) >= 0
    assert np.asarray(answers.statement).tolist() == list(
        statement
    )  # as given, so that it is written as it came
    keep = data.draw(st.lists(st.integers(0, len(said) - 1), min_size=1))
    assert same_partition(answers[np.array(keep)].statement_ids.tolist(), [said[row] for row in keep])
    for changed in (None, ["all"] * len(said)):
        assert same_partition(answers.replace(participant=changed).statement_ids, said)
    if len(set(said)) == len(set(statement)):
        assert codes == answers.statement.codes.tolist()
    joined = Triplets.concatenate([answers, answers])
    assert same_partition(joined.statement_ids.tolist(), [(k, *one) for k in (0, 1) for one in said])


def test_ids_need_few_enough_objects():
    n = 2_097_151
    assert n**3 < 2**63 <= (n + 1) ** 3
    last = np.array([n - 1], dtype=np.int32)
    assert pack_ids(last, last, last, n).tolist() == [n**3 - 1]
    with pytest.raises(
        TripletError, match=r"2,097,152 objects: ids of questions and trios need at most 2,097,151"
    ):
        pack_ids(last, last, last, n + 1)


# ---------------------------------------------------------------- ids


def test_names_in_their_natural_order():
    assert order_names(["10", "9", "9"]) == ["9", "10"]
    assert order_names(["010", "10", "9"]) == ["9", "010", "10"]
    assert order_names(["b", "10", "9"]) == ["10", "9", "b"]
    assert order_names([]) == []
    assert order_names(["8" * 5000, "00", "9", "7" * 5000]) == ["00", "9", "7" * 5000, "8" * 5000]


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)))
def test_numbers_are_encoded_as_numpy_would(values):
    ids = Ids.encode(np.array(values, dtype=np.int64))
    names, codes = np.unique(np.array(values, dtype=np.int64), return_inverse=True)
    assert ids.names.tolist() == names.tolist()
    assert ids.codes.tolist() == codes.tolist()
    assert ids.is_numeric


@given(st.lists(st.text(max_size=4)))
def test_text_is_kept_to_the_letter(values):
    ids = Ids.encode(values)
    assert np.asarray(ids).tolist() == values
    assert len(set(ids.names.tolist())) == len(ids.names)


def test_ids_know_blanks_numbers_and_text():
    assert np.asarray(Ids.encode([1, None, 2])).tolist() == ["1", "", "2"]
    assert np.asarray(Ids.encode([1.5, np.nan])).tolist() == ["1.5", ""]
    assert np.asarray(Ids.encode(np.array([2**63], dtype=np.uint64))).tolist() == [str(2**63)]
    numbers, text = Ids.encode([7, 8]), Ids.encode(["7", "x"])
    for ids in (numbers, text):
        assert (ids == 7).tolist() == (ids == "7").tolist() == [True, False]
        assert not (ids == "nobody").any()
    assert numbers[1:].present.tolist() == [1]
    assert Ids.encode(numbers) is numbers
    assert repr(text) == "Ids(2 answers, 2 names)"


# ---------------------------------------------------------------- joining


def test_join_matches_objects_and_participants_by_name():
    one = Triplets([0], [1], [2], ["b", "a", "c"], participant=["ann"])
    two = Triplets([0], [1], [2], ["a", "d", "b"], participant=["bob"], seconds=[2.0])
    joined = Triplets.concatenate([one, two, one])
    assert joined.objects == ("a", "b", "c", "d")
    assert joined.array.tolist() == [[1, 0, 2], [0, 3, 1], [1, 0, 2]]
    assert np.asarray(joined.participant).tolist() == ["ann", "bob", "ann"]
    np.testing.assert_array_equal(joined.seconds, [np.nan, 2.0, np.nan])


def test_join_keeps_a_common_object_list_as_it_is():
    one = Triplets([0], [1], [2], ["b", "a", "c"])
    assert Triplets.concatenate([one, one]).objects == ("b", "a", "c")
    assert Triplets.concatenate([one]) is one
    assert len(Triplets.concatenate([])) == 0


def test_join_of_known_and_unknown_participants():
    with_people = Triplets.from_array([[0, 1, 2]], participant=[7])
    without = Triplets.from_array([[0, 1, 2]])
    assert np.asarray(Triplets.concatenate([with_people, without]).participant).tolist() == ["7", ""]
    assert np.asarray(Triplets.concatenate([with_people, with_people]).participant).tolist() == [7, 7]


statement_ids = st.one_of(
    st.none(),
    st.lists(st.integers(-3, 9) | st.just(2**63 - 1), min_size=2, max_size=2),
    st.lists(st.sampled_from(["a", "2:a", "3:a", "b"]), min_size=2, max_size=2),
)


@given(st.lists(statement_ids, min_size=1, max_size=4))
def test_join_keeps_statements_apart_and_together(ids):
    parts = [Triplets.from_array([[0, 1, 2], [0, 2, 1]], statement=own) for own in ids]
    joined = Triplets.concatenate(parts)
    if all(own is None for own in ids):
        assert joined.statement is None
        return
    truth = [(k, row if own is None else own[row]) for k, own in enumerate(ids) for row in (0, 1)]
    got = np.asarray(joined.statement).tolist()
    assert len(set(zip(truth, got, strict=True))) == len(set(truth)) == len(set(got))
    if ids[0] is not None and (joined.statement.is_numeric or len(ids) == 1):
        assert [str(v) for v in got[:2]] == [str(v) for v in ids[0]]
    if all(own is None or all(isinstance(v, int) and v < 100 for v in own) for own in ids):
        assert joined.statement.is_numeric


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int8, np.float64])
def test_every_dtype_of_indices_is_welcome(dtype):
    assert Triplets.from_array(np.array([[0, 1, 2], [3, 0, 1]], dtype=dtype)).n_objects == 4
    assert Triplets.from_array(np.zeros((0, 3), dtype=dtype)).n_objects == 0
