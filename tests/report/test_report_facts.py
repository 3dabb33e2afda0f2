"""What a report says: facts that follow from the answers, people under pseudonyms, sentences that match numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest
from report_tools import answers, small_report

from nearfar import Triplets, analyse, noise_ceiling
from nearfar.errors import InputError
from nearfar.evaluate.curve import Forecast, learning_curve
from nearfar.evaluate.participants import judge_people
from nearfar.report.collect import collect
from nearfar.report.curve_section import curve_facts
from nearfar.report.facts import LeftOut
from nearfar.report.judge_section import make_judge
from nearfar.report.kernel_section import show_space
from nearfar.report.make import make_report
from nearfar.report.people import participant_facts
from nearfar.report.pseudonyms import keep_key, key_beside, pseudonyms, real_names, shown_names
from nearfar.report.stability_section import make_certainty
from nearfar.report.verdict import make_verdict


def test_facts_are_plain_json():
    facts = small_report().facts
    read = json.loads(facts.to_json())
    assert read["answers"]["answers"] == 1500
    assert read["tree"]["k"] == facts.tree.k
    assert len(read["objects"]) == 12
    assert read["quality"]["participants"][0]["reasons"]


def test_counts_are_those_of_the_answers():
    given = Triplets.from_array(
        [[0, 1, 2], [0, 1, 2], [0, 2, 1], [1, 0, 2], [3, 0, 1]], statement=[0, 1, 2, 3, 3]
    )
    facts = make_report(given).facts
    found = facts.answers
    assert (found.questions, found.repeated, found.contradicted) == (3, 1, 1)
    assert (facts.answers.statements, facts.answers.unique, facts.answers.participants) == (4, 4, None)
    assert facts.quality.answers_per_object == (1, 4, 5)


def test_the_groups_behind_the_answers_are_found():
    facts = small_report().facts
    two = next(cut for cut in facts.tree.cuts if cut.k == 2)
    assert len({two.labels[x] for x in range(6)}) == 1
    assert two.labels[0] != two.labels[6]
    assert {near.object < 6 for near in facts.objects[0].neighbours[:4]} == {True}
    side = np.array(facts.maps[0].x)
    assert (side[:6].max() < side[6:].min()) or (side[:6].min() > side[6:].max())


def test_every_accuracy_comes_with_its_ceiling():
    judged = small_report().facts.judge
    given = answers()
    assert judged.ceiling == pytest.approx(noise_ceiling(given).bracket)
    assert judged.models[0] == max(judged.models, key=lambda model: model.accuracy)
    assert judged.best in [model.name for model in judged.models]
    assert judged.accuracy <= judged.models[0].accuracy + 0.01  # not flattered by choosing
    unknown = make_report(Triplets.from_array([[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1], [0, 2, 3]])).facts
    assert unknown.judge.ceiling is None


def test_the_page_says_where_nothing_was_repeated():
    facts = small_report().facts
    bare = replace(facts.judge, ceiling=None)
    told = make_verdict(facts.answers, bare, facts.quality, facts.curve)
    accuracy = next(part for part in told if part.topic == "Accuracy")
    assert "unknown" in accuracy.text


def test_a_model_like_guessing_is_called_so():
    rng = np.random.default_rng(3)
    rows = np.array([rng.permutation(8)[:3] for _ in range(60)])
    told = {part.topic: part for part in make_report(rows).facts.verdict}
    assert told["Accuracy"].level == "poor"
    assert "not clearly better than guessing" in told["Accuracy"].text


def verdict_of(facts, topic, **changes):
    judge = replace(facts.judge, **changes)
    told = make_verdict(facts.answers, judge, facts.quality, facts.curve)
    return next(part for part in told if part.topic == topic)


def test_the_page_says_whom_the_figures_are_about():
    facts = small_report().facts
    assert "within sets" not in verdict_of(facts, "Accuracy").text
    assert "for the same sets and people" in verdict_of(facts, "Accuracy", in_sets=True).text
    assert "chosen for being undecided" in verdict_of(facts, "Accuracy", chosen=True).text
    nobody = replace(facts, answers=replace(facts.answers, participants=None))
    ceiling = {"ceiling": (0.8, 0.9), "outer": (0.7, 0.95)}
    text = verdict_of(nobody, "Accuracy", few_people=0, error=0.01, **ceiling).text
    assert "Who answered is not known: the ± is for answers of the same people" in text
    assert "if ten people or more answered" in text
    known = verdict_of(facts, "Accuracy", few_people=0, error=0.01, **ceiling).text
    assert "Who answered" not in known and "if ten people" not in known


def test_a_curve_of_a_sample_does_not_speak_of_twice_all_answers():
    curve = learning_curve(answers(m=1500, people=20, careless=0), "score", cv=3)
    rising = replace(curve, gain=Forecast(3000, 0.03, 0.02, 0.04), early=False)
    whole, sample = curve_facts(rising, 1500), curve_facts(rising, 9000)
    assert "for the same people" not in whole.text
    assert "for the same people" in curve_facts(replace(rising, unknown_people=True), 1500).text
    assert whole.text.startswith("Twice as many answers would bring") and "still rising" in whole.text
    assert (
        sample.sampled
        and "is of a random 1,500 of the 9,000 answers: twice as many would bring" in sample.text
    )
    assert sample.text.endswith("What more answers than there are would bring is not forecast.")
    flat = curve_facts(replace(rising, gain=Forecast(3000, 0.001, -0.003, 0.005)), 9000)
    assert "levelled off" in flat.text
    facts = small_report().facts
    short = {
        name: next(
            part.short
            for part in make_verdict(facts.answers, facts.judge, facts.quality, found)
            if part.topic == "Enough?"
        )
        for name, found in (("whole", whole), ("sample", sample), ("flat", flat))
    }
    assert short == {
        "whole": "More answers would help",
        "sample": "Enough or not: unclear",
        "flat": "Enough answers",
    }


def test_what_the_plane_costs_and_how_a_sample_was_judged_are_said_of_the_same_answers():
    """A sample is judged: the accuracy of the chosen model comes from more answers than that of the planes."""
    analysis = analyse(answers(m=1500, people=20), models=["soe-2", "soe-3"], max_judged=500)
    scores, best = analysis.scores, analysis.best
    lost = 100 * (scores[best.name].accuracy - scores["soe-2"].accuracy)
    judge = make_judge(analysis)
    assert lost <= 0.5 or f"the plane costs {lost:.1f} points" in judge.map_why
    assert best.name != "soe-2" or "costs" not in judge.map_why
    paragraph = make_report(analysis).facts.methods
    assert (
        "In 4-fold cross-validation" in paragraph
        and "of answers that the model was not chosen by" in paragraph
    )
    assert "inside the training answers" not in paragraph


# ---------------------------------------------------------------- people


def test_the_careless_are_suggested_for_review_and_stay_in():
    report = small_report()
    people = report.facts.quality.participants
    flagged = [person for person in people if person.reasons]
    assert [report.people["worker-5"]] == [person.name for person in flagged]
    (careless,) = flagged
    (reason,) = careless.reasons
    assert "one-sided" in reason or "too fast" in reason
    assert careless.fast == 1 and careless.left > 0.8
    assert careless.low < careless.with_prediction < careless.high
    assert sum(person.answers for person in people) == report.facts.answers.answers == 1500


def test_participants_hide_behind_pseudonyms_unless_asked():
    text = small_report().facts.to_json() + small_report().html()
    assert "worker-" not in text
    open_report = make_report(answers(m=300), show_participants=True)
    assert "worker-3" in open_report.html()


def test_pseudonyms_stay_with_any_seed_and_any_exclusion(tmp_path):
    given = answers(m=600)
    key = key_beside(tmp_path / "report.html")
    keep_key(tmp_path / "report.html", key)
    assert key == key_beside(tmp_path / "report.html") == (tmp_path / "report.key").read_text().strip()
    assert (tmp_path / "report.key").stat().st_mode & 0o077 == 0
    everybody = make_report(given, key=key).people
    kept = given[~(given.participant == "worker-5")]
    excluded = make_report(kept, excluded={"worker-5": 100}, key=key, seed=7)
    assert excluded.people == everybody
    told = excluded.facts.answers.left_out[-1]
    assert (told.count, told.what) == (100, f"answers of {excluded.people['worker-5']}")
    assert make_report(given).people != everybody  # another key, other pseudonyms
    assert real_names([everybody["worker-2"], "worker-3", "nobody"], list(everybody), key) == [
        "worker-2",
        "worker-3",
        "nobody",
    ]


def test_pseudonyms_are_different_for_thousands():
    names = [f"w{i}" for i in range(5000)]
    shown = pseudonyms(names, "key")
    assert len(set(shown.values())) == 5000
    assert pseudonyms(names[::7], "other") != {name: shown[name] for name in names[::7]}


def test_shares_of_participants_match_a_plain_count():
    given = answers(m=400)
    credit = np.random.default_rng(0).choice([0.0, 0.5, 1.0], 400)
    people = judge_people(given, credit)
    assert people is not None
    rows = participant_facts(people, shown_names([str(n) for n in given.participant.names], key=None))
    assert len(rows) == 6
    for person in rows:
        own = np.asarray(given.participant == person.name)
        assert person.answers == own.sum()
        assert person.with_prediction == pytest.approx(credit[own].mean())
        assert person.left == pytest.approx((given.near_side[own] == 0).mean())
        assert person.median_seconds == pytest.approx(np.median(given.seconds[own]))
        assert person.fast == pytest.approx((given.seconds[own] < np.median(given.seconds) / 3).mean())


def test_nobody_is_suspected_without_evidence():
    found = make_report(answers(careless=0)).facts
    assert [person.reasons for person in found.quality.participants] == [()] * 6
    told = {part.topic: part.level for part in found.verdict}
    assert told["Participants"] == "good"


def test_answers_without_people_have_no_table_of_them():
    bare = answers(m=300).replace(participant=None, seconds=None, near_side=None)
    report = make_report(bare)
    assert report.facts.quality.participants is None
    assert "do not say who gave them" in report.html()


# ---------------------------------------------------------------- judge, tree, certainty


def test_a_sample_is_judged_where_there_are_many_answers_and_the_page_says_so():
    small = make_judge(analyse(answers(m=300)))
    assert (small.cv, small.answers, small.remark) == (5, 300, "")
    part = make_judge(analyse(answers(), max_judged=600))
    assert 500 < part.answers <= 600
    assert (
        part.remark
        == f"Compared on a random {part.answers:,} of the 1,500 answers, to keep the report quick."
    )


def test_tree_and_clusters_come_from_the_chosen_model_and_the_map_from_the_best_plane():
    analysis = analyse(answers())
    report = make_report(analysis)
    facts = report.facts
    assert facts.judge.best == analysis.best.name and facts.judge.map == analysis.plane_name
    heights = [join[2] for join in facts.tree.merges]
    np.testing.assert_allclose(heights, analysis.space.tree()[:, 2], atol=1e-9)
    assert facts.judge.accuracy == pytest.approx(analysis.best.accuracy)
    named = make_report(answers(), model="k1").facts
    assert named.judge.best == "k1" and "k1 was asked for" in named.judge.why


def shown(given, model, k=None, **options):
    analysis = analyse(given, model, models=[model])
    return analysis, show_space(analysis.shown_space, analysis.cluster_tree(k), **options)


def test_clusters_are_numbered_along_the_tree_and_k_can_be_asked_for():
    _, found = shown(answers(), "score", k=7)
    assert found.tree.k == 7
    assert "asked for" in found.tree.k_why
    for cut in found.tree.cuts:
        along = [cut.labels[x] for x in found.tree.leaves]
        assert list(dict.fromkeys(along)) == list(range(cut.k))
        assert [cut.labels[medoid] for medoid in cut.medoids] == list(range(cut.k))


@pytest.mark.parametrize("model", ["k1", "soe-3"])
def test_the_matrix_is_the_kernel_in_the_order_of_the_tree(model):
    analysis, whole = shown(answers(), model)
    K, order = analysis.space.kernel(), list(whole.tree.leaves)
    np.testing.assert_allclose(whole.matrix.values, K[np.ix_(order, order)], atol=6e-4)
    _, folded = shown(answers(), model, most_cells=5)
    assert folded.matrix.block == 3
    np.testing.assert_allclose(folded.matrix.values[0][1], K[np.ix_(order[:3], order[3:6])].mean(), atol=6e-4)


def test_resampling_finds_the_gap_sure_and_random_answers_unsure():
    def sure_of(given, k):
        analysis, found = shown(given, "score", k)
        return make_certainty(analysis, make_judge(analysis), found.tree)

    rng = np.random.default_rng(0)
    noise = Triplets.from_array(np.array([rng.permutation(12)[:3] for _ in range(200)]))
    sure, unsure = sure_of(answers(careless=0), 2), sure_of(noise, 4)
    assert sure.kept[2].min() > 0.9 and sure.summary.resamples == 30
    assert np.median(unsure.spread) > 2 * np.median(sure.spread)
    assert unsure.kept[4].mean() < sure.kept[2].mean()
    assert "Clusters of answers given at random are kept in" in sure.summary.remark
    assert "holds where it would lie with many more answers, for 9 in 10 objects" in sure.summary.remark


def test_objects_with_too_few_statements_come_first():
    given = answers(careless=0)
    about = (given.array == 3).any(axis=1)
    rare = given[np.flatnonzero(~about | (np.cumsum(about) <= 15))]
    analysis = analyse(rare, "score", models=["score"], n_resamples=4)
    tree = show_space(analysis.shown_space, analysis.cluster_tree(2)).tree
    found = make_certainty(analysis, make_judge(analysis), tree)
    assert found.summary.remark.startswith(
        f"Fewer than 20 statements, too few to say where they are: {rare.objects[3]}. "
    )
    assert np.isnan(found.spread[3]) and np.isfinite(np.delete(found.spread, 3)).all()
    assert np.isnan(found.circle[3]) and (np.delete(found.circle, 3) > np.delete(found.spread, 3)).all()


def test_more_objects_than_a_page_can_show_are_sampled_and_the_page_says_so():
    report = make_report(analyse(answers(), max_shown=8))
    assert len(report.facts.objects) == 8
    assert "8 of the 12 objects" in report.facts.sampled
    assert report.facts.sampled in report.html()
    assert report.facts.answers.objects == 12


def test_double_submits_are_counted_and_kept():
    rows = [[0, 1, 2], [0, 1, 2], [1, 2, 0], [2, 1, 0], [3, 0, 1]]
    given = Triplets.from_array(rows, participant=["a"] * 5, answered_at=[1, 1.2, 5, 9, 12])
    report = make_report(given)
    assert report.facts.quality.double_submits == 1
    assert "1 answer was sent again" in report.html()
    assert report.facts.answers.answers == 5


def test_a_rerun_says_the_same():
    given = answers(m=500)
    first, again = (make_report(given, key="k").facts.to_dict() for _ in range(2))
    for facts in (first, again):
        for model in facts["judge"]["models"]:
            del model["seconds"]
    assert first == again


# ---------------------------------------------------------------- little data


def test_objects_without_answers_are_listed_apart():
    rows = np.array([np.random.default_rng(s).permutation(6)[:3] for s in range(80)])
    report = make_report(Triplets.from_array(rows, n_objects=8))
    assert report.facts.quality.uninformed == (6, 7)
    assert {6, 7}.isdisjoint(report.facts.tree.members)
    assert report.facts.maps[0].x[6] is None
    assert {part.topic: part.level for part in report.facts.verdict}["Enough?"] == "poor"


@pytest.mark.parametrize(
    "rows",
    [[[0, 1, 2]], [[0, 1, 2], [1, 2, 0], [2, 0, 1]], [[0, 1, 2]] * 40 + [[3, 0, 1]] * 5],
    ids=["one answer", "one trio", "two trios"],
)
def test_hardly_any_answers_still_make_a_page(rows):
    report = make_report(rows)
    assert "</html>" in report.html()
    assert report.facts.verdict


def test_no_answers_are_refused():
    with pytest.raises(InputError, match="a report needs at least one answer and three objects"):
        collect(analyse(Triplets.from_array(np.zeros((0, 3), int), n_objects=5)))


def test_what_was_left_out_stands_in_the_verdict():
    found = collect(analyse(answers(m=300)), left_out=[LeftOut("rows", 3, "near and far are the same")]).facts
    told = next(part for part in found.verdict if part.topic == "Left out")
    assert "3 rows: near and far are the same" in told.text
    assert "near and far are the same" in found.methods


def test_an_analysis_shows_itself_in_a_notebook():
    given = answers(m=400).replace(objects=tuple(f"<b>{x}</b>" for x in range(12)))
    analysis = analyse(given)
    html = analysis._repr_html_()
    assert analysis.best.name in html and "(chosen)" in html and html.count("<circle") == 12
    assert "&lt;b&gt;3&lt;/b&gt;" in html and "<b>3</b>" not in html
    assert "too few different questions" in analyse([[0, 1, 2]])._repr_html_()


def test_an_analysis_writes_its_report(tmp_path):
    analysis = analyse(answers(m=400))
    report = analysis.report(tmp_path / "page.html", title="A study")
    assert "A study" in (tmp_path / "page.html").read_text() and (tmp_path / "page.key").exists()
    assert report.facts.judge.best == analysis.best.name


@pytest.mark.parametrize(("left", "flagged"), [(0.5, False), (0.6, False), (0.75, True), (0.25, True)])
def test_a_side_is_a_reason_only_far_from_what_is_usual(left, flagged):
    m, people = 400, 8
    who = np.repeat(np.arange(people), m)
    share = np.where(who == 0, left, 0.5)
    side = (np.tile(np.arange(m), people) >= np.round(share * m)).astype(int)
    rows = np.random.default_rng(0).permuted(np.tile(np.arange(9), (m * people, 1)), axis=1)[:, :3]
    given = Triplets.from_array(rows, participant=[f"p{code}" for code in who], near_side=side)
    people_found = judge_people(given)
    assert people_found is not None
    rows_shown = participant_facts(people_found, {f"p{code}": f"p{code}" for code in range(people)})
    reasons = {row.name: row.reasons for row in rows_shown if row.reasons}
    side_name = "left" if left > 0.5 else "right"
    assert reasons == ({"p0": (f"one-sided: chose the {side_name} side in 75\xa0%",)} if flagged else {})


def test_a_side_that_never_varies_is_none():
    given = Triplets.from_array([[0, 1, 2], [1, 2, 0]] * 50, participant=["ann"] * 100, near_side=[0] * 100)
    people = judge_people(given)
    assert people is not None
    (row,) = participant_facts(people, {"ann": "ann"})
    assert (row.left, row.sided, row.reasons) == (None, 0, ())


def test_numbers_of_repeated_questions_do_not_contradict_each_other():
    """A question that one person answered twice was answered more than once, but tells nothing about two people."""
    given = answers(people=12)
    rows = np.unique(given.question_ids, return_counts=True)
    alone = np.isin(given.question_ids, rows[0][rows[1] == 1]) & (np.asarray(given.participant) == "worker-0")
    own = given[np.flatnonzero(alone)[:3]]
    facts = make_report(Triplets.concatenate([given, own, own])).facts
    assert facts.answers.repeated > facts.judge.repeated
    words = f"{facts.judge.repeated:,} questions that several people answered"
    accuracy = next(part for part in facts.verdict if part.topic == "Accuracy")
    assert words in accuracy.text.replace("\u202f", ",")
    assert words in facts.methods.replace("\u202f", ",")
    assert "repeated question" not in " ".join([facts.methods, *(part.text for part in facts.verdict)])
