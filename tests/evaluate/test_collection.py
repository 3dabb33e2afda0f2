"""Facts about a collection of answers, by naive counting."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nearfar.evaluate.collection import double_submits, summarise
from nearfar.io import read_answers
from nearfar.triplets import Triplets

rows = st.lists(st.permutations(range(5)).map(lambda p: tuple(p[:3])), min_size=1, max_size=25)


@given(rows, st.data())
@settings(max_examples=50)
def test_facts_by_naive_counting(answers, data):
    people = data.draw(st.lists(st.sampled_from("xyz"), min_size=len(answers), max_size=len(answers)))
    triplets = Triplets.from_array(answers, list("abcdef"), participant=people)
    facts = summarise(read_answers(triplets_frame(triplets), objects=list("abcdef")))
    questions = [(a, frozenset((i, j))) for a, i, j in answers]
    both = {(a, frozenset((i, j))) for a, i, j in answers if (a, j, i) in answers}
    assert facts["answers"] == len(answers)
    assert facts["unique"] == len(set(answers))
    assert facts["contradicting_pairs"] == len(both)
    assert facts["contradicting_answers"] == sum(question in both for question in questions)
    assert facts["repeated_questions"] == sum(questions.count(question) > 1 for question in set(questions))
    assert facts["repeated_answers"] == sum(questions.count(question) > 1 for question in questions)
    mine = list(zip(people, questions, strict=True))
    assert facts["repeated_within"] == sum(mine.count(pair) > 1 for pair in set(mine))
    assert facts["participants"] == len(set(people))
    assert facts["statements"] is None
    seen = {i for row in answers for i in row}
    assert facts["unanswered"] == [name for i, name in enumerate("abcdef") if i not in seen]


def triplets_frame(triplets):
    import polars as pl

    named = {
        role: [triplets.objects[i] for i in getattr(triplets, role)] for role in ("anchor", "near", "far")
    }
    return pl.DataFrame(named | {"participant": np.asarray(triplets.participant).tolist()})


def test_facts_about_what_was_no_answer(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(
        "worker_id,rt,Center,Left,Right,Answer,sampleAlg\n"
        "w,1,a,b,c,b,random\nw,1,a,a,c,a,check\nw,1,a,c,a,c,check\nw,1,a,b,c,,random\n"
        "w,1,a,b,c,d,random\nw,1,a,b,c,e,random\nw,1,a,,c,c,random\n"
    )
    facts = summarise(read_answers(path, on_bad="drop"))
    assert [tuple(a.values()) for a in facts["set_aside"]] == [
        ("check", 2, 1, 1),
        ("no answer", 1, 0, 0),
    ]
    assert [(r["reason"], r["count"]) for r in facts["rejected"]] == [
        ("not a choice", 2),
        ("blank cell", 1),
    ]
    assert (
        facts["rejected"][0]["examples"][0] == f"{path}, line 6: Center 'a', Left 'b', Right 'c', Answer 'd'"
    )


def test_the_food_answers(shared_data):
    facts = summarise(read_answers(shared_data / "food" / "triplets.npz"))
    assert (facts["answers"], facts["unique"], facts["contradicting_pairs"]) == (250_320, 190_376, 9_349)
    assert (facts["statements"], facts["participants"], facts["unanswered"]) == (15_320, 243, [])


def test_the_same_answer_within_half_a_second_was_sent_twice():
    answers = Triplets.from_array(
        [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]],
        participant=["ann", "ann", "ann", "bob"],
        answered_at=[100.0, 100.2, 150, 100.1],
    )
    assert double_submits(answers).tolist() == [False, True, False, False]


def test_answers_that_arrive_together_are_told_apart_by_their_response_times():
    together = {"participant": ["ann"] * 3, "answered_at": [100.0] * 3}
    answers = Triplets.from_array([[0, 1, 2]] * 3, seconds=[1.25, 2.5, 1.25], **together)
    assert double_submits(answers).tolist() == [False, False, True]
