"""What a report says: data that follow from the answers, people under pseudonyms, sentences that match numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest
from report_tools import answers, small_report

from nearfar import Triplets, analyse, learning_curve, words
from nearfar._tools.pseudonyms import keep_key, key_beside, pseudonyms, real_names
from nearfar.errors import InputError
from nearfar.evaluate.bootstrap import Estimate, Scope
from nearfar.evaluate.participants import judge_people
from nearfar.evaluate.subgroups import Subgroups
from nearfar.report.content import matrix
from nearfar.report.make import make_report
from nearfar.words.finding import whose


def test_data_are_plain_json():
    report = small_report()
    read = json.loads(report.json())
    assert read == report.data
    assert read["collection"]["answers"] == 1500
    assert len(read["objects"]) == 12
    assert read["participants"]["rows"][0]["reason"]


def test_counts_are_those_of_the_answers():
    given = Triplets.from_array(
        [[0, 1, 2], [0, 1, 2], [0, 2, 1], [1, 0, 2], [3, 0, 1]], statement=[0, 1, 2, 3, 3]
    )
    collection = make_report(given).data["collection"]
    assert (collection["questions"], collection["repeated"], collection["contradicted"]) == (3, 1, 1)
    assert (collection["statements"], collection["triplets"], collection["participants"]) == (4, 4, None)


def test_the_clusters_behind_the_answers_are_found():
    data = small_report().data
    two = next(cut for cut in data["tree"]["cuts"] if cut["n_clusters"] == 2)
    assert len({two["labels"][x] for x in range(6)}) == 1
    assert two["labels"][0] != two["labels"][6]
    assert f"with {data['tree']['n_clusters']} clusters and random answers" in data["tree"]["kept_by_chance"]
    assert {near["object"] < 6 for near in data["objects"][0]["neighbours"][:4]} == {True}
    side = np.array(data["maps"][0]["x"])
    assert (side[:6].max() < side[6:].min()) or (side[:6].min() > side[6:].max())


def test_every_accuracy_comes_with_its_ceiling():
    judged = small_report().data["models"]
    possible = judged["ceiling"]["best_possible"]
    assert possible["low"] <= possible["value"] <= possible["high"] and judged["accuracy"] < possible["high"]
    assert judged["scores"][0] == min(judged["scores"], key=lambda model: model["behind"])
    assert judged["best"] in [model["name"] for model in judged["scores"]]
    assert judged["accuracy"] <= judged["scores"][0]["accuracy"] + 0.01  # not flattered by choosing


def test_the_page_says_whom_the_figures_are_about():
    assert whose(Scope("new", "new", 20)) == "new participants' answers to new questions"
    assert "participants" not in whose(Scope("unknown", "new"))
    assert "booklets" in whose(Scope("new", "within booklets", 20))
    assert "adaptive" in whose(Scope("new", "adaptive", 20))
    assert "these 6 participants" in whose(Scope("same", "new", 6))


def test_a_curve_of_a_sample_says_so():
    curve = learning_curve(answers(m=1500, people=20, careless=0), "score", cv=3)
    rising = replace(curve, next_gain=Estimate(0.03, 0.02, 0.04))
    whole, sample = words.curve(rising, 1500), words.curve(rising, 9000)
    assert whole.short == "More answers would help" and "9,000" not in whole.details
    assert "1,500 of the 9,000" in sample.details
    assert words.curve(replace(rising, next_gain=Estimate(0.001, -0.003, 0.005))).short == "Enough answers"
    assert words.curve(replace(rising, next_gain=Estimate(0.02, -0.01, 0.05))).level == "note"
    assert "adaptive" in words.curve(replace(rising, next_gain=None, scope=Scope("new", "adaptive", 20))).text
    assert words.curve(rising, learnt=False).short == "Nothing learnt yet"


def test_what_the_plane_costs_is_said_of_the_same_answers():
    """A sample is judged: the accuracy of the chosen model comes from more answers than that of the planes."""
    analysis = analyse(answers(m=1500, people=20), "soe-3", models=["score-2", "soe-3"], max_judged=500)
    lost = 100 * (analysis.scores["soe-3"].accuracy - analysis.scores["score-2"].accuracy)
    assert lost < 0.5 or f"{lost:.1f} points less than soe-3" in words.plane(analysis)
    assert f"{len(analysis.judged):,} answers" in make_report(analysis).data["methods"]


# ---------------------------------------------------------------- people


def test_the_careless_are_suggested_for_review_and_stay_in():
    report = small_report()
    people = report.data["participants"]["rows"]
    (careless,) = [person for person in people if person["reason"]]
    assert careless["name"] == report.people["worker-5"]
    assert "one-sided" in careless["reason"] or "too fast" in careless["reason"]
    assert careless["fast"] == 1 and careless["left"]["value"] > 0.8
    others = float(
        report.data["results"].partition("participants' answers, the model predicted ")[2].split("\xa0")[0]
    )
    assert others > 100 * report.data["models"]["accuracy"]
    possible = report.data["models"]["ceiling"]["best_possible"]
    exceeds = possible is not None and others > 100 * possible["value"]
    assert ("exceed the noise ceiling" in report.data["results"]) == exceeds
    rate = careless["with_prediction"]
    assert rate["low"] < rate["value"] < rate["high"]
    assert sum(person["answers"] for person in people) == report.data["collection"]["answers"] == 1500


def test_participants_hide_behind_pseudonyms_unless_asked():
    text = small_report().json() + small_report().html()
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
    told = excluded.data["collection"]["left_out"][-1]
    assert (told["count"], told["what"]) == (100, f"answers of {excluded.people['worker-5']}")
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
    rows = judge_people(given, credit).rows
    assert len(rows) == 6
    for person in rows:
        own = np.asarray(given.participant == person.name)
        assert person.answers == own.sum()
        assert person.with_prediction.value == pytest.approx(credit[own].mean())
        assert person.left.value == pytest.approx((given.near_side[own] == 0).mean())
        assert person.median_seconds == pytest.approx(np.median(given.seconds[own]))
        assert person.fast == pytest.approx((given.seconds[own] < np.median(given.seconds) / 3).mean())


# ---------------------------------------------------------------- models, tree, stability


def test_a_sample_is_judged_where_there_are_many_answers_and_the_page_says_so():
    small = make_report(analyse(answers(m=300))).data["models"]
    assert (small["cv"], small["judged"]) == (5, 300)
    part = make_report(analyse(answers(), max_judged=600))
    judged = part.data["models"]["judged"]
    assert 500 < judged <= 600
    assert f"a random {judged:,} of the 1,500 answers" in part.html()


def test_tree_and_clusters_come_from_the_chosen_model_and_the_map_from_the_best_plane():
    analysis = analyse(answers())
    data = make_report(analysis).data
    judged = data["models"]
    assert judged["best"] == analysis.best.name and judged["map"] == analysis.plane_name
    heights = [join[2] for join in data["tree"]["merges"]]
    np.testing.assert_allclose(heights, analysis.space.tree()[:, 2], atol=1e-9)
    assert judged["accuracy"] == pytest.approx(analysis.best.accuracy)
    order, near = data["matrix"]["order"], data["objects"][0]["neighbours"][0]  # one similarity everywhere
    shown = data["matrix"]["values"][order.index(0)][order.index(near["object"])]
    assert shown == pytest.approx(near["similarity"], abs=6e-4)
    named = make_report(answers(), model="k1").data["models"]
    assert named["best"] == "k1" and "was asked for" in named["why"]


def test_clusters_are_numbered_along_the_tree_and_k_can_be_asked_for():
    data = make_report(analyse(answers(), "score", models=["score"], n_resamples=2), n_clusters=7).data
    tree = data["tree"]
    assert tree["n_clusters"] == 7
    assert "asked for" in data["findings"]["clusters"]["text"]
    for cut in tree["cuts"]:
        along = [cut["labels"][x] for x in tree["leaves"]]
        assert list(dict.fromkeys(along)) == list(range(cut["n_clusters"]))
        assert [cut["labels"][medoid] for medoid in cut["medoids"]] == list(range(cut["n_clusters"]))


@pytest.mark.parametrize("model", ["k1", "soe-3"])
def test_the_matrix_is_the_kernel_in_the_order_of_the_tree(model):
    analysis = analyse(answers(), model, models=[model])
    K, order = analysis.space.kernel(), analysis.cluster_tree(4).leaves
    np.testing.assert_allclose(matrix(K, order)["values"], K[np.ix_(order, order)], atol=6e-4)
    folded = matrix(K, order, most_cells=5)
    assert folded["block"] == 3
    np.testing.assert_allclose(folded["values"][0][1], K[np.ix_(order[:3], order[3:6])].mean(), atol=6e-4)


def test_resampling_finds_the_gap_sure_and_random_answers_unsure():
    def rows_of(given, k):
        data = make_report(analyse(given, "score", models=["score"]), n_clusters=k).data
        columns = {name: np.array([row[name] for row in data["objects"]]) for name in ("kept", "spread")}
        return columns, data["findings"]["stability"]

    rng = np.random.default_rng(0)
    noise = Triplets.from_array(np.array([rng.permutation(12)[:3] for _ in range(200)]))
    (sure, told), (unsure, _) = rows_of(answers(careless=0), 2), rows_of(noise, 4)
    assert sure["kept"].min() > 0.9
    assert np.median(unsure["spread"]) > 2 * np.median(sure["spread"])
    assert unsure["kept"].mean() < sure["kept"].mean()
    assert "9 in 10 objects" in told["text"] and "30 bootstrap resamples" in told["details"]


def test_objects_with_too_few_statements_have_no_circle():
    given = answers(careless=0)
    about = (given.array == 3).any(axis=1)
    rare = given[np.flatnonzero(~about | (np.cumsum(about) <= 15))]
    data = make_report(analyse(rare, "score", models=["score"], n_resamples=4)).data
    circles = [row["circle"] for row in data["objects"]]
    assert circles[3] is None and all(circles[:3] + circles[4:])
    assert rare.objects[3] in data["findings"]["stability"]["text"]


def test_more_objects_than_a_page_can_show_are_sampled_and_the_page_says_so():
    report = make_report(analyse(answers(), max_shown=8))
    assert len(report.data["objects"]) == 8
    assert "8 of the 12 objects" in report.data["sampled"]
    assert report.data["sampled"] in report.html()
    assert report.data["collection"]["objects"] == 12


def test_double_submits_are_counted_and_kept():
    rows = [[0, 1, 2], [0, 1, 2], [1, 2, 0], [2, 1, 0], [3, 0, 1]]
    given = Triplets.from_array(rows, participant=["a"] * 5, answered_at=[1, 1.2, 5, 9, 12])
    report = make_report(given)
    assert report.data["collection"]["double_submits"] == 1
    assert "1 answer was sent twice" in report.html()
    assert report.data["collection"]["answers"] == 5


def test_a_rerun_says_the_same():
    given = answers(m=500)
    first, again = (make_report(given, key="k").data for _ in range(2))
    for data in (first, again):
        for model in data["models"]["scores"]:
            del model["seconds"]
    assert first == again


# ---------------------------------------------------------------- little data


def test_objects_without_answers_are_listed_apart():
    rows = np.array([np.random.default_rng(s).permutation(6)[:3] for s in range(80)])
    data = make_report(Triplets.from_array(rows, n_objects=8)).data
    assert [row["informed"] for row in data["objects"]] == [True] * 6 + [False] * 2
    assert {6, 7}.isdisjoint(data["tree"]["rows"])
    assert data["maps"][0]["x"][6] is None
    assert data["findings"]["enough"]["level"] == "poor"


def test_no_answers_are_refused():
    with pytest.raises(InputError, match="a report needs at least one answer and three objects"):
        make_report(analyse(Triplets.from_array(np.zeros((0, 3), int), n_objects=5)))


def test_what_was_left_out_is_said_with_its_reason():
    gone = [("rows", 3, "near and far are the same")]
    told = words.collected(analyse(answers(m=300)), gone)
    assert "3 left out" in told.text and "near and far are the same" in told.details
    data = make_report(answers(m=300), excluded={"somebody": 7}).data
    assert "7 answers of" in data["methods"] and "7 left out" in data["findings"]["collected"]["text"]


def test_an_analysis_shows_itself_in_a_notebook():
    given = answers(m=400).replace(objects=tuple(f"<b>{x}</b>" for x in range(12)))
    analysis = analyse(given)
    html = analysis._repr_html_()
    assert f"{analysis.best.name} (chosen)" in html
    assert all(f"&lt;b&gt;{x}&lt;/b&gt;" in html and f"<b>{x}</b>" not in html for x in range(12))
    assert "too few different questions" in analyse([[0, 1, 2]])._repr_html_()


def test_an_analysis_writes_its_report(tmp_path):
    analysis = analyse(answers(m=400))
    report = analysis.report(tmp_path / "page.html", title="A study")
    assert "A study" in (tmp_path / "page.html").read_text() and (tmp_path / "page.key").exists()
    assert report.data["models"]["best"] == analysis.best.name


@pytest.mark.parametrize(("left", "flagged"), [(0.5, False), (0.6, False), (0.75, True), (0.25, True)])
def test_a_side_is_a_reason_only_far_from_what_is_usual(left, flagged):
    m, people = 400, 8
    who = np.repeat(np.arange(people), m)
    share = np.where(who == 0, left, 0.5)
    side = (np.tile(np.arange(m), people) >= np.round(share * m)).astype(int)
    rows = np.random.default_rng(0).permuted(np.tile(np.arange(9), (m * people, 1)), axis=1)[:, :3]
    given = Triplets.from_array(rows, participant=[f"p{code}" for code in who], near_side=side)
    judged = judge_people(given)
    reasons = {row.name: words.reason(row, judged) for row in judged.rows if row.reasons}
    side_name = "left" if left > 0.5 else "right"
    assert list(reasons) == (["p0"] if flagged else [])
    assert all(f"the {side_name} side" in reason for reason in reasons.values())


def test_a_gain_of_subgroups_that_were_not_found_may_be_chance():
    one = Subgroups(1, ("ann",), np.zeros(1, int), (), (Estimate(0.014, -0.01, 0.03),), "soe-2", 9, 9, 1)
    assert "chance" in words.subgroups(one).text
    assert "chance" not in words.subgroups(replace(one, gains=(Estimate(-0.014, -0.03, 0.01),))).text
