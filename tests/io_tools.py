"""What the tests of reading and writing share: strategies, comparison, small files."""

import numpy as np
from hypothesis import strategies as st

from nearfar.io import read_answers
from nearfar.triplets import Triplets
from nearfar.triplets.ids import Ids

OPTIONAL = ("statement", "participant", "seconds", "near_side", "answered_at", "rule")

# Names that break careless readers: separators, quotes, line breaks, blanks at the ends, leading zeros, emoji.
AWKWARD = ["a,b", 'say "hi"', '"', "two\nlines", "a\r\nb", "cr\rx", " pad ", "007", "7", "🦆", "é", "#x", ";", "a\tb",
           "-1", "1.5", "x:y", "'", "=1+1", "null", "None", "\\N", "true", "{}", "a\\"]  # fmt: skip
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=5)
names = (st.sampled_from(AWKWARD) | text).filter(lambda name: name.strip() and name not in ("nan", "NaN"))
RULES = ["random", "Validation", "ARR", "7", "=1+1", "a,b", ""]
numbers = st.floats(allow_infinity=False, allow_nan=True, width=64)
times = st.none() | st.floats(0, 2e9)


def id_lists(size):
    """Ids as whole numbers, or as text that is not all whole numbers (in text files those are numbers)."""
    whole = st.lists(st.integers(-(10**17), 10**17) | st.integers(0, 3), min_size=size, max_size=size)
    words = st.lists(names | st.just(""), min_size=size, max_size=size)
    return whole | words.filter(lambda values: any(not _is_whole(value) for value in values))


def _is_whole(value):
    return value.removeprefix("-").isdigit() and value.isascii() and str(int(value)) == value


@st.composite
def triplets(draw, min_size=1, max_size=6, statements=True):
    objects = draw(st.lists(names, min_size=3, max_size=6, unique=True))
    m = draw(st.integers(min_size, max_size))
    rows = draw(st.lists(st.permutations(range(len(objects))).map(lambda p: p[:3]), min_size=m, max_size=m))
    ids = id_lists(m).filter(lambda values: "" not in values) if statements else st.none()
    columns = {
        "statement": draw(st.none() | ids),
        "participant": draw(st.none() | id_lists(m)),
        "seconds": draw(st.none() | st.lists(numbers, min_size=m, max_size=m)),
        "near_side": draw(st.none() | st.lists(st.sampled_from([-1, 0, 1]), min_size=m, max_size=m)),
        "answered_at": draw(st.none() | st.lists(times, min_size=m, max_size=m)),
        "rule": draw(st.none() | st.lists(st.sampled_from(RULES), min_size=m, max_size=m)),
    }
    array = np.array(rows, dtype=np.int32).reshape(-1, 3)
    return Triplets.from_array(array, objects, **columns)


def assert_same(one, two, *, columns=OPTIONAL, exact_types=False, objects=True):
    """The same answers, in the same order, about the same names, with the same columns."""
    if objects:
        assert one.objects == two.objects
    named = [[tuple(t.objects[i] for i in row) for row in t.array.tolist()] for t in (one, two)]
    assert named[0] == named[1]
    for role in columns:
        left, right = getattr(one, role), getattr(two, role)
        assert (left is None) == (right is None), role
        if isinstance(left, Ids):
            assert left.is_numeric == right.is_numeric or not exact_types, role
            assert list(map(str, np.asarray(left).tolist())) == list(map(str, np.asarray(right).tolist())), (
                role
            )
            if left.is_numeric:
                assert right.is_numeric, role
        elif left is not None:
            np.testing.assert_array_equal(left, right, err_msg=role)


def named(triplets):
    """The rows, by names."""
    return [tuple(triplets.objects[i] for i in row) for row in triplets.array.tolist()]


def read(tmp_path, text, name="answers.csv", **options):
    """What is read from a file that holds this text."""
    path = tmp_path / name
    path.write_text(text)
    return read_answers(path, **options)


def same_partition(codes, truth):
    """Whether rows have the same code exactly where they have the same truth."""
    codes = np.asarray(codes).tolist()
    return len(set(zip(codes, truth, strict=True))) == len(set(codes)) == len(set(truth))
