"""The words by which names of columns tell what they hold, in English, German, French and Spanish, without accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

SIDES = (
    ("left", "l", "arrowleft", "leftarrow", "links", "gauche", "izquierda"),
    ("right", "r", "arrowright", "rightarrow", "rechts", "droite", "derecha"),
)
LEFT, RIGHT = r"left|link[es]\w*|gauche|izquierd[ao]", r"right|recht[es]\w*|droite?|derech[ao]"
# words of names that turn a meaning round, and those of columns beside the answers
LESS = (
    r"least|less|worst|far|farthe\w+|furthe\w+|dif\w*|dissi?e?m\w*|dist|distan\w*|abstand|un(chos|sel|pick|li|sim|rel|ae?hn)\w*|not|"
    r"non|never|los\w+|(reject|eliminat|discard|exclud|remov)\w*|negative|wenig\w*|nicht|verschied\w*|anders|"
    r"moins|menos|(e|a)l(oigne|ejad)\w*|lejan\w*|distint[ao]s?"
)
AGAINST = rf"{LESS}|odd\w*|outlier|other|intruso?"
BESIDE = r"correct\w*|expected|richtig\w*|acc\w*|bonne|buena|attendue?|esperad[ao]|prev\w*|next|fill\w*|distract\w*|practice|key(?! (resp|press))"
ALIKE = r"simil\w*|alike|like\w*|ae?hnlich\w*|close\w*|near\w*|proximity|same|identical|semblable|ressembl\w*|proche|parec\w*"
WORDS = {
    "anchor": r"anchor|target|ref|referen[cz]\w*|standard\w*|probe|cent(er|re)|head|query|compared|sample|cue|vergleich\w*|ziel\w*|cible|objetivo",
    "option": rf"{LEFT}|{RIGHT}|options?|altern\w*|first|second|third|one|two|[abc]",
    "near": rf"{ALIKE}|positive|chosen|winner",
    "far": AGAINST,
    "choice": rf"cho\w*|answers?|resp|responses?|sel\w+|pick\w*|click\w*|decision|winner|wahl|antwort|keys?|reponse|respuesta|ele(gid|cc)\w*|{ALIKE}",
    "odd": r"odd\w*|outlier|different|intruso?",
    "central": r"central|middle|between",
    "similarity": ALIKE,
    "distance": r"dif\w*|dissi?e?m\w*|dist|distan\w*|abstand|un(li|sim|ae?hn)\w*|verschied\w*",
    "rank": r"rank\w*|place|order|rang|platz|\d(st|nd|rd|th)",
    "object": r"objects?|items?|cards?|stim\w*|words?|pic\w*|images?|wort|karte|mot|objet|palabra|objeto",
    "pile": r"piles?|stapel|tas|monton",
    "best": r"best|most|nearest|closest",
    "worst": r"worst|least|farthest|furthest",
}
SCALE = r"rat(e|ing|ings)|scores?|wert|bewertung|urteil"
WEAK = {  # names that may be those of a role
    "similarity": rf"{ALIKE}|{SCALE}",
    "distance": rf"{ALIKE}|{SCALE}",
    "pile": r"(group|grupo|groupe|cluster)s?|[ck]ategor\w*",
    "odd": WORDS["choice"],
    "choice": r"\w+",
}
VALUED = {"similarity", "distance"}
TURNED = ("far", "odd", "distance", "worst")  # roles whose columns have a word of AGAINST in their name
WHO = (
    r"participants?|participante|particip|subj(ect)?|sujeto?|sub|person|worker|respond[ea]nt|user|prolific|e ?mail|correo|proband\w*|vp|annotator|rater|judge|"
    r"observer|versuchsperson|teilnehmer\w*|nutzername|who|case|(response|record|antwort) ?id|[pu]id|id"
)
PERSON = rf"(?=.*\b({WHO})\b)(({WHO}|response|antwort|public|private|add?resse?|electronico|name|pid|nr|no|code)( |$))+"
TIME = r"rt|rz|t(emps|iempo) de \w+|reaction ?time|response ?time|latency|reaktionszeit|antwortzeit"
PLACES = (rf"{LEFT}|a|first|one", rf"{RIGHT}|b|second|two", "c|third|three")
CODE = re.compile(rf"[0-3]|[{{\['\"]*({'|'.join((*SIDES[0], *SIDES[1]))})[}}\]'\"]*", re.IGNORECASE)
LIST = re.compile(".*[>;|].*")


def words(name: str) -> str:
    """The words of a name, without accents.

    >>> words("LeftItem"), words("img_left2"), words("Réponse (ms)"), words("2nd")
    ('left item', 'img left 2', 'reponse ms', '2nd')
    """
    letters = "".join(x for x in unicodedata.normalize("NFKD", name) if not unicodedata.combining(x))
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", letters)
    return " ".join(re.findall(r"\d+(?:st|nd|rd|th)|[^\W\d_]+|\d+", apart)).lower()


def has(pattern: str, name: str) -> bool:
    """Whether one of some words is among those of a name."""
    return re.search(rf"\b({pattern})\b", name, re.IGNORECASE) is not None


def sides(names: Sequence[str]) -> list[int]:
    """The side that each name of a column tells: 0 left, 1 right, or -1.

    >>> sides(["img_left", "Rechts", "option"])
    [0, 1, -1]
    """
    told = [(has(f"l|{LEFT}", words(name)), has(f"r|{RIGHT}", words(name))) for name in names]
    return [int(right) if left != right else -1 for left, right in told]
