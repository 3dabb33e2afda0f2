"""Naive twins of the judge, written straight from the definitions."""

from collections import defaultdict
from itertools import combinations


def questions(rows):
    """(anchor, {one, other}) of every row (anchor, near, far)."""
    return [(a, frozenset((n, f))) for a, n, f in rows]


def lookup_accuracy(train, test):
    """Accuracy of a table of the training answers: the majority answer of a known question, else a tie."""
    votes = defaultdict(int)
    for anchor, near, far in train:
        votes[anchor, near, far] += 1
        votes[anchor, far, near] -= 1
    right = 0.0
    for anchor, near, far in test:
        lead = votes[anchor, near, far]
        right += 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0
    return right / len(test)


def trios_by_statement(rows, statements):
    seen = defaultdict(set)
    for row, statement in zip(rows, statements, strict=True):
        seen[statement].add(frozenset(row))
    return seen


def agreement_by_question(given):
    """Mean over repeated questions of the share of agreeing pairs of different people; ``given``: (question, said, person, statement)."""
    return _agreement(given, lambda one, other: one[2] != other[2], lambda one: one[0])


def agreement_within(given):
    """The same for pairs of one person in different statements; a question counts once for every person it was put to again."""

    def again(one, other):
        return one[2] == other[2] and one[3] != other[3]

    return _agreement(given, again, lambda one: (one[0], one[2]))


def _agreement(given, counts, unit):
    by_unit = defaultdict(list)
    for one, other in combinations(given, 2):
        if one[0] == other[0] and counts(one, other):
            by_unit[unit(one)].append(one[1] == other[1])
    if not by_unit:
        return None
    return sum(sum(pairs) / len(pairs) for pairs in by_unit.values()) / len(by_unit)


def margin(rows, anchor, one, other):
    """||x_a - x_other||^2 - ||x_a - x_one||^2, term by term."""
    to_one = sum((x - y) ** 2 for x, y in zip(rows[anchor], rows[one], strict=True))
    to_other = sum((x - y) ** 2 for x, y in zip(rows[anchor], rows[other], strict=True))
    return to_other - to_one
