"""Formulas as MathML, which browsers show by themselves: no script, no fonts, no network."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def inline(translator, node):
    """Write a formula inside a line."""
    translator.body.append(convert(node.astext()))
    raise SkipNode


def block(translator, node):
    """Write a formula on lines of its own, one for each ``\\\\`` outside of an environment."""
    text = node.astext().strip()
    lines = [text] if r"\begin" in text else text.split(r"\\")
    formulas = "".join(convert(line.strip(), display="block") for line in lines)
    translator.body.append(f'<div class="math-block">{formulas}</div>')
    raise SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
