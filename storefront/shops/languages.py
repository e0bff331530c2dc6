"""Languages that a shop can have, by ISO 639-1 code.

For each there is a name and a Snowball stemmer, which the search uses. The service's own texts, such as those of the
checkout, exist in the languages of TEXTS (`storefront/locale/`); in the others they are in English.
"""

from collections.abc import Sequence
from functools import cache

_LANGUAGES: dict[str, tuple[str, str | None]] = {
    "ar": ("Arabic", "arabic"),
    "ca": ("Catalan", "catalan"),
    "cs": ("Czech", "czech"),
    "da": ("Danish", "danish"),
    "de": ("German", "german"),
    "el": ("Greek", "greek"),
    "en": ("English", "english"),
    "es": ("Spanish", "spanish"),
    "et": ("Estonian", "estonian"),
    "eu": ("Basque", "basque"),
    "fa": ("Persian", "persian"),
    "fi": ("Finnish", "finnish"),
    "fr": ("French", "french"),
    "ga": ("Irish", "irish"),
    "he": ("Hebrew", None),
    "hi": ("Hindi", "hindi"),
    "hu": ("Hungarian", "hungarian"),
    "hy": ("Armenian", "armenian"),
    "id": ("Indonesian", "indonesian"),
    "it": ("Italian", "italian"),
    "lt": ("Lithuanian", "lithuanian"),
    "nl": ("Dutch", "dutch"),
    "no": ("Norwegian", "norwegian"),
    "pl": ("Polish", "polish"),
    "pt": ("Portuguese", "portuguese"),
    "ro": ("Romanian", "romanian"),
    "ru": ("Russian", "russian"),
    "sr": ("Serbian", "serbian"),
    "sv": ("Swedish", "swedish"),
    "ta": ("Tamil", "tamil"),
    "tr": ("Turkish", "turkish"),
}
# The code of every other language. Its words are searched as they are written.
OTHER = "other"
STEMMERS = {code: stemmer for code, (_, stemmer) in _LANGUAGES.items() if stemmer}
CHOICES = [
    *sorted(((code, name) for code, (name, _) in _LANGUAGES.items()), key=lambda choice: choice[1]),
    (OTHER, "Another language"),
]
# Languages in which the service's own texts exist.
TEXTS = ("en", "de", "fr", "es", "it", "nl", "pl", "ar", "he")
# Languages that are written from right to left.
RIGHT_TO_LEFT = ("ar", "fa", "he")
# Languages that a shop can have besides its main one, and how many of them at most.
FURTHER_CHOICES = [(code, name) for code, name in CHOICES if code != OTHER]
MAX_FURTHER = 20


@cache
def native_name(code: str) -> str:
    """What speakers of the language call it, such as `Deutsch`; empty for a language without a code."""
    # Importing it takes a while, which commands save.
    from babel import Locale

    name = "" if code == OTHER else Locale.parse(code).display_name or ""
    return name[:1].upper() + name[1:]


def problem_of_further(main: str, further: Sequence[str]) -> str:
    """Why a shop with this main language cannot have these further ones, as a sentence; empty if it can."""
    names = dict(FURTHER_CHOICES)
    if unknown := [code for code in further if code not in names]:
        return f"Unknown: {', '.join(unknown)}. Expected codes such as de or fr."
    if main in further:
        return f"{names[main]} is the main language already."
    if len(set(further)) < len(further):
        return "Name each language once."
    return f"At most {MAX_FURTHER} further languages." if len(further) > MAX_FURTHER else ""


def direction(code: str) -> str:
    """The direction in which the language is written, as in HTML's attribute `dir`."""
    return "rtl" if code in RIGHT_TO_LEFT else "ltr"


def language_of_texts(code: str) -> str:
    """The language in which the service's own texts are shown on pages of this language."""
    return code if code in TEXTS else "en"
