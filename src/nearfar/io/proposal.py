"""What an unknown table looks like, from the names of its columns and their values, and the options that would read it."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import polars as pl

from nearfar.errors import ColumnsError, NearfarError
from nearfar.io.dialects import SIDES
from nearfar.io.naming import NUMBER
from nearfar.io.parse_rows import as_text
from nearfar.io.sources import Source
from nearfar.io.table import Table, lower_headers

SAMPLE_ROWS = 500
MOSTLY = 0.9  # of the rows, where the others may be practice, skips or slips
WORDS = {
    "participant": r"particip|subject|person|worker|respon(dent|se ?id)|user|proband|prolific|e-?mail|^vp|^id$|^who$",
    "time": r"\brt\b|rt_|_rt|reaction|response ?time|latency|duration|time.*\(m?s\)|zeit",
    "anchor": r"anchor|target|reference|standard|probe|cent(er|re)|head|query|compared|sample",
    "option": r"left|right|links|rechts|option|altern|first|second|^[ab]$|[12]$",
    "near": r"near|clos|more.?sim|positive",
    "far": r"far|other|less.?sim|negative|distant",
    "choice": r"chos|choice|answer|resp|select|pick|winner|decision|more.?similar|key|wahl|antwort",
    "similarity": r"(?<!dis)simil|alike|ähnlich",
    "distance": r"dis|differ",
    "rating": r"rat|score|judg|wert",
    "rank": r"rank|place|order|rang|1st|2nd|3rd|\dth",
    "object": r"object|item|card|stim|word|karte",
    "pile": r"pile|group|cluster|categor|stapel",
    "best": r"best|most|nearest",
    "worst": r"worst|least|farthest",
}


class Guess(NamedTuple):
    """What a table looks like, the role of each column or other ``options``, and whether that is certain."""

    looks: str
    roles: Mapping[str, list[int]] = {}
    options: tuple[str, ...] = ()
    sure: bool = True


def proposal(table: Table, error: ColumnsError) -> ColumnsError:
    """The error about a table whose columns are not known, with the command that would read it."""
    for lower in chain([table], lower_headers(table)):
        if 2 * sum(map(bool, lower.header.cells)) > max(5, len(lower.header)):  # a title has fewer cells
            table = lower
            break
    header, sample = table.header.cells, _Sample(table)
    guess = next(filter(sample.holds, sample.guesses()), None) if len(sample.frame) else None
    if guess is None:
        four = f"{table.name}: if these are quadruplets, d(a, b) < d(c, d), call the columns a, b, c, d; then try"
        way = f"nearfar map {table.name} --dialect quadruplets --model soe-2"
        return ColumnsError(f"{four}\n  {way}\n(see docs/files.md)") if len(sample.objects) == 4 else error
    options = list(guess.options)
    for role, at in ((role, at) for role, columns in guess.roles.items() for at in columns):
        options += ["--column", f"{role}={header[at] if header.count(header[at]) == 1 else at + 1}"]
    looks = f"{'looks like' if guess.sure else 'may be'} {guess.looks}"
    command = shlex.join(["nearfar", "check", table.name, *options])
    return ColumnsError(
        f"{table.name}: the columns are not known, but it {looks}; try\n  {command}\n(see docs/files.md)",
        options=options if guess.sure else (),
    )


class _Sample:
    """Some rows of a table, as text, and the names of its columns."""

    def __init__(self, table: Table) -> None:
        self.names, self.all = [name.strip() for name in table.header.cells], range(len(table.header))
        frame = next((part.frame[:SAMPLE_ROWS] for part in table.cells(True, SAMPLE_ROWS)), pl.DataFrame())
        plain = [at for at in self.all if len(frame) and table.holds_values(at)]
        texts = {f"c{at}": as_text(pl.col(f"c{at}"), frame.dtypes[at]).str.strip_chars() for at in plain}
        nothing = dict.fromkeys(frame.columns, pl.lit(None, pl.String))
        self.frame = frame.select(**nothing | texts)
        self.values = [set(column.drop_nulls().to_list()) - {""} for column in self.frame]
        filled = [at for at, own in enumerate(self.values) if own]
        self.numbers = [at for at in filled if all(map(NUMBER.fullmatch, self.values[at]))]
        names = [at for at in filled if at not in self.numbers]
        alike = ([b for b in names if self._shares(at, b)] for at in names)
        self.objects: list[int] = max(alike, key=len, default=[])  # columns that hold the same names

    def _shares(self, one: int, other: int) -> bool:
        a, b = self.values[one], self.values[other]
        return 2 * len(a & b) >= min(len(a), len(b))

    def called(self, role: str, among: Iterable[int]) -> list[int]:
        """The columns whose names sound like a role."""
        return [at for at in among if re.search(WORDS[role], self.names[at], re.IGNORECASE)]

    def equal(self, one: int, other: int) -> float:
        """In which share of the rows two columns are equal."""
        return float(self.frame.select((pl.col(f"c{one}") == pl.col(f"c{other}")).mean()).item() or 0)

    def holds(self, guess: Guess) -> bool:
        """Whether nearly all rows are answers where columns have these roles."""
        from nearfar.io.reading import read_answers  # which asks for proposals itself

        if not guess.roles:
            return True
        columns: dict[str, Any] = {role: at[0] if len(at) == 1 else at for role, at in guess.roles.items()}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = read_answers(Source("sample", "frame", self.frame), columns=columns, on_bad="drop")
        except NearfarError:
            return False
        return len(result.triplets) > 0 and len(result.rejected) <= (1 - MOSTLY) * len(self.frame)

    def guesses(self) -> Iterator[Guess]:
        """What the table may be, the most certain first; with who answered, and how fast."""
        kinds = (self.matrix, self.survey, self.choice, self.coded_choice, self.order, self.ratings)
        for guess in chain.from_iterable(kind() for kind in kinds):
            rest = [at for at in self.all if not any(at in own for own in guess.roles.values())]
            people, times = self.called("participant", rest)[:1], self.called("time", rest)
            more = {"participant": people} if people else {}
            for at in [at for at in times if at in self.numbers][:1]:
                median: Any = self.frame[f"c{at}"].cast(pl.Float64, strict=False).median()
                named = re.search(r"ms|milli", self.names[at], re.IGNORECASE)
                more["milliseconds" if named or median > 60 else "seconds"] = [at]  # nobody thinks that long
            yield guess._replace(roles=guess.roles and {**guess.roles, **more})

    def choice(self) -> Iterator[Guess]:
        """A column whose cell is always one of two or more others."""
        chosen: dict[int, list[int]] = {}
        for at in self.objects:
            options = [b for b in self.objects if 0 < self.equal(at, b) < 1]
            if len(options) > 1 and sum(self.equal(at, b) for b in options) >= MOSTLY:
                chosen[at] = options
        if not chosen:
            return
        pick = [*self.called("choice", chosen), *chosen][0]
        options = [at for at in chosen[pick] if at not in chosen]
        anchor = [at for at in self.objects if at not in (*chosen, *options)]
        anchor = (anchor or self.called("anchor", self.all))[:1]
        best, worst = self.called("best", chosen)[:1], self.called("worst", chosen)[:1]
        roles = {"anchor": anchor, "option": options}
        if anchor and best and worst:
            yield Guess("options with the best and the worst", roles | {"best": best, "worst": worst})
        elif anchor:
            yield Guess("options and the choice", roles | {"choice": [pick]}, sure=len(chosen) == 1)
        else:
            kind = next((kind for kind in ("odd", "central") if kind[:4] in self.names[pick].lower()), None)
            roles = {"option": options, kind or "odd": [pick]}
            yield Guess("three objects and one of them", roles, sure=kind is not None)

    def coded_choice(self) -> Iterator[Guess]:
        """Three columns of objects, and one that says the side or the number of the choice."""
        options = self.called("option", self.objects)
        anchor = [at for at in self.objects if at not in options]
        for at in self.called("choice", self.all)[:1] if (len(anchor), len(options)) == (1, 2) else ():
            cells = {cell.lower() for cell in self.values[at]}
            known = cells <= {word for side in SIDES for word in side} or cells == {"1", "2"}
            role, roles = "choice" if known else "choice_from_0", {"anchor": anchor, "option": options}
            yield Guess("two options and the choice", roles | {role: [at]}, sure=known)

    def order(self) -> Iterator[Guess]:
        """Near and far, a ranking or piles, by the names of the columns."""
        near, far, ranks = (self.called(role, self.objects) for role in ("near", "far", "rank"))
        anchor = [at for at in self.objects if at not in (*near, *far)]
        if len(near) == len(far) == len(anchor) == 1:
            yield Guess("the nearer and the farther object", {"anchor": anchor, "near": near, "far": far})
        elif len(anchor := [at for at in self.objects if at not in ranks]) == 1 and len(ranks) > 1:
            yield Guess("rankings", {"anchor": anchor, "rank": ranks})
        ranked = self.called("rank", self.all)
        lists = [at for at in ranked if any(re.search("[>;|]", cell) for cell in self.values[at])]
        if lists and (anchor := self.called("anchor", self.all)):
            yield Guess("rankings in one cell", {"anchor": anchor[:1], "rank": lists[:1]})
        items, piles = (self.called(role, self.all) for role in ("object", "pile"))
        if items and piles and self.called("participant", self.all):
            yield Guess("pile sorts", {"object": items[:1], "pile": piles[:1]}, sure=len(items + piles) == 2)

    def ratings(self) -> Iterator[Guess]:
        """Two columns of objects and one of numbers."""
        scale = [(role, at) for role in ("similarity", "distance") for at in self.called(role, self.numbers)]
        rated = scale or [("similarity", at) for at in self.called("rating", self.numbers)]
        for role, at in rated[:1] if len(self.objects) == 2 else ():
            yield Guess(f"ratings ({role})", {"object": self.objects, role: [at]}, sure=bool(scale))

    def matrix(self) -> Iterator[Guess]:
        """The names of the rows are those of the columns; what is largest on the diagonal is a similarity."""
        rows = self.frame["c0"].to_list() if len(self.all) > 3 else []
        if set(rows) == set(self.names[1:]) and set(self.all[1:]) <= set(self.numbers):
            table = self.frame.select(pl.exclude("c0").cast(pl.Float64)).to_numpy()
            own = [table[at, self.names.index(name) - 1] for at, name in enumerate(rows)]
            kind = "similarity" if sum(own) / len(own) > table[table == table].mean() else "distance"
            yield Guess(f"a {kind} matrix", options=("--dialect", f"{kind}-matrix"))

    def survey(self) -> Iterator[Guess]:
        """Questions as names of columns, which differ in an anchor and in two options that are the cells."""
        asked = [at for at, name in enumerate(self.names) if len(name.split()) > 3]
        words = [re.findall(r"\w+|\W+", self.names[at]) for at in asked]
        if len(asked) < 2 or len({len(own) for own in words}) > 1:
            return
        places = {at: own for at, own in enumerate(zip(*words, strict=True)) if len(set(own)) > 1}
        shown = {
            place: any(word in self.values[at] for at, word in zip(asked, own, strict=True))
            for place, own in places.items()
        }
        if sorted(shown.values()) == [False, True, True]:
            roles = {place: "{option}" if options else "{anchor}" for place, options in shown.items()}
            text = "".join(roles.get(place, word) for place, word in enumerate(words[0]))
            yield Guess("a survey with a column per question", options=("--wide", text))
