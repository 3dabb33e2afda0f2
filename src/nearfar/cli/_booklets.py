"""Questions and booklets as tables for survey tools, in one file or one for each person."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from nearfar.design import Booklets, Questions

PERSON = "{participant}"


def question_table(questions: Questions, images: Sequence[str] = ()) -> pl.DataFrame:
    """One row per question: anchor, one, other; a, b, c; or anchor and option_1, option_2 and so on.

    A file of another kind than "near" says so in a column of its own. Pictures follow, where there are any.
    """
    import polars as pl

    roles = ["a", "b", "c"] if questions.kind in ("odd", "central") else ["anchor", "one", "other"]
    if questions.kind == "grid":
        roles = ["anchor", *(f"option_{i}" for i in range(1, questions.array.shape[1]))]
    shown = list(zip(roles, questions.array.T, strict=True))
    columns: dict[str, Any] = {} if questions.kind == "near" else {"kind": [questions.kind] * len(questions)}
    columns |= {role: np.array(questions.objects, dtype=object)[rows] for role, rows in shown}
    if images:
        columns |= {f"{role}_image": np.array(images, dtype=object)[rows] for role, rows in shown}
    return pl.DataFrame({name: list(values) for name, values in columns.items()})


def booklet_table(booklets: Booklets, images: Sequence[str] = ()) -> pl.DataFrame:
    """The same with participant, place, question and role before it, and the right answer of check questions."""
    import polars as pl

    from nearfar.design.booklets import CHECK, ROLES

    front: dict[str, Any] = {"participant": booklets.participant, "place": booklets.place}
    front["question"] = [None if q < 0 else q + 1 for q in booklets.question.tolist()]
    front["role"] = [ROLES[role] for role in booklets.role.tolist()]
    table = pl.concat([pl.DataFrame(front), question_table(booklets.questions, images)], how="horizontal")
    if not (booklets.role == CHECK).any():
        return table
    names = booklets.questions.objects
    right = [None if x < 0 else names[x] for x in booklets.expected.tolist()]
    return table.with_columns(pl.Series("check", right, dtype=pl.String))


def write_plan(table: pl.DataFrame, output: str) -> int:
    """Write a plan to one file, or to one for each person where the name has {participant}; says how many."""
    from nearfar.errors import InputError
    from nearfar.io.table_writing import check_table_path, write_table

    check_table_path(output)
    if PERSON not in output:
        write_table(table, output)
        return 1
    if "participant" not in table.columns:
        wrong = f"{output!r} is one file for each person, but there are no lists for people"
        raise InputError(f"--output: {wrong}; add --people, or leave {PERSON} out")
    people = table["participant"].unique(maintain_order=True).to_list()
    width = len(str(len(people)))
    for person in people:
        target = Path(output.replace(PERSON, f"{person:0{width}d}"))
        target.parent.mkdir(parents=True, exist_ok=True)
        write_table(table.filter(table["participant"] == person), target)
    return len(people)
