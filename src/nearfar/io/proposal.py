"""What an unknown table looks like, from the names of its columns and their values, and the options that would read it.

It is certain where every role has one column, which is called so, and no other column could have it. All else is only proposed.
"""

from __future__ import annotations

import re
import shlex
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, starmap
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from nearfar._tools.text import listed
from nearfar.errors import ColumnsError, NearfarError
from nearfar.io.column_words import (
    AGAINST,
    ALIKE,
    BESIDE,
    CODE,
    LESS,
    LIST,
    PERSON,
    PLACES,
    TIME,
    TURNED,
    VALUED,
    WEAK,
    WORDS,
    has,
    sides,
    words,
)
from nearfar.io.dialects import HEADINGS, QUALTRICS
from nearfar.io.naming import NUMBER
from nearfar.io.sources import Source
from nearfar.io.suspicions import slow_seconds
from nearfar.io.table import NOTHING, Table, lower_headers, plain, with_point

SAMPLE_ROWS = 500
FEWEST_ROWS = 10  # in which a column that always equals one of two others cannot do so by chance
MOSTLY = 0.9  # of the rows, where the others may be practice, skips or slips

CHOICE = "the one of {option} that is more similar to {anchor} is in {choice}"
KINDS = (  # what the columns mean; by role what their cells hold, and how many columns there are
    (
        "{best} is the most and {worst} the least similar to {anchor} of {option}",
        "best:pick worst:pick option:shown:3+ anchor:object",
    ),
    (CHOICE, "choice:pick option:shown:2 anchor:object"),
    (
        "the one of {option} that is less similar to {anchor} is in {far}",
        "far:pick option:shown:2 anchor:object",
    ),
    (CHOICE, "choice:pick:1+ option:shown:3+ anchor:object"),
    ("{central} is between the others of {option}", "central:pick option:shown:3"),
    ("{odd} is the odd one of {option}", "odd:pick option:shown:3"),
    ("{near} is more similar to {anchor} than {far}", "near:object far:object anchor:object"),
    ("{rank} go from the most to the least similar to {anchor}", "rank:object:2+ anchor:object"),
    ("{rank} lists objects, the most similar to {anchor} first", "rank:list anchor:text"),
    ("{rank} is 1 for the {object} most similar to {anchor}", "rank:number object:object anchor:object"),
    ("each {object} is similar to those with the same {pile}", "object:text pile:text"),
    ("{similarity} is high where {object} are similar", "similarity:number object:object:2"),
    ("{distance} is high where {object} differ", "distance:number object:object:2"),
)


class Guess(NamedTuple):
    """What a table means, whether that is certain, the columns of roles, other options."""

    means: str
    sure: bool
    roles: Mapping[str, list[int]] = {}
    options: Mapping[str, Any] = {}


def proposal(table: Table, error: ColumnsError, given: Sequence[str]) -> ColumnsError:
    """The error about a table whose columns are not known, with the command that would read it, and options ``given`` before."""
    titles: list[str] = []
    for lower in chain([table], lower_headers(table)):
        if 2 * sum(map(bool, lower.header.cells)) > max(5, len(lower.header)):  # a title has fewer cells
            table = lower
            break
        titles += lower.header.cells
    sample = _Sample(table, titles)
    fitting = [held for guess in sample.guesses() if (held := sample.held(guess))]
    certain = [guess for guess in fitting if guess.sure]
    sure, path = len(certain) == 1, table.source.path or table.name
    for guess in certain or fitting:
        options = [word for name, text in guess.options.items() for word in (f"--{name}", text)]
        options += sample.named(guess.roles)
        file = f"./{path}" if path[0] == "-" < path else path
        command = shlex.join(["nearfar", "check", file, *given, *options])
        looks = f"are not known, but it {'looks as if' if sure else 'may be that'} {guess.means}"
        said = f"{table.name}: the columns {looks}; try\n  {command}\n(see docs/files.md)"
        return ColumnsError(said, options=options * (sure and path != "-"), means=guess.means)
    return error


class _Sample:
    """Some rows of a table, as text, and the names of its columns."""

    def __init__(self, table: Table, titles: Sequence[str] = ()) -> None:
        self.header, self.all = table.header.cells, range(len(table.header))
        self.frame = table.first_texts(SAMPLE_ROWS).select(with_point(pl.all()))
        self.names, self.body = list(map(str.strip, self.header)), self.frame
        if any(str(cell).startswith(QUALTRICS) for cell in chain(*self.frame[1:2].iter_rows())):
            self.names, self.body = [cell or "" for cell in self.frame.row(0)], self.frame[2:]
        self.words = [words(name) for name in self.names]
        self._look()
        named = "|".join(WORDS[role] for role in ("anchor", "option", "choice", "odd"))
        coded = [at for at in self.numbers if has(named, self.words[at])]
        people = [at for at in self.all if re.fullmatch(PERSON, words(self.header[at]))]
        told = [at for at in self.filled if at not in (*self.numbers, *people)]
        self.objects = self._alike(told) or self._alike(coded)
        if self.objects:  # rows without any are of other screens, where a key or a text says something else
            self.body = self.body.filter(~pl.all_horizontal(pl.nth(self.objects).is_null()))
            self._look()
        asked = (text for text in chain(titles, self.names, *self.values) if len(text.split()) > 3)
        self.asks_less = any(has(LESS, words(text)) for text in asked)
        names = set[str]().union(*(self.values[at] for at in self.objects))
        cuts = {
            at: {one for cell in self.values[at] for one in re.split(" *[;|,] *", cell)} for at in self.filled
        }
        # columns with several picks in a cell
        self.lists = [at for at in self.filled if cuts[at] != self.values[at] and cuts[at] <= names]
        self.objects = [at for at in self.objects if at not in self.lists]
        self.is_bare = table.may_be_bare and any(self.names[at] in names for at in self.objects)
        people = [at for at in people if at in self.filled]
        people = [at for at in people if len(self.values[at]) > 1] or people  # Gorilla has BLIND for all
        self.people = sorted(people, key=lambda at: self.body[f"c{at}"].null_count())
        picks, names = list(filter(self.shown, self.objects)), {plain(self.names[at]) for at in self.objects}
        self.coded = self.whose(CODE)  # sides or small numbers
        codes = [at for at in self.filled if at in self.coded or set(map(plain, self.values[at])) <= names]
        codes += self.lists
        chosen = "|".join(WORDS[role] for role in ("choice", "odd", "central", "far"))
        picks += [at for at in codes if has(chosen, self.words[at])]
        self.holding = {"object": self.objects, "pick": picks, "number": self.numbers}
        self.holding["list"] = self.whose(LIST)

    def _look(self) -> None:
        """The values of each column, and which columns have any, or numbers only."""
        values = [set(column.drop_nulls().to_list()) for column in self.body]
        self.values = [{cell for cell in own if cell.lower() not in (*NOTHING, *HEADINGS)} for own in values]
        self.filled = [at for at, own in enumerate(self.values) if own]
        self.numbers = self.whose(NUMBER)

    def whose(self, cell: re.Pattern[str]) -> list[int]:
        """The columns whose cells are all like that."""
        return [at for at in self.filled if all(map(cell.fullmatch, self.values[at]))]

    def _alike(self, among: Sequence[int]) -> list[int]:
        """The columns that hold the same names as another one."""
        pairs = {(a, b): (self.values[a], self.values[b]) for a in among for b in among}
        shared = {pair for pair, (a, b) in pairs.items() if 2 * len(a & b) >= min(len(a), len(b))}
        groups = ([b for b in among if (a, b) in shared] for a in among)
        return max((group for group in groups if len(group) > 1), key=len, default=[])

    def guesses(self) -> Iterator[Guess]:
        """What the table may be."""
        yield from self.matrix()
        yield from self.survey()
        yield from filter(None, starmap(self.fit, KINDS))
        if self.is_bare and len(self.all) == 3:
            yield Guess(
                "column 2 is more similar to column 1 than column 3",
                False,
                {"anchor": [0], "near": [1], "far": [2]},
            )
        rest = [at for at in self.all if at not in self.people[:1]]
        numbered = len({re.sub(r"\d+", "", self.names[at]) for at in rest}) == 1  # questions, not objects
        meant = numbered or any(self.called(role, at) for role in WORDS for at in rest)
        piles = self.whose(re.compile("[0-9]+")) + self.objects * (not meant)
        if 2 < len(rest) < len(self.all) and set(rest) <= set(piles):
            means = "objects with the same cell in a row are in one pile"
            yield Guess(means, False, {}, {"dialect": "pile-sort"})

    def held(self, guess: Guess) -> Guess | None:
        """The same with who answered, and how fast; None where these options do not read nearly all rows."""
        from nearfar.io.reading import read_answers  # which asks for proposals itself

        free = [at for at in self.filled if not any(at in own for own in guess.roles.values())]
        rows = self.body.height * (not guess.options)  # each of which has its own "id"
        people = [at for at in self.people if at in free]
        people = [at for at in people if words(self.header[at]) != "id" or len(self.values[at]) != rows]
        agree = len({self.body.n_unique([*{f"c{at}", f"c{people[0]}"}]) for at in people}) < 2
        roles = {**guess.roles, **({"participant": people[:1]} if people else {})}
        roles |= {} if guess.options else self.time(free)
        columns = {role: at[0] if len(at) == 1 else at for role, at in roles.items()}
        names = [name if self.header.count(name) == 1 else f"c{at}" for at, name in enumerate(self.header)]
        renamed = self.frame.rename(dict(zip(self.frame.columns, names, strict=True)))
        source = Source("sample", "frame", renamed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = read_answers(source, columns=columns, on_bad="drop", **guess.options)
        except NearfarError:
            return None
        if not len(result.triplets) or len(result.rejected) > (1 - MOSTLY) * result.sources[0].rows:
            return None
        who = result.triplets.participant
        alone = "object" not in roles  # else what a person said is compared
        sure = guess.sure and agree and (alone if who is None else "" not in who.names)
        return None if who is None and "pile" in roles else guess._replace(roles=roles, sure=sure)

    def time(self, among: Sequence[int]) -> dict[str, list[int]]:
        """The column of response times, as seconds or milliseconds."""
        for at in among:
            name = words(self.header[at])
            if at in self.numbers and has(TIME, name):
                seconds = self.body[f"c{at}"].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
                slow = slow_seconds(seconds) and not has("s|sec|seconds|sekunden", name)
                return {"milliseconds" if slow or has("ms|msec|milliseconds", name) else "seconds": [at]}
        return {}

    def named(self, roles: Mapping[str, Sequence[int]]) -> Iterator[str]:
        """The options that name the columns of roles, by number where names are not there or not distinct."""
        for role, at in [(role, at) for role, own in sorted(roles.items()) for at in own]:
            name = self.header[at]
            is_one = name.isprintable() and self.header.count(name) == 1 and not self.is_bare
            yield from ("--column", f"{role}={name if name and is_one else at + 1}")

    # ---------------------------------------------------------------- by the roles of columns

    def called(self, role: str, at: int) -> bool:
        """Whether the name of a column is that of a role, and does not say the contrary."""
        name = self.words[at]
        against = len(re.findall(rf"\b({AGAINST})\b", name)) * (role not in ("anchor", "option", "object"))
        two_ends = role == "distance" and has(ALIKE, name)  # of a scale
        return has(WORDS[role], name) > has(BESIDE, name) and against == (role in TURNED) and not two_ends

    def shown(self, pick: int) -> list[int]:
        """The columns of which one holds the same object as ``pick`` in nearly every row."""
        others = [at for at in self.objects if at != pick]
        picked = self.body[f"c{pick}"]
        hits = {at: (self.body[f"c{at}"] == picked).fill_null(False).to_numpy() for at in others}
        seen, some = np.zeros(len(self.body), bool), []
        for at in sorted(others, key=lambda at: -hits[at].sum()):
            if (hits[at] & ~seen).any():
                seen |= hits[at]
                some.append(at)
        return some if len(some) > 1 and seen.sum() >= MOSTLY * picked.count() else []

    def options(self, picks: Sequence[int], *, anchored: bool) -> list[int]:
        """What columns pick from; where there is an anchor too, names tell which of the columns are options."""
        if set(picks) <= set(self.objects):
            return sorted({at for pick in picks for at in self.shown(pick)})
        called = [at for at in self.objects if self.called("option", at)]
        rest = [at for at in self.objects if not self.called("anchor", at)]
        return called or (rest if not anchored or len(rest) < len(self.objects) else [])

    def fit(self, means: str, needed: str) -> Guess | None:
        """The columns of each role, if the table can be of a kind: those called so, or those that are left."""
        roles: dict[str, list[int]] = {}
        sure = len(self.body) >= FEWEST_ROWS and "far:pick" not in needed
        for role, what, least, more in re.findall(r"(\w+):(\w+):?(\d?)(\+?)", needed):
            used = list(chain(*roles.values()))
            is_shown = what == "shown"
            shown = self.options(used, anchored="anchor" in needed) if is_shown else []
            holding = shown if is_shown else self.holding.get(what, self.filled)
            free = sorted((at for at in holding if at not in used), key=lambda at: at in self.numbers)
            own = free if is_shown else [at for at in free if self.called(role, at)]
            if not own and role in WEAK:
                wrong, sure = BESIDE if role in VALUED else f"{BESIDE}|{AGAINST}", False
                own = [at for at in free if has(WEAK[role], self.words[at]) > has(wrong, self.words[at])]
                own = [at for at in own if role not in VALUED or self.high_end(at) == role]
            if not own and what == "object" and role in ("anchor", "object"):
                other = "anchor" if role == "object" else "option"
                own = [at for at in free if not self.called(other, at)] or free
            if not own and role == "anchor":  # of objects that are never options
                own = [at for at in self.filled if self.called(role, at)]
            if len(own) < (fewest := int(least or 1)):
                return None
            sure = sure and (bool(more) or len(own) == fewest)
            own = own if more else own[:fewest]
            roles[role] = sorted(own, key=self.place if all(map(self.place, own)) else None)
        used = list(chain(*roles.values()))
        left, known = set(self.objects) - set(used), {*self.objects, *self.lists}
        coded = "pick" in needed and not set(used) <= known
        asked = [self.words[at] for role in ("anchor", "option", "object") for at in roles.get(role, ())]
        less = self.asks_less or any(has(LESS, name) for name in asked)  # then near may be far
        anchored = "anchor" in needed or not any(self.called("anchor", at) for at in left)
        if left and (coded or "number" in needed or not anchored):
            return None
        sure = sure and not left and not any(has(BESIDE, self.words[at]) for at in used)
        sure = sure and not (less and "anchor" in roles and "worst" not in roles)
        called = [f"column {at + 1}" if self.is_bare else repr(name) for at, name in enumerate(self.names)]
        names = {role: listed([called[at] for at in own]) for role, own in roles.items()}
        if roles.keys() & VALUED and not sure:
            means += " (if high numbers mean the contrary, exchange similarity and distance)"
        guess = Guess(means.format(**names), sure, roles)
        return self.by_place(guess, next(iter(roles))) if coded else guess

    def high_end(self, at: int) -> str:
        """What a high number means by the name of its column, such as "rating (1 = different, 7 = similar)"."""
        _, *ends = re.split(r"(\d+)", self.words[at])
        means = {has(LESS, text): int(number) for number, text in zip(ends[::2], ends[1::2], strict=True)}
        is_distance = means[True] > means[False] if len(means) > 1 else has(LESS, self.words[at])
        return "distance" if is_distance else "similarity"

    def by_place(self, guess: Guess, role: str) -> Guess | None:
        """A choice by side or by number, which only the order of the options explains."""
        choice, options = guess.roles[role][0], guess.roles["option"]
        cells, from_0, how, known = self.values[choice], "", "left or right", True
        if any(map(str.isdigit, cells)):
            from_0 = "_from_0" * ("0" in cells)
            how, known = f"by its number from {int(not from_0)}", not from_0
            if cells <= {"0", "1"} and has("|".join(PLACES) + r"|options? \d+", self.words[choice]):
                return None  # 1 where that one was chosen
        elif choice not in self.coded:
            how = "by the name of its column"
        else:
            known = all(side >= 0 for side in sides([self.names[at] for at in options]))
        roles = {each + from_0 * (each == role): own for each, own in guess.roles.items()}
        return Guess(f"{guess.means} ({how})", guess.sure and known and all(map(self.place, options)), roles)

    def place(self, at: int) -> int:
        """The place of a column among others that its name tells, by a number, a letter or a side; 0 where it tells none."""
        numbers = re.findall(r"\d+", self.words[at])
        sides = (place for place, own in enumerate(PLACES, 1) if has(own, self.words[at]))
        return int(numbers[-1]) if numbers else next(sides, 0)

    # ---------------------------------------------------------------- with objects or questions as columns

    def matrix(self) -> Iterator[Guess]:
        """The names of the rows are those of the columns; what is largest on the diagonal is a similarity."""
        numbered = {at for at in self.all if NUMBER.fullmatch(self.names[at])}
        for label in set(self.filled) - set(self.people) - numbered:
            numbers = [at for at in self.all if at in self.numbers or at not in self.filled]
            items = {self.names[at]: f"c{at}" for at in numbers if self.names[at] in self.values[label]}
            beside = {*self.people[:1], label}
            # of a triangle without its diagonal one object is no row, and one no column
            rows, columns = len(self.values[label]), len(self.all) - len(beside)
            if len(items) < max(3, rows, columns) - (rows == columns):
                continue
            table = self.body.select(pl.col(list(items.values())).cast(pl.Float64, strict=False)).to_numpy()
            is_own = self.body[f"c{label}"].to_numpy()[:, None] == np.array(list(items), dtype=object)
            own, rest = (table[cells & np.isfinite(table)] for cells in (is_own, ~is_own))
            low, high = (len(own) and len(rest) and all(sign * own.max() < sign * rest) for sign in (1, -1))
            # else it may stand for nothing, in counts say
            low = low and rest.min() - own.max() < np.ptp(rest)
            kind, means = ("similarity", "similar") if high else ("distance", "different")
            means = f"it is a matrix, where high numbers are {means} objects"
            if not low and not high:
                means += " (its diagonal does not tell; if not so, exchange similarity and distance)"
            yield Guess(means, bool(low or high), {}, {"dialect": f"{kind}-matrix"})

    def survey(self) -> Iterator[Guess]:
        """Questions as names of columns, which differ in an anchor and in options that are the cells."""
        long = [at for at in self.filled if len(self.names[at].split()) > 3]
        named = {at: [has(re.escape(cell), self.names[at]) for cell in self.values[at]] for at in long}
        told = [at for at in long if 2 * sum(named[at]) > len(named[at])]
        whole = sorted(
            set[str]().union(*(self.values[at] for at in told)), key=len, reverse=True
        )  # such as "red fox"
        part = "|".join([*(rf"(?<!\w){re.escape(name)}(?!\w)" for name in whole), r"\w+", r"\W+?"])
        cut = {at: re.findall(part, self.names[at], re.I) for at in (told if len(told) > 1 else long)}
        usual = Counter(map(len, cut.values())).most_common(1)
        asked = {at: own for at, own in cut.items() if len(own) == usual[0][0]}
        first = next(iter(asked.values()), [])
        columns = enumerate(zip(*asked.values(), strict=True))
        cells = [{cell.lower() for cell in self.values[at]} for at in asked]
        said = set[str]().union(*cells)
        number = re.compile(r"\d+|(?=.*\d)\w+")  # of a question, such as Q007
        texts: dict[int, str] = {}
        for place, own in ((place, own) for place, own in columns if len(set(own)) > 1):
            is_number = all(map(number.fullmatch, own)) and said.isdisjoint(map(str.lower, own))
            is_option = any(word.lower() in held for word, held in zip(own, cells, strict=True))
            texts[place] = "*" if is_number else "{option}" if is_option else "{anchor}"
        odd = has(r"odd\w*|outlier|belong\w*|intruso?", " ".join(first))
        if odd and len(texts) == list(texts.values()).count("*") + 3:
            texts = {place: text.replace("anchor", "option") for place, text in texts.items()}
        anchors = [place for place, text in texts.items() if text == "{anchor}"]
        shown = list(texts.values()).count("{option}")
        coded = (len(anchors), shown) == (3, 0)
        if not coded and (len(anchors), min(shown, 3)) not in ((1, 2), (1, 3), (0, 3)):
            return
        texts |= dict.fromkeys(anchors[1:], "{option}")
        text = " ".join("".join(texts.get(place, word) for place, word in enumerate(first)).split())
        if anchors and has(LESS, words(text)):  # then each cell is the one that is less similar
            return
        option = "option that is more similar to the anchor" if anchors else "odd one"
        meant = words(text)
        sure = has(ALIKE, meant) > has(AGAINST, meant) if anchors else has(WORDS["odd"], meant)
        means = f"each column is a question, and each cell the {option}"
        yield Guess(means, sure and not coded, {}, {"wide": text})
