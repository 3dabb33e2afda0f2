"""``nearfar help``: what is too long for the help of an option."""

from __future__ import annotations

from typing import Literal

import typer

TEXTS = {
    "columns": """--column ROLE=NAME says what a column of the answers means, once per column, on any command that reads them.

anchor, near, far                   the triplet itself
anchor, option (twice), choice      which of two options is nearer to the anchor
anchor, option (twice), far         which of two options is farther from the anchor
anchor, option (3 or more), choice  which of a grid were picked as nearest, with ; between them or a choice each
option (3 times), odd or central    which of three is the odd one out, or the most central one
anchor, rank (2 or more)            a ranking, the nearest first; one rank: all in a cell, as fig > plum
anchor, object, rank                a ranking with a row per object, 1 for the nearest
anchor, option, best, worst         the nearest and the farthest of the options
object, pile                        a pile sort
object (twice), similarity          a rating of a pair; or distance
participant, statement              who answered; rows that a participant answered together
seconds or milliseconds             response time
near_side, answered_at              side at which near was shown; when it was answered
check                               marks check questions
rule                                how the question was chosen: random, or another word
group                               the group of the participant

NAME is the name of a column or its number from 1. A choice is the name of an option, a side, or the number of the
option from 1; choice_from_0, choice_from_1, choice_name and choice_side say which, and so for odd and central.

Example:  nearfar check answers.csv --column anchor=Q --column option=L --column option=R --column choice=Picked""",
}


def help(topic: Literal["columns"] = typer.Argument(help="columns: what --column takes.")) -> None:
    """Explain a topic: columns.

    Example:  nearfar help columns
    """
    typer.echo(TEXTS[topic])
