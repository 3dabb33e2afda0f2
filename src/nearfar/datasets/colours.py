"""Made here, truth known: a hundred colours, judged by twenty simulated people who see in CIELAB."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nearfar._tools.atomic import make_folder
from nearfar._tools.checks import Seed, generator
from nearfar.design import Questions, farthest_first, landmark_questions, random_questions
from nearfar.triplets import Triplets

PEOPLE, CARELESS = 20, 3
LANDMARKS = 12
ASKED = 8_700  # distinct questions, three in five about landmarks, the others at random
SHARED, ASKED_OF = 400, 3  # so many of them are put to three people
REPEATED = 25  # and so many are put to a person twice
SIDE_BIAS = 0.8  # the careless choose what is on the left
NOON = 1_714_564_800.0  # 2024-05-01 12:00 UTC, when the first of them starts

# colours of the CSS standard (sRGB), near-whites and near-duplicates left out
_TABLE = """
aquamarine 7fffd4, black 000000, blue 0000ff, blueviolet 8a2be2, brown a52a2a, burlywood deb887,
cadetblue 5f9ea0, chartreuse 7fff00, chocolate d2691e, coral ff7f50, cornflowerblue 6495ed,
crimson dc143c, cyan 00ffff, darkcyan 008b8b, darkgoldenrod b8860b, darkgray a9a9a9,
darkgreen 006400, darkkhaki bdb76b, darkmagenta 8b008b, darkolivegreen 556b2f, darkorange ff8c00,
darkorchid 9932cc, darkred 8b0000, darksalmon e9967a, darkseagreen 8fbc8f, darkslateblue 483d8b,
darkslategray 2f4f4f, darkturquoise 00ced1, deeppink ff1493, deepskyblue 00bfff, dimgray 696969,
dodgerblue 1e90ff, firebrick b22222, forestgreen 228b22, gold ffd700, goldenrod daa520,
gray 808080, green 008000, greenyellow adff2f, hotpink ff69b4, indianred cd5c5c, indigo 4b0082,
ivory fffff0, khaki f0e68c, lightblue add8e6, lightcoral f08080,
lightgreen 90ee90, lightsalmon ffa07a, lightseagreen 20b2aa, lightskyblue 87cefa,
lightsteelblue b0c4de, lime 00ff00, limegreen 32cd32, magenta ff00ff, mediumaquamarine 66cdaa,
mediumblue 0000cd, mediumorchid ba55d3, mediumpurple 9370db, mediumseagreen 3cb371,
mediumslateblue 7b68ee, mediumvioletred c71585, midnightblue 191970, navy 000080, olive 808000,
olivedrab 6b8e23, orange ffa500, orangered ff4500, orchid da70d6, palegreen 98fb98,
paleturquoise afeeee, palevioletred db7093, peachpuff ffdab9, peru cd853f, pink ffc0cb,
plum dda0dd, purple 800080, rebeccapurple 663399, red ff0000, rosybrown bc8f8f, royalblue 4169e1,
saddlebrown 8b4513, salmon fa8072, sandybrown f4a460, seagreen 2e8b57, sienna a0522d,
silver c0c0c0, skyblue 87ceeb, slateblue 6a5acd, slategray 708090, springgreen 00ff7f,
steelblue 4682b4, tan d2b48c, teal 008080, thistle d8bfd8, tomato ff6347, turquoise 40e0d0,
violet ee82ee, white ffffff, yellow ffff00, yellowgreen 9acd32
"""
CSS: dict[str, str] = {name: f"#{code}" for name, code in map(str.split, _TABLE.split(","))}

# linear sRGB -> CIE XYZ, and the white point D65 (IEC 61966-2-1)
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])

# upper ends of hue angles in CIELAB, degrees; pink goes on from 340 through 0
_HUES = {18: "pink", 50: "red", 80: "orange", 112: "yellow", 165: "green", 235: "cyan", 309: "blue"}
_HUES |= {340: "purple", 360: "pink"}


@dataclass(frozen=True, eq=False)
class ColourTruth:
    """What is behind the colour answers.

    Parameters
    ----------
    points : (n, 3) CIELAB coordinates; people judge by the distances between them.
    participants : names of the participants.
    blur : (people,) difference of distances at which the person still chooses the nearer one with
        probability 1 / (1 + 1/e) = .73; small is sharp-sighted.
    attention : (people,) probability that the person looks before answering; else they guess.
    careless : names of those who hardly ever look.

    Examples
    --------
    >>> truth = make_colours().truth
    >>> truth.points.shape, truth.careless
    ((100, 3), ('p11', 'p13', 'p16'))
    """

    points: NDArray[np.float64]
    participants: tuple[str, ...]
    blur: NDArray[np.float64]
    attention: NDArray[np.float64]
    careless: tuple[str, ...]

    def probability(self, triplets: Triplets) -> NDArray[np.float64]:
        """(m,) chance that one of the participants, any of them, gives this answer to its question.

        ``mean_p  attention_p / (1 + exp(-(d(a,f) - d(a,n)) / blur_p)) + (1 - attention_p) / 2``, the sides
        being random.
        """
        seen = expit(self._margin(triplets)[:, None] / self.blur)
        probability: NDArray[np.float64] = (self.attention * seen + (1 - self.attention) / 2).mean(axis=1)
        return probability

    def ceiling(self, triplets: Triplets) -> float:
        """The best accuracy any model can expect on answers to these questions: E max(q, 1 - q)."""
        q = self.probability(triplets)
        return float(np.maximum(q, 1 - q).mean())

    def _margin(self, triplets: Triplets) -> NDArray[np.float64]:
        anchor, near, far = (self.points[rows] for rows in triplets.array.T)
        apart = [np.linalg.norm(anchor - other, axis=1) for other in (far, near)]
        return np.asarray(apart[0] - apart[1])


@dataclass(frozen=True, eq=False)
class Colours:
    """Answers about colours, what they look like, and the truth behind the answers.

    Examples
    --------
    >>> colours = make_colours()
    >>> colours.triplets.objects[0], colours.hex[0], colours.groups[0]
    ('aquamarine', '#7fffd4', 'cyan')
    """

    triplets: Triplets
    truth: ColourTruth
    hex: tuple[str, ...]
    groups: tuple[str, ...]

    def write(self, folder: str | Path) -> Path:
        """Write ``answers.csv``, ``objects.csv`` and a swatch ``images/NAME.png`` per colour into a folder."""
        from nearfar.io import write_triplets

        target = Path(folder)
        make_folder(target / "images")
        write_triplets(self.triplets, target / "answers.csv")
        names = self.triplets.objects
        listed = zip(names, self.groups, strict=True)
        rows = (f"{name},{name},images/{name}.png,{group}" for name, group in listed)
        listing = "\n".join(["object,display_name,image,group", *rows, ""])
        (target / "objects.csv").write_text(listing, encoding="utf-8", newline="")
        for name, code in zip(names, self.hex, strict=True):
            (target / "images" / f"{name}.png").write_bytes(_swatch(code))
        return target


def make_colours(seed: Seed = 0) -> Colours:
    """A hundred colours judged by twenty simulated people: about 10,000 answers, the truth known.

    The colours are CSS names, most of them saturated, with greys, pastels and dark ones. People judge by
    distance in CIELAB, each with a blur of their own; three are careless: they guess most of the time, fast,
    and prefer the left. 8,700 distinct questions were drawn (three in five about twelve landmarks, the others
    at random); 400 of them were put to three people, and everybody got 25 of their own a second time.
    Statement and participant ids, seconds, near_side and answered_at are set.

    Parameters
    ----------
    seed : whole number; the same seed gives the same answers.

    Returns
    -------
    Colours, with ``triplets``, ``truth``, ``hex`` and ``groups`` (by hue), and ``write(folder)``.

    Notes
    -----
    Colour names: the CSS standard of the W3C. Everything else is made here.

    Examples
    --------
    >>> colours = make_colours()
    >>> colours.triplets
    Triplets(10000 answers, 100 objects, 20 participants)
    >>> len(colours.truth.careless)
    3
    """
    rng = generator(seed)
    names = tuple(CSS)
    points = lab_from_hex(list(CSS.values()))
    truth = _people(points, rng)
    questions, person = _sessions(_questions(names, points, rng), rng)
    triplets = _answer(questions, person, truth, rng)
    return Colours(triplets, truth, tuple(CSS.values()), tuple(hue_group(lab) for lab in points))


def lab_from_hex(codes: list[str]) -> NDArray[np.float64]:
    """(n, 3) CIELAB coordinates (L*, a*, b*) of sRGB colours such as "#ff0000"."""
    rgb = np.array([[int(code[i : i + 2], 16) for i in (1, 3, 5)] for code in codes]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    t = linear @ _XYZ.T / _WHITE
    f = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    x, y, z = f.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def hue_group(lab: NDArray[np.float64]) -> str:
    """The name of a colour's hue, "grey" where it has next to none.

    >>> hue_group(lab_from_hex(["#ff0000"])[0]), hue_group(lab_from_hex(["#808080"])[0])
    ('red', 'grey')
    """
    if np.hypot(lab[1], lab[2]) < 13:
        return "grey"
    hue = np.degrees(np.arctan2(lab[2], lab[1])) % 360
    return next(name for end, name in _HUES.items() if hue <= end)


def _people(points: NDArray[np.float64], rng: np.random.Generator) -> ColourTruth:
    names = tuple(f"p{i:02d}" for i in range(1, PEOPLE + 1))
    careless = np.sort(rng.choice(PEOPLE, CARELESS, replace=False))
    attention = np.full(PEOPLE, 0.98)
    attention[careless] = 0.1
    blur = rng.uniform(5, 11, PEOPLE)
    return ColourTruth(points, names, blur, attention, tuple(names[i] for i in careless))


def _questions(names: tuple[str, ...], points: NDArray[np.float64], rng: np.random.Generator) -> Questions:
    """Distinct questions in random order: a landmark design for k1, filled up with random ones."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    landmarks = farthest_first(apart, LANDMARKS, first=names.index("gray"))
    fixed = landmark_questions(names, landmarks, budget=ASKED * 3 // 5, seed=rng)
    free = random_questions(names, ASKED, seed=rng)
    rows = np.concatenate([fixed.array, free.array])
    rows[:, 1:].sort(axis=1)
    _, first = np.unique(rows, axis=0, return_index=True)
    chosen = rows[np.sort(first)[:ASKED]]
    chosen = chosen[rng.permutation(len(chosen))]
    swap = rng.random(len(chosen)) < 0.5
    chosen[swap, 1:] = chosen[swap, :0:-1]
    return Questions(chosen, names)


def _sessions(questions: Questions, rng: np.random.Generator) -> tuple[Questions, NDArray[np.int64]]:
    """Who is asked what, in the order of asking: questions and the person of each."""
    question = np.concatenate([np.repeat(np.arange(SHARED), ASKED_OF), np.arange(SHARED, ASKED)])
    person = np.arange(len(question)) % PEOPLE  # three in a row are three different people
    asked, who = [], []
    for p in range(PEOPLE):
        own = rng.permutation(question[person == p])
        again = rng.permutation(own[: len(own) // 2])[:REPEATED]
        # The second time comes somewhere in the second half.
        late = np.insert(own[len(own) // 2 :], rng.integers(1, len(own) // 2, REPEATED), again)
        asked.append(np.concatenate([own[: len(own) // 2], late]))
        who.append(np.full(len(own) + REPEATED, p))
    return questions[np.concatenate(asked)], np.concatenate(who)


def _answer(
    questions: Questions, person: NDArray[np.int64], truth: ColourTruth, rng: np.random.Generator
) -> Triplets:
    m = len(questions)
    swap = rng.random(m) < 0.5  # what is shown on the left, anew every time
    left = np.where(swap, questions.other, questions.one)
    right = np.where(swap, questions.one, questions.other)
    margin = truth._margin(Triplets(questions.anchor, left, right, questions.objects))
    looks = rng.random(m) < truth.attention[person]
    careless = truth.attention[person] < 0.5
    by_eye = expit(margin / truth.blur[person])
    by_guess = np.where(careless, SIDE_BIAS, 0.5)
    goes_left = rng.random(m) < np.where(looks, by_eye, by_guess)
    # Close calls take longer; who does not look is quick.
    median = np.where(looks | ~careless, 1.4 + 1.6 * np.exp(-np.abs(margin) / 15), 0.45)
    seconds = np.round(median * rng.lognormal(0, 0.35, m), 3)
    day = 86_400.0 * (person // 5) + 7_200.0 * (person % 5)
    pause = rng.uniform(0.4, 0.9, m)
    elapsed = np.cumsum(seconds + pause)
    first = np.searchsorted(person, person, side="left")
    at = NOON + day + elapsed - (elapsed - seconds - pause)[first]
    return Triplets(
        questions.anchor,
        np.where(goes_left, left, right),
        np.where(goes_left, right, left),
        questions.objects,
        statement=np.arange(m),
        participant=np.array(truth.participants)[person],
        seconds=seconds,
        near_side=np.where(goes_left, 0, 1),
        answered_at=np.round(at, 3),
    )


def _swatch(code: str, side: int = 96) -> bytes:
    """A PNG file of one colour, written out by hand so that no image library is needed."""
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes.fromhex(code[1:]) * side) * side  # each row starts with its filter, none
    png = b"\x89PNG\r\n\x1a\n"
    for chunk in (b"IHDR" + head, b"IDAT" + zlib.compress(rows, 9), b"IEND"):
        png += struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png
