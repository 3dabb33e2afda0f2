"""Every block of Python in the README and the pages runs, in order, page by page."""

import ast
import shutil

import numpy as np
import pytest
from docs_tools import PAGES, ROOT, fences

import nearfar as nf

WITH_CODE = [page for page in PAGES if fences(page, "python")]
pytestmark = pytest.mark.filterwarnings("ignore::nearfar.errors.NearfarWarning")


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs(page, furnished, tmp_path, monkeypatch, capsys):
    folder = shutil.copytree(furnished[0], tmp_path / "here")
    monkeypatch.chdir(folder)
    answers = furnished[1]
    rng = np.random.default_rng(3)
    new = nf.design.random_questions([*answers.objects, "dragon fruit"], 60)
    names = {
        "nf": nf,
        "answers": answers,
        "questions": nf.design.random_questions(answers.objects, 20),
        "new_answers": nf.simulate.answers(new, points=rng.normal(size=(15, 2))).triplets,
        "X": rng.normal(size=(20, 3)),
    }
    for block in fences(page, "python"):
        exec(compile(block, str(page), "exec"), names)
        made = {
            node.id
            for node in ast.walk(ast.parse(block))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        assert all(names.get(name, page) is not None for name in made), (
            f"{page}: a block makes nothing of a name"
        )


def test_the_pages_have_code():
    assert len(WITH_CODE) > 10
