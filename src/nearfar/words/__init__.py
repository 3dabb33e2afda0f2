"""Every sentence about a result, once: the page, the terminal and the live view of ``nearfar ask`` call these.

A function is named after the record it speaks of, and gives a ``Finding``; with ``_text`` it gives what the terminal prints.
"""

from nearfar.words.finding import EMBEDDINGS, Finding, gloss, interval, share, whose
from nearfar.words.models import (
    accuracy,
    ceiling,
    ceiling_text,
    choice,
    comparison_text,
    curve,
    curve_text,
    dimension_text,
    enough,
    headline,
    plane,
    reliability,
    warned,
)
from nearfar.words.objects import clusters, collected, controls, left_out, stability, stability_text
from nearfar.words.participants import (
    group_comparison,
    group_pair,
    group_pair_text,
    participants,
    reason,
    subgroups,
)
from nearfar.words.plan import advice, advice_text

__all__ = [
    "EMBEDDINGS",
    "Finding",
    "accuracy",
    "advice",
    "advice_text",
    "ceiling",
    "ceiling_text",
    "choice",
    "clusters",
    "collected",
    "comparison_text",
    "controls",
    "curve",
    "curve_text",
    "dimension_text",
    "enough",
    "gloss",
    "group_comparison",
    "group_pair",
    "group_pair_text",
    "headline",
    "interval",
    "left_out",
    "participants",
    "plane",
    "reason",
    "reliability",
    "share",
    "stability",
    "stability_text",
    "subgroups",
    "warned",
    "whose",
]
