"""Folds what people leave out or write in several ways when they search, in products' texts and in searches alike.

Of Latin, Greek and Cyrillic letters: case and accents (`camara` for `Câmara`, `dong` for `đồng`). Of all scripts: which
apostrophe or hyphen it is, and that there is one, but for those between two digits (`3-5`). Letters that other accents
would make of another letter stay: й, ї, ў, Thai and Hindi vowels, Hebrew points, Arabic letters, Japanese が.

What is folded is part of every search text. If it changes, all texts have to be written again.
"""

import re
import unicodedata

from storefront.catalogue import rules

# Characters whose marks are dropped: Latin, Greek, and forms of them such as ﬁ, ² and Ａ.
_FOLDED = (
    *(range(0xAA, 0x250), range(0x370, 0x400), range(0x1D00, 0x2000), range(0x2070, 0x20A0)),
    *(range(0x2C60, 0x2C80), range(0xA720, 0xA800), range(0xFB00, 0xFB07), range(0xFF10, 0xFF5B)),
)
_CYRILLIC = {"ё": "е", "ѐ": "е", "ѝ": "и"}
# Hyphens and dashes that join words or numbers, soft hyphens, the dot of Catalan's l·l. No em dash, which separates.
_HYPHENS = "\u00b7\u2010\u2011\u2012\u2013\u2043\u2212\ufe63\uff0d\u00ad\u058a\u05be"
_APOSTROPHES = "`\u00b4\u02b9\u02bb\u02bc\u02bd\u2018\u2019\u201b\u2032\uff07\u05f3"
# Quotation marks, inches, and the mark of Hebrew abbreviations.
_QUOTES = "\u201c\u201d\u201e\u2033\u05f4"
# Without a width: some browsers and programs write them between letters.
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
# First the character itself, which Python then searches for fast, and only then what stands before it.
_JOINERS = re.compile(r"['-](?:(?<![\d'-].)['-]*+|(?<=\d.)['-]*+(?!\d))")
_RUNS = re.compile("['-]+")
_ANY_JOINER = re.compile(f"[-'{_HYPHENS}{_APOSTROPHES}{_INVISIBLE}]+")


def _letters() -> dict[int, str]:
    found: dict[int, str] = {}
    for code in (each for block in _FOLDED for each in block):
        letter = chr(code).casefold()
        plain = "".join(each for each in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(each))
        # No symbols, such as ½, which would become several words.
        if plain != chr(code) and plain.isalnum():
            found[code] = plain
    return found


# Marks are the last: those that stand alone, and those of letters that are not one character with them.
_PLAIN = (
    str.maketrans(_CYRILLIC | rules.LATIN | {"ı": "i"})
    | dict.fromkeys(map(ord, _HYPHENS), "-")
    | dict.fromkeys(map(ord, _APOSTROPHES), "'")
    | dict.fromkeys(map(ord, _QUOTES), '"')
    | dict.fromkeys((*map(ord, _INVISIBLE), *range(0x300, 0x370)), "")
)
_PLAIN = _letters() | _PLAIN


def casefolded(text: str) -> str:
    """The text without differences of case, with its accents."""
    # Same result for ASCII, three times as fast.
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def has_nothing_to_fold(text: str) -> bool:
    """Returns True if a casefolded text is surely the same without accents, hyphens and apostrophes."""
    return text.isascii() and "-" not in text and "'" not in text and "`" not in text


def unaccented(text: str) -> str:
    """A casefolded text without accents, with one kind of hyphen and of apostrophe."""
    return text if text.isascii() and "`" not in text else text.translate(_PLAIN)


def unjoined(text: str) -> str:
    """An unaccented text without hyphens and apostrophes, but for those between digits."""
    return _JOINERS.sub("", text) if "-" in text or "'" in text else text


def joined(text: str) -> str:
    """The text without hyphens and apostrophes, with its accents."""
    # Same result for ASCII, several times as fast.
    ascii_only = text.isascii()
    return text.replace("-", "").replace("'", "").replace("`", "") if ascii_only else _ANY_JOINER.sub("", text)


def folded(text: str) -> str:
    """The text as it is searched."""
    return unjoined(unaccented(casefolded(text)))


def folded_word(word: str) -> str:
    """A word of a search, which can be a part of a word: hyphens and apostrophes at its ends do not count. One that
    consists of them stays; texts have these runs as words (`runs`)."""
    plain = unaccented(casefolded(word))
    return unjoined(plain.strip("-'")) or plain


def runs(text: str) -> set[str]:
    """The hyphens and apostrophes of an unaccented text, as words."""
    return set(_RUNS.findall(text)) if "-" in text or "'" in text else set()
