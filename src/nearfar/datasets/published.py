"""Answers of published studies: where each is, what it counts, and a function that fetches it."""

from __future__ import annotations

from nearfar.datasets import _readers
from nearfar.datasets._download import Download, Folder, data_folder, describes_folder, obtain
from nearfar.datasets._readers import Dataset

FOOD = Download(
    "https://osf.io/download/6aa16bb1813a28b1e43f09bb/",
    "18f5e210174dfdbf6a7b4ed7538cf8ba53fd65e0cbe193519231b8ab4ea8fc62",
    "food100-dataset.zip",
    ("food/triplets.npz", "food100-dataset"),
)
CAR = Download(
    "http://www.tml.cs.uni-tuebingen.de/team/luxburg/code_and_data/60_cars_data.zip",
    "5fa2ad932d48adf5cfe36bd16a08b25fd88d1519d974908f6ccbba769f629640",
    "60_cars_data.zip",
    ("car/survey_data.csv", "60_cars_data/survey_data.csv"),
)
MATERIAL = Download(
    "https://github.com/mlagunas/material-appearance-similarity/archive/refs/heads/master.zip",
    "f0be4d573829fd5e5a7e7b332989545cbf6584eaf25e2555371703a9264f5937",
    "material-appearance-similarity-master.zip",
    ("material-appearance-similarity-master",),
)
MUSICIANS = Download(
    "https://www.labrosa.org/projects/musicsim/musicseer.org/results/musicseer-results-2002-04-29.txt",
    "4506fc16a8f9a30a92207720bc599602b514de20e94494f67eb7a1e348401e2d",
    "musicseer-results-2002-04-29.txt",
    ("musicians/triplets.npz",),
)
SCENES = Download(
    "https://osf.io/download/6aa16bbfb7c3003e08af94fa/",
    "db4718bb742a2492dee87e94daead3070b2afa3a9174aa717be336940e47e3cc",
    "nature_and_vogue_triplets.zip",
    ("nature_and_vogue_triplets",),
)
THINGS = Download(
    "https://osf.io/download/sd3f7/",
    "789fb927c87538d29e0cf294793280cf5a77d45dc5fdd87cf8c726993397adb8",
    "things_data1854_batch5_test10.txt",
    ("things/things_test10.npz",),
)
THINGS_NAMES = Download(
    "https://osf.io/download/sz2ux/",
    "03dbe77972f9466ff8baa0da604d9f5104f677bf77cc602faebfa03a290fb51c",
    "things_items1854names.tsv",
)
SCENES_COUNTS = {
    "nature": {"objects": 120, "statements": 3_355, "answers": 6_710, "unique": 2_994, "contradictions": 636},
    "vogue": {"objects": 60, "statements": 1_107, "answers": 2_214},
}


@describes_folder
def fetch_food(data_dir: Folder = None) -> Dataset:
    """Photos of 100 dishes: 250,320 answers, of which 190,376 are different.

    Crowd workers saw one dish and a grid of others and picked those that taste most like it; each picked dish
    is nearer than each one left. A statement is one grid screen, so it gives several triplets at once.
    ``seconds`` is the time of the whole screen.

    Licence: the photos are copyrighted and shared under educational fair use; nothing is said about the
    answers. Cite: M. Wilber, I. Kwak, S. Belongie, Cost-effective HITs for relative similarity comparisons,
    HCOMP 2014 (arXiv:1404.3291).

    >>> fetch_food().triplets  # doctest: +SKIP
    Triplets(250320 answers, 100 objects, 243 participants)
    """
    counts = {"objects": 100, "answers": 250_320, "unique": 190_376, "contradictions": 9_349}
    return _readers.read_food(obtain(FOOD, data_dir), counts)


@describes_folder
def fetch_car(data_dir: Folder = None) -> Dataset:
    """Pictures of 60 cars: 6,757 statements "A is the most central of A, B, C", 13,514 triplets.

    This is the authors' collection T_ALL, which leaves out seven of 146 survey rounds. ``participant`` is the
    round: each was done by one person, but a person may have done several. ``seconds`` is the response time.
    ``groups`` are the authors' four classes.

    Licence: the pictures were released into the public domain by their authors (Wikimedia Commons). Cite:
    M. Kleindessner, U. von Luxburg, Lens depth function and k-relative neighborhood graph: versatile tools
    for ordinal data analysis, JMLR 18(58), 2017.

    >>> fetch_car().triplets  # doctest: +SKIP
    Triplets(13514 answers, 60 objects, 139 participants)
    """
    counts = {"objects": 60, "statements": 6_757, "answers": 13_514, "unique": 12_502}
    return _readers.read_car(obtain(CAR, data_dir), counts)


@describes_folder
def fetch_material(data_dir: Folder = None) -> Dataset:
    """Renderings of 100 materials: 25,801 questions, most of them answered by several people.

    The source gives votes per question and not who cast them, so participants are not known and every vote is a
    statement of its own. The authors' training and test questions are joined; ``details["test"]`` marks the
    answers to test questions.

    Licence: none stated. Cite: M. Lagunas, S. Malpica, A. Serrano, E. Garces, D. Gutierrez, B. Masia, A
    similarity measure for material appearance, ACM Transactions on Graphics 38(4), 2019.

    >>> fetch_material().triplets.n_objects  # doctest: +SKIP
    100
    """
    return _readers.read_material(obtain(MATERIAL, data_dir), {"objects": 100, "questions": 25_801})


@describes_folder
def fetch_musicians(data_dir: Folder = None) -> Dataset:
    """Which artist is most like another: one choice out of a list gives several triplets.

    Two versions exist. The data folder may have ``musicians/triplets.npz`` (aset400: 412 artists, 9,107 rows,
    of which 17 name an artist twice and are set aside; it has no statement ids, so all rows with one
    (anchor, near) are taken as one statement). Otherwise the MusicSeer results of 2002-04-29 are fetched (448
    artists, 131,970 rows; statement = judgement, participant = user; artists go by number). ``set_aside`` counts
    the rows that are not answers.

    Licence: none stated. Cite: D. Ellis, B. Whitman, A. Berenzweig, S. Lawrence, The quest for ground truth in
    musical artist similarity, ISMIR 2002.

    >>> fetch_musicians().triplets  # doctest: +SKIP
    Triplets(9090 answers, 412 objects)
    """
    path = obtain(MUSICIANS, data_dir)
    aset400 = path.suffix == ".npz"
    counts = {"objects": 412, "rows": 9_107} if aset400 else {"objects": 448, "rows": 131_970}
    return _readers.read_musicians(path, counts)


@describes_folder
def fetch_nature(data_dir: Folder = None) -> Dataset:
    """Photos of 120 natural scenes: 3,355 odd-one-out statements, 6,710 triplets, 2,994 different.

    The file has three names per line and does not say which is the odd one. The last is taken, and the paper's
    2,994 different triplets and 636 contradicting pairs confirm it; where they do not, the column that
    reproduces them is taken, and none is an error.

    Licence: none stated. Cite: H. Heikinheimo, A. Ukkonen, The crowd-median algorithm, HCOMP 2013.

    >>> fetch_nature().triplets  # doctest: +SKIP
    Triplets(6710 answers, 120 objects)
    """
    return _readers.read_scenes(obtain(SCENES, data_dir), SCENES_COUNTS, "nature")


@describes_folder
def fetch_vogue(data_dir: Folder = None) -> Dataset:
    """Covers of 60 Vogue magazines: 1,107 odd-one-out statements, 2,214 triplets.

    The odd one stands in the column that ``fetch_nature`` confirms for the same archive. Licence and paper, too,
    are those of ``fetch_nature``.

    >>> fetch_vogue().triplets  # doctest: +SKIP
    Triplets(2214 answers, 60 objects)
    """
    return _readers.read_scenes(obtain(SCENES, data_dir), SCENES_COUNTS, "vogue")


@describes_folder
def fetch_things(data_dir: Folder = None) -> Dataset:
    """1,854 things: odd-one-out statements, the 10 % test split of the study.

    Two versions exist. The data folder may have ``things/things_test10.npz`` (127,304 statements, with
    participants). Otherwise the file of the 2020 paper is fetched (146,012 statements, without). In both the
    odd one stands last.

    Licence: CC BY 4.0. Cite: M. Hebart, C. Zheng, F. Pereira, C. Baker, Revealing the multidimensional mental
    representations of natural objects underlying human similarity judgements, Nature Human Behaviour 4, 2020.

    >>> fetch_things().triplets  # doctest: +SKIP
    Triplets(254608 answers, 1854 objects, 264 participants)
    """
    path = obtain(THINGS, data_dir)
    if path.suffix == ".npz":
        return _readers.read_things(path, {"objects": 1_854, "statements": 127_304, "answers": 254_608})
    folder = path.parent if data_folder(data_dir).is_file() else data_folder(data_dir)
    counts = {"objects": 1_854, "statements": 146_012, "answers": 292_024}
    return _readers.read_things(path, counts, obtain(THINGS_NAMES, folder))
