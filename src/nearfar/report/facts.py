"""What a report says, as plain data: every number on the page is in here first (``--json`` writes it)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from nearfar._tools.records import Record, plain
from nearfar.report.groups_section import Alike, GroupsFacts

__all__ = [
    "Change",
    "Clustering",
    "Collection",
    "Contradiction",
    "Curve",
    "CurvePointFacts",
    "Facts",
    "Judge",
    "Judged",
    "LeftOut",
    "MapFacts",
    "Matrix",
    "Neighbour",
    "Object",
    "Participant",
    "Pictures",
    "Quality",
    "Range",
    "Sure",
    "TreeFacts",
    "Verdict",
    "plain",
]


@dataclass(frozen=True)
class Range:
    """A value with the interval around it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LeftOut:
    """Something that is not in the analysis, how many of it, and why."""

    what: str
    count: int
    why: str


@dataclass(frozen=True)
class Collection:
    """The input: where it came from and how much of it there is.

    Parameters
    ----------
    files, sha256 : names of the files and a hash of their contents ("" where the answers came from memory).
    statements : what people said in one go; an odd-one-out statement is two answers.
    repeated : questions that were answered more than once; contradicted : of those, with both answers given.
    """

    files: tuple[str, ...]
    sha256: str
    answers: int
    statements: int
    unique: int
    questions: int
    repeated: int
    contradicted: int
    objects: int
    participants: int | None
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class Verdict:
    """One sentence of the summary; ``level`` is "good", "fair", "poor" or "note"."""

    topic: str
    level: str
    short: str
    text: str


@dataclass(frozen=True)
class Judged:
    """How one model did on answers it had not seen."""

    name: str
    accuracy: float
    error: float | None
    ties: float
    seconds: float
    as_good_as_best: bool
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Judge:
    """Models side by side on held-out answers, and what was chosen.

    ``best`` : the model that tree, clusters, neighbours and outliers come from; ``accuracy`` : of choosing so.
    ``ceiling`` : lowest and highest accuracy that the best possible model can have; None where that is not known,
    and ``unknown`` says why; ``outer`` : the 95 % interval around both ends. ``above_guessing`` : whether any model is,
    tested for all of them at once; ``few_people`` : how many, where they are too few to speak of others, else 0;
    ``in_sets`` : whether questions were asked within sets of objects, such as booklets; ``chosen`` : for being undecided;
    ``remembers_pairs`` : whether remembering pairs predicts as well as the best model. ``agreement`` : of two answers to the same question, by different people where people are
    known; ``repeated`` : how many questions have two such answers.
    """

    models: tuple[Judged, ...]
    best: str
    accuracy: float | None
    error: float | None
    why: str
    map: str
    map_why: str
    ceiling: tuple[float, float] | None
    unknown: str
    outer: tuple[float, float] | None
    above_guessing: bool
    few_people: int
    in_sets: bool
    chosen: bool
    remembers_pairs: bool
    agreement: float | None
    agreement_error: float | None
    repeated: int
    cv: int
    unit: str
    clustered_by: str
    named: bool
    answers: int
    remark: str


@dataclass(frozen=True)
class Neighbour:
    """Another object (its index in ``Facts.objects``) and its similarity, 1 - d^2 / 2."""

    object: int
    similarity: float


@dataclass(frozen=True)
class Object:
    """One object on the page.

    Parameters
    ----------
    name, display_name, group : as in the answers, as shown, as given in the object list ("" for none).
    picture : whether there is one.
    answers : how many answers concern it; as_anchor : of those, as the one that others are compared with.
    accuracy : share of held-out answers about it that the best model predicts.
    informed : whether the model knows anything about it.
    spread : how far its location moves from resample to resample, as a share of the map's radius.
    circle : radius of the circle that holds the true location in 9 of 10 objects; None where too few statements tell.
    sure : how often resamples leave it in its cluster.
    unusual : one minus the mean similarity to its nearest neighbours; outlier : whether that stands out.
    """

    name: str
    display_name: str
    group: str
    picture: bool
    answers: int
    as_anchor: int
    accuracy: float | None
    informed: bool
    neighbours: tuple[Neighbour, ...]
    spread: float | None
    circle: float | None
    sure: float | None
    unusual: float | None
    outlier: bool


@dataclass(frozen=True)
class MapFacts:
    """Locations in the plane, one per object (None where there is none)."""

    name: str
    title: str
    accuracy: float | None
    error: float | None
    x: tuple[float | None, ...]
    y: tuple[float | None, ...]


@dataclass(frozen=True)
class Clustering:
    """The tree cut into k clusters: ``labels`` of all objects (-1: none), ``medoids`` and ``silhouette``."""

    k: int
    labels: tuple[int, ...]
    medoids: tuple[int, ...]
    silhouette: float


@dataclass(frozen=True)
class TreeFacts:
    """The complete-linkage tree of ``leaves`` (objects, in the order drawn) and its cuts.

    ``merges`` are rows (one, other, height, size) in SciPy's format over ``members``, objects by row.
    """

    method: str
    members: tuple[int, ...]
    leaves: tuple[int, ...]
    merges: tuple[tuple[int, int, float, int], ...]
    cuts: tuple[Clustering, ...]
    k: int
    k_why: str

    @property
    def chosen(self) -> Clustering:
        """The cut into ``k`` clusters."""
        return next(cut for cut in self.cuts if cut.k == self.k)


@dataclass(frozen=True)
class Matrix:
    """Kernel values in the order of the tree; with ``block`` > 1 every cell is a mean over block x block objects."""

    order: tuple[int, ...]
    block: int
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Sure:
    """What resampling says: ``resamples`` of ``resampled`` (participants, statements, ...) were drawn and fitted anew."""

    resamples: int
    resampled: str
    model: str
    spread: float
    clusters: tuple[float | None, ...]
    remark: str


@dataclass(frozen=True)
class Participant:
    """One participant under the name shown.

    Each share comes with the number of statements behind it; None where nothing can be said. ``low`` and ``high``
    are the ends of the 95 % Wilson interval of ``with_prediction``. ``left`` is the share of statements that chose what stood on the left.
    ``checks_right`` of ``checks`` check questions were answered right. ``reasons`` say why a look at this participant is
    suggested.
    """

    name: str
    answers: int
    with_prediction: float | None
    low: float | None
    high: float | None
    with_others: float | None
    shared: int
    with_themselves: float | None
    repeated: int
    median_seconds: float | None
    fast: float | None
    left: float | None
    sided: int
    checks_right: int
    checks: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Contradiction:
    """A question that was answered both ways: so many said ``one``, so many ``other``."""

    anchor: int
    one: int
    other: int
    said_one: int
    said_other: int


@dataclass(frozen=True)
class Quality:
    """Who answered how well, where answers contradict, what is covered.

    ``usual`` : the median participant's shares. ``double_submits`` : answers that the same participant sent again
    within half a second; they are kept.
    """

    participants: tuple[Participant, ...] | None
    pseudonyms: bool
    fast_below: float | None
    usual: dict[str, float | None]
    contradictions: tuple[Contradiction, ...]
    double_submits: int
    coverage: dict[str, float]
    answers_per_object: tuple[int, int, int]
    uninformed: tuple[int, ...]


@dataclass(frozen=True)
class CurvePointFacts:
    """Held-out accuracy of a model fitted to so many answers."""

    answers: float
    accuracy: float
    error: float | None


@dataclass(frozen=True)
class Change:
    """What more answers would bring."""

    answers: int
    now: Range
    doubled: Range
    gain: Range


@dataclass(frozen=True)
class Curve:
    """Accuracy by number of answers; ``change`` is None where sizes are too few, or it is not ``foreseeable`` at all.

    ``sampled`` : whether it is of a random part of the answers.
    """

    model: str
    points: tuple[CurvePointFacts, ...]
    change: Change | None
    foreseeable: bool
    verdict: str
    text: str
    sampled: bool


@dataclass(frozen=True)
class Pictures:
    """What became of the pictures: object names without one, files without an object, and what could not be used."""

    shown: int
    missing: tuple[str, ...]
    unreadable: tuple[tuple[str, str], ...]
    unused: tuple[str, ...]


@dataclass(frozen=True)
class Facts(Record):
    """Everything a report says. Objects are referred to by their index in ``objects``."""

    title: str
    made: str
    versions: dict[str, str]
    seed: int
    answers: Collection
    verdict: tuple[Verdict, ...]
    judge: Judge
    objects: tuple[Object, ...]
    sampled: str
    maps: tuple[MapFacts, ...]
    tree: TreeFacts | None
    matrix: Matrix | None
    sure: Sure | None
    outliers: tuple[int, ...]
    quality: Quality
    curve: Curve | None
    pictures: Pictures
    methods: str
    citations: tuple[str, ...]
    alike: Alike | None = None
    groups: GroupsFacts | None = None

    def to_json(self) -> str:
        """Everything as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
