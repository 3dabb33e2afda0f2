"""Sentences about dimensions one can name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearfar._tools.text import count, display_names, percent

if TYPE_CHECKING:
    from nearfar.evaluate.dimensions import Dimension, Dimensions


def dimensions_found(result: Dimensions) -> str:
    """How many dimensions come back, and what is said of the others."""
    found, of = len(result.found), len(result.dimensions)
    tested = f"from another random start and from both halves of the {result.halved_by} (r\xa0>\xa00.8)"
    if not found:
        none = f"None of {count(of, 'dimension')} comes back"
        return f"{none} {tested}: collect more answers before naming any."
    others = " The others are not shown." if of > found else ""
    return f"{found} of {count(of, 'dimension')} {'comes' if found == 1 else 'come'} back {tested}.{others}"


def dimension_facts(each: Dimension) -> str:
    """Share, use, and what else it goes with."""
    facts = [f"{percent(each.share, 0)} of the similarity", count(each.objects, "object")]
    facts.append(f"r = {each.starts:.2f} from another start, {each.halves:.2f} from halves")
    # below 0.3 even the highest of several properties explains less than a tenth
    if abs(each.correlation) >= 0.3:
        facts.append(f"correlates most with {each.goes_with} (r = {each.correlation:.2f})")
    return "; ".join(facts)


def dimensions_text(result: Dimensions) -> str:
    """The dimensions that come back, a paragraph each."""
    lines = [dimensions_found(result)]
    for each in result.found:
        lines += ["", f"{each.number}. {each.title}" if each.name else f"{each.number}."]
        lines[-1] += f"  {', '.join(display_names(list(each.top)))}"
        lines.append(f"   {dimension_facts(each)}")
    return "\n".join(lines).replace("\xa0", " ")
