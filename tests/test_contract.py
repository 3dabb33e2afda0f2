"""The public names and the command line are those that were written down: a change of them is seen in review."""

from contract import FILE, contract


def test_the_contract_is_that_of_the_code():
    written, current = FILE.read_text(encoding="utf-8").splitlines(), contract().splitlines()
    gone, new = (
        [line for line in written if line not in current],
        [line for line in current if line not in written],
    )
    assert (gone, new) == ([], []), "after a change that is meant, run  make contract"
    assert written == current, "after a change that is meant, run  make contract"


def test_the_contract_lists_names_parameters_and_options():
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert "nearfar.read_triplets" in {line.partition("(")[0] for line in lines}
    assert "    transform(self, answers)" in lines
    options = lines[lines.index("nearfar map") + 1 :]
    assert "    --model/-m" in options[: options.index("nearfar tree")]
    assert len(lines) > 400
