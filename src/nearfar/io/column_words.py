"""The words by which names of columns tell what they hold, in English and German."""

from __future__ import annotations

import re
from itertools import chain

from nearfar.io.dialects import SIDES

# words of names that turn a meaning round, and those of columns beside the answers
LESS = (
    r"least|less|worst|far|farthe\w+|furthe\w+|diff\w*|dissim\w*|dist|distan\w*|abstand|un(chos|sel|pick|li|sim|rel|ähn)\w*|not|"
    r"non|never|los\w+|(reject|eliminat|discard|exclud|remov)\w*|negative|weniger\w*|nicht|verschied\w*|anders"
)
AGAINST = rf"{LESS}|odd\w*|outlier|other"
BESIDE = (
    r"correct\w*|expected|richtig\w*|acc\w*|prev\w*|next|fill\w*|distract\w*|practice|key(?! (resp|press))"
)
ALIKE = r"simil\w*|alike|like\w*|ähnlich\w*|close\w*|near\w*|proximity|same|identical"
WORDS = {
    "anchor": r"anchor|target|ref|referen[cz]\w*|standard\w*|probe|cent(er|re)|head|query|compared|sample|cue|vergleich\w*",
    "option": r"left|right|link[es]\w*|recht[es]\w*|options?|altern\w*|first|second|third|one|two|[abc]",
    "near": rf"{ALIKE}|positive|chosen|winner",
    "far": AGAINST,
    "choice": rf"cho\w*|answers?|resp|responses?|sel\w+|pick\w*|click\w*|decision|winner|wahl|antwort|keys?|{ALIKE}",
    "odd": r"odd\w*|outlier|different",
    "central": r"central|middle|between",
    "similarity": ALIKE,
    "distance": r"diff\w*|dissim\w*|dist|distan\w*|abstand|un(li|sim|ähn)\w*|verschied\w*",
    "rank": r"rank\w*|place|order|rang|platz|\d(st|nd|rd|th)",
    "object": r"objects?|items?|cards?|stim\w*|words?|pic\w*|images?|wort|karte",
    "pile": r"piles?|stapel",
    "best": r"best|most|nearest|closest",
    "worst": r"worst|least|farthest|furthest",
}
SCALE = r"rat(e|ing|ings)|scores?|wert|bewertung|urteil"
WEAK = {  # names that may be those of a role
    "similarity": rf"{ALIKE}|{SCALE}",
    "distance": rf"{ALIKE}|{SCALE}",
    "pile": r"groups?|clusters?|categor\w*",
    "odd": WORDS["choice"],
    "choice": r"\w+",
}
VALUED = {"similarity", "distance"}
TURNED = ("far", "odd", "distance", "worst")  # roles whose columns have a word of AGAINST in their name
WHO = (
    r"participants?|particip|subj(ect)?|sub|person|worker|respond[ea]nt|user|prolific|e ?mail|proband\w*|vp|annotator|rater|judge|"
    r"observer|versuchsperson|teilnehmer\w*|nutzername|who|case|(response|record|antwort) ?id|[pu]id|id"
)
PERSON = rf"(?=.*\b({WHO})\b)(({WHO}|response|antwort|public|private|address|name|pid|nr|no|code)( |$))+"
TIME = r"rt|rz|reaction ?time|response ?time|latency|reaktionszeit|antwortzeit"
PLACES = (r"left|link[es]\w*|a|first|one", r"right|recht[es]\w*|b|second|two", "c|third|three")
CODE = re.compile(rf"[0-3]|[{{\['\"]*({'|'.join(chain(*SIDES))})[}}\]'\"]*", re.IGNORECASE)
LIST = re.compile(".*[>;|].*")


def words(name: str) -> str:
    """The words of a name.

    >>> words("LeftItem"), words("img_left2"), words("RT (ms)"), words("2nd")
    ('left item', 'img left 2', 'rt ms', '2nd')
    """
    apart = re.sub(r"(?<=[a-zäöü])(?=[A-Z])", " ", name)
    return " ".join(re.findall(r"\d+(?:st|nd|rd|th)|[^\W\d_]+|\d+", apart)).lower()


def has(pattern: str, name: str) -> bool:
    """Whether one of some words is among those of a name."""
    return re.search(rf"\b({pattern})\b", name, re.IGNORECASE) is not None
