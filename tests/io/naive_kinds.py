"""What rankings, sorts, ratings and surveys say, straight from their definitions: by the csv module and loops.

Every function gives (participant, anchor, near, far) of each triplet, and the lines of rows (or cells) that are rejected.
"""

import csv
import re
from collections import defaultdict
from itertools import combinations, permutations

NOTHING = ("", "na", "nan", "none", "null")


def rows_of(path, mark=","):
    """(line, cells by name) of every row that is not blank."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file, delimiter=mark)
        header = next(reader)
        return [
            (
                reader.line_num,
                {
                    name: "" if cell in ("NA", "NaN") else cell
                    for name, cell in zip(header, cells, strict=True)
                },
            )
            for cells in reader
            if any(cells)
        ], header


def ranking(path, who="participant"):
    said, rejected = [], []
    for line, row in rows_of(path)[0]:
        ranks = [row[name] for name in row if name.startswith("rank_") and row[name]]
        if len(ranks) < 2:
            continue
        if not all(name.strip() for name in (row["anchor"], *ranks)) or len(
            {row["anchor"], *ranks}
        ) < 1 + len(ranks):
            rejected.append(line)
            continue
        said += [(row[who], row["anchor"], near, far) for near, far in combinations(ranks, 2)]
    return said, rejected


def ranking_cells(path, who="Subject"):
    """One cell per ranking. Of its objects, blank ones and those that stand there twice are rejected, all where the anchor is blank."""
    said, rejected = [], []
    for line, row in rows_of(path)[0]:
        text = row["Order"].strip()
        text = text.strip("[]").replace('"', "").strip() if text.startswith("[") else text
        if text.lower() in NOTHING:
            continue
        mark = ">" if ">" in text else "[;|]" if re.search("[;|]", text) else ","
        objects, anchor = [name.strip() for name in re.split(mark, text)], row["Target"]
        itself = [name == anchor and bool(name) for name in objects]
        bad = [not anchor.strip() or not name or objects.count(name) > 1 for name in objects]
        wrong = [faulty and not same for faulty, same in zip(bad, itself, strict=True)]
        rejected += [line for refused in wrong if refused]
        left = [name for name, *no in zip(objects, wrong, itself, strict=True) if not any(no)]
        said += [(row[who], anchor, near, far) for near, far in combinations(left, 2)]
    return said, rejected


def best_worst(path, who="participant"):
    said, rejected = [], []
    for line, row in rows_of(path)[0]:
        options = [row[name] for name in row if name.startswith("option_")]
        best, worst = row["best"], row["worst"]
        if not best and not worst:
            continue
        shown = {row["anchor"], *options}
        if (
            not all(name.strip() for name in shown)
            or len(shown) < 5
            or best not in options
            or worst not in options
            or best == worst
        ):
            rejected.append(line)
            continue
        others = [one for one in options if one not in (best, worst)]
        said += [(row[who], row["anchor"], best, one) for one in (*others, worst)]
        said += [(row[who], row["anchor"], one, worst) for one in others]
    return said, rejected


def _sorted(cells):
    """From (participant, object, pile)."""
    sorts = defaultdict(dict)
    for who, item, pile in cells:
        sorts[who][item] = pile
    return [
        (who, anchor, near, far)
        for who, piles in sorts.items()
        for anchor in piles
        for near in piles
        for far in piles
        if anchor != near and piles[anchor] == piles[near] and piles[anchor] != piles[far]
    ]


def piles(path, who="participant", item="object", pile="pile"):
    cells, rejected = [], []
    for line, row in rows_of(path)[0]:
        if row[pile].strip().lower() in NOTHING:
            continue
        if row[item].strip():
            cells.append((row[who], row[item], row[pile].strip()))
        else:
            rejected.append(line)
    return _sorted(cells), rejected


def piles_wide(path, who):
    rows, header = rows_of(path)
    cells = [(row[who], item, row[item]) for _, row in rows for item in header if item != who and row[item]]
    return _sorted(cells), []


def _compared(cells, sign):
    """From (participant, one, other, number); less is nearer, times the sign."""
    rated = defaultdict(lambda: defaultdict(list))
    for who, one, other, number in cells:
        for anchor, item in ((one, other), (other, one)):
            rated[who, anchor][item].append(sign * number)
    said = []
    for (who, anchor), lists in rated.items():
        means = {item: sum(values) / len(values) for item, values in lists.items()}
        said += [(who, anchor, a, b) for a in means for b in means if means[a] < means[b]]
    return said


def ratings(path, names, sign, mark=","):
    who, one, other, value = names
    cells, rejected = [], []
    for line, row in rows_of(path, mark)[0]:
        text = row[value].strip()
        if text.lower() in NOTHING or (row[one] and row[one] == row[other]):
            continue
        text = re.sub(r"^(-?\d*),(\d+)$", r"\1.\2", text)
        if row[one].strip() and row[other].strip() and re.fullmatch(r"-?(\d+\.?\d*|\.\d+)", text):
            cells.append((row[who] if who else "", row[one], row[other], float(text)))
        else:
            rejected.append(line)
    return _compared(cells, sign), rejected


def matrix(path, sign, who=None):
    rows, header = rows_of(path)
    first = next(name for name in header if name != who)
    cells = [
        (row[who] if who else "", row[first], item, float(row[item]))
        for _, row in rows
        for item in header
        if item not in (who, first, row[first]) and row[item]
    ]
    return _compared(cells, sign), []


def grid(path, who, asked, anchored, skip=0):
    """``asked`` : column -> the two objects of a rating, or the anchor and an object with its rank."""
    cells = [
        (row[who], *two, (1 if anchored else -1) * float(row[column]))
        for _, row in rows_of(path)[0][skip:]
        for column, two in asked.items()
        if row[column]
    ]
    said = []
    for p, anchor in {(p, one) for p, *two, _ in cells for one in (two[:1] if anchored else two)}:
        near = [
            (value, other if one == anchor else one)
            for who, one, other, value in cells
            if who == p and anchor in ((one,) if anchored else (one, other))
        ]
        said += [(p, anchor, x, y) for (low, x), (high, y) in permutations(near, 2) if low < high]
    return said, []


def survey(path, who, asked, skip=0):
    """``asked`` : column -> (anchor, one, other)."""
    said = []
    for _, row in rows_of(path)[0][skip:]:
        for column, (anchor, *options) in asked.items():
            cell = row[column]
            if not cell:
                continue
            near = options[int(cell) - 1] if cell.isdigit() else cell
            said.append((row[who], anchor, near, next(one for one in options if one != near)))
    return said, []
