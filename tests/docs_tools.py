"""What the documentation tells readers to type, found in its pages; and a folder in which it can be typed."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np

import nearfar as nf

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "VISION.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how").glob("*.md")),
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
]
SCRIPTS = sorted((ROOT / "examples").glob("*/*.py"))
PROGRAMS = ("nearfar", "make", "pip", "python", "caddy")
FENCE = re.compile(r"^```(.*?)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
# a word that stands for something else: NAME, COMMAND, tcp://HOST:PORT, an ellipsis, a choice of several
STANDS_FOR = re.compile(r"^[A-Z]+(=[A-Z]+)?$|HOST|\.\.\.|…|\|")


def fences(page, language):
    """The fenced blocks of a page in one language, in order."""
    return [body for name, body in FENCE.findall(page.read_text()) if name.strip() == language]


def commands(page):
    """Everything on a page that a reader could type into a terminal: lines of blocks, and words in backticks."""
    text = page.read_text()
    ticks = "``" if page.suffix == ".py" else "`"
    if page.suffix == ".py":
        text = re.sub(r"\n# ", " ", text)
        blocks = ""
    else:
        blocks = "\n".join(body for name, body in FENCE.findall(text) if name.strip() in ("", "sh"))
        blocks += "\n".join(re.findall(r"^    \S.*$", text, flags=re.MULTILINE))  # recipes
        text = FENCE.sub("", text)
    lines = [line.strip().removeprefix("$ ") for line in blocks.splitlines()]
    inline = re.findall(rf"(?<!`){ticks}([^`]+?){ticks}(?!`)", text, flags=re.DOTALL)
    typed = []
    for line in [*lines, *(re.sub(r"\s+", " ", each) for each in inline)]:
        if not line.startswith(tuple(f"{name} " for name in PROGRAMS)) or "=" in line.split()[0]:
            continue
        try:
            words = shlex.split(line, comments=True)
        except ValueError:  # prose with an apostrophe
            continue
        if len(words) > 1 and not any(STANDS_FOR.search(word) for word in words):
            typed.append(tuple(words))
    return typed


FOUND = sorted({words for page in [*PAGES, *SCRIPTS] for words in commands(page)})
"""Every command of the documentation, once."""
NOT_RUN = {
    "make test-lowest": "an environment of its own, and all tests in it: half an hour; the workflow test does it",
    "make test-newest": "likewise",
    "make dist": "eight environments, and all tests in one of them; the workflow release does it",
    "pip wheel --no-deps -w server/ .": "writes into the checkout; make dist builds the same wheel",
    "make workflows": "gets its tools from a network; the workflow test does it",
}
"""Commands that no test runs as they are written, and why; the pages that name them say so. Of ``make`` the recipes run, with a
stand-in for the program that installs, and of ``make dist`` the build and the look inside it."""


def answers_file(path, names, n_people=8, n_questions=120):
    """Answers of a few people about objects in the plane."""
    points = np.random.default_rng(0).normal(size=(len(names), 2))
    lists = nf.design.booklets(
        nf.design.random_questions(names, n_questions), people=n_people, each=4, again=0.05
    )
    given = nf.simulate.answers(lists, points=points, noise=0.2)
    seen = given.triplets
    rng = np.random.default_rng(1)
    answers = nf.Triplets(
        seen.anchor,
        seen.near,
        seen.far,
        seen.objects,
        participant=[f"p{number}" for number in lists.participant],
        seconds=rng.lognormal(0.5, 0.3, len(seen)).round(2),
        near_side=given.choice,
    )
    nf.write_triplets(answers, path)
    return answers


def furnish(folder):
    """Everything that the commands and the code of the documentation read."""
    from ask_tools import answer, arrive, places

    from nearfar.ask.prepare import open_study
    from nearfar.ask.study import read_study

    names = [path.strip() for path in (ROOT / "examples/study/fruit.txt").read_text().splitlines()][:14]
    answers = answers_file(folder / "answers.csv", names)
    nf.write_triplets(answers, folder / "responses.csv", dialect="salmon")
    nf.write_triplets(answers, folder / "triplets.csv", dialect="tripletTools")
    nf.write_triplets(answers, folder / "answers.parquet")
    (folder / "answers").mkdir()
    for part in range(2):
        answers_file(folder / "answers" / f"{part}.parquet", [f"object {x:02d}" for x in range(40)])
    _answered_lists(folder / "lists.csv", names)
    np.savez(folder / "rows.npz", triplets=answers.array, response=np.ones(len(answers), dtype=bool))
    (folder / "objects.txt").write_text("\n".join(names))
    (folder / "landmarks.txt").write_text("\n".join(names[:5]))
    listed = "\n".join(
        f"{name},{name},pictures/{name}.png,{'sweet' if i % 2 else 'sour'}" for i, name in enumerate(names)
    )
    (folder / "objects.csv").write_text(f"object,display_name,image,group\n{listed}\n")
    (folder / "dimensions.csv").write_text(f"number,name,top1,top2\n1,stone fruit,{names[0]},{names[1]}\n")
    points = np.random.default_rng(0).normal(size=(len(names), 2))  # those behind the answers
    rows = "\n".join(f"{name},{x},{y}" for name, (x, y) in zip(names, points, strict=True))
    for source in ("clip.csv", "words.csv", "lab.csv", "letters.csv"):
        (folder / source).write_text(f"object,x,y\n{rows}\n")
    fours = (np.random.default_rng(seed).permutation(names)[:4] for seed in range(200))
    (folder / "pairs.csv").write_text("\n".join(["a,b,c,d", *(",".join(four) for four in fours), ""]))
    (folder / "people.txt").write_text("p1\n")
    people = "\n".join(f"p{number},{'expert' if number < 5 else 'novice'}" for number in range(1, 9))
    for table in ("groups.csv", "people.csv"):
        (folder / table).write_text(f"participant,group\n{people}\n")
    _pictures(folder / "pictures", names)
    _pictures(folder / "photos", [f"photo {x}" for x in range(36)])
    for part in ("study.toml", "fruit.txt", "welcome.md", "consent.md"):
        shutil.copy(ROOT / "examples" / "study" / part, folder)
    samples = ROOT / "tests" / "io"
    for path in (*(samples / "files").iterdir(), *(samples / "kinds").iterdir()):
        shutil.copy(path, folder)
    ready = open_study(read_study(folder / "study.toml"), None)
    rng = np.random.default_rng(0)
    for token in ("1f2", "2aa", "3bb", "4cc", "5dd", "6ee"):
        arrive(ready, token, rng=rng)
        answer(ready, token, places(ready, token))
    ready.close()
    return answers


def _answered_lists(path, names):
    """Lists of ``nearfar plan`` that came back: everybody chose the option that is nearer in the alphabet."""
    lists = nf.design.booklets(nf.design.random_questions(names, 100), people=8, each=4)
    rows = ["participant,place,question,role,anchor,one,other,choice"]
    for person, place, shown in zip(
        lists.participant, lists.place, lists.questions.array.tolist(), strict=True
    ):
        anchor, one, other = (names[x] for x in shown)
        order = sorted(names)
        near = min((one, other), key=lambda name: abs(order.index(name) - order.index(anchor)))
        rows.append(f"{person},{place},{place},new,{anchor},{one},{other},{near}")
    path.write_text("\n".join(rows) + "\n")


def _pictures(folder, names):
    from PIL import Image

    folder.mkdir()
    for number, name in enumerate(names):
        Image.new("RGB", (24, 24), (7 * number, 120, 90)).save(folder / f"{name}.png")
