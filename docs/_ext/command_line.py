"""The directive ``command-line``: every command of the program, with arguments and options, from the program itself."""

import re

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles


def plain(text):
    """Words of the terminal as Markdown that means the same."""
    return re.sub(r"([*_<|`\[\]{}$])", r"\\\1", re.sub(r"\s+", " ", text or "").strip())


def entries(params, ctx):
    """A definition list of arguments or options."""
    for param in params:
        names, words = param.get_help_record(ctx)
        if param.param_type_name == "argument":
            names = names.partition(" ")[0]
        names = re.sub(r"<(int|float) range>", "N", names)
        names = re.sub(r"<(int|float)>", "N", names).replace("<str>", "TEXT").replace("<path>", "DIR")
        yield f"`{names}`"
        yield f": {plain(words)}"
        yield ""


def describe(path, command):
    """Markdown about one command."""
    name = " ".join(("nearfar", *path))
    ctx = command.make_context(name, [], resilient_parsing=True)
    words = (command.help or "").replace("\b", "").strip()
    text, _, example = re.sub(r"Examples?:", "Example:", words).partition("Example:")
    yield from (f"{'##' if len(path) < 2 else '###'} {name}", "")
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        yield from (plain(paragraph), "")
    shown = [re.sub(r"\s+", " ", each).strip() for each in re.split(r"\s\|\s", example) if each.strip()]
    if shown:
        yield from ("```sh", *shown, "```", "")
    if hasattr(command, "commands"):
        return
    yield from ("```text", " ".join([name, *command.collect_usage_pieces(ctx)]), "```", "")
    params = [param for param in command.get_params(ctx) if param.get_help_record(ctx)]
    for kind in ("argument", "option"):
        yield from entries([param for param in params if param.param_type_name == kind], ctx)


class CommandLine(SphinxDirective):
    """Insert the description of every command."""

    def run(self):
        """Parse the Markdown that the program gives."""
        from docutils import nodes

        from nearfar.cli._app import all_commands

        lines = [line for path, command in all_commands() if path for line in describe(path, command)]
        node = nodes.section(document=self.state.document)
        nested_parse_with_titles(self.state, StringList(lines, "command-line"), node, self.content_offset)
        return node.children


def setup(app):
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
