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


def pair_agreement(answers_by_question):
    """Mean over all pairs of answers to the same question of "they agree"; None without a pair."""
    agree = [one == other for given in answers_by_question.values() for one, other in combinations(given, 2)]
    return sum(agree) / len(agree) if agree else None
