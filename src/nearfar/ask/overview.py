"""What a study will ask, in a few lines."""

from __future__ import annotations

import numpy as np

from nearfar.ask.objects import find_objects
from nearfar.ask.pool import make_pool
from nearfar.ask.study import Study
from nearfar.ask.texts import read_texts

__all__ = ["overview"]


def overview(study: Study) -> list[tuple[str, str]]:
    """(name, value) lines: objects, questions, booklets, people; objects that are never asked about are named."""
    read_texts(study)
    objects = find_objects(study)
    pool = make_pool(study, objects.names)
    for _ in objects.pictures():
        pass  # a picture that cannot be read is an error now rather than in front of people
    plan, people = study.questions, study.people
    shown = sum(file is not None for file in objects.files)
    asked = np.zeros(len(objects.names), dtype=bool)
    asked[pool.questions.array.ravel()] = True
    origins = {name: pool.origin.count(name) for name in dict.fromkeys(pool.origin)}
    each = people.aim * plan.n_new / len(pool)
    lines = [
        ("title", study.title),
        ("objects", f"{len(objects.names):,}, {shown:,} with a picture"),
        (
            "questions",
            f"{len(pool):,} of kind {study.kind}: "
            + ", ".join(f"{count:,} from {name}" for name, count in origins.items()),
        ),
        ("booklet", f"{plan.n_new} new, {plan.n_again} again, {plan.checks} checks"),
        ("people", f"{people.aim:,} from {people.recruit}, which gives {each:.1f} answers per question"),
    ]
    never = [name for name, there in zip(objects.names, asked, strict=True) if not there]
    if never:
        more = f" and {len(never) - 5:,} more" if len(never) > 5 else ""
        lines.append(("never asked about", ", ".join(never[:5]) + more))
    return lines
