"""Languages that a shop can have, by ISO 639-1 code.

For each there is a name and a Snowball stemmer, which the search uses. The service's own texts, such as those of the
checkout, exist in the languages of TEXTS (`storefront/locale/`); in the others they are in English.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

# In the order of their English names.
_LANGUAGES: dict[str, tuple[Any, str | None]] = {
    "ar": (_lazy("Arabic"), "arabic"),
    "hy": (_lazy("Armenian"), "armenian"),
    "eu": (_lazy("Basque"), "basque"),
    "ca": (_lazy("Catalan"), "catalan"),
    "cs": (_lazy("Czech"), "czech"),
    "da": (_lazy("Danish"), "danish"),
    "nl": (_lazy("Dutch"), "dutch"),
    "en": (_lazy("English"), "english"),
    "et": (_lazy("Estonian"), "estonian"),
    "fi": (_lazy("Finnish"), "finnish"),
    "fr": (_lazy("French"), "french"),
    "de": (_lazy("German"), "german"),
    "el": (_lazy("Greek"), "greek"),
    "he": (_lazy("Hebrew"), None),
    "hi": (_lazy("Hindi"), "hindi"),
    "hu": (_lazy("Hungarian"), "hungarian"),
    "id": (_lazy("Indonesian"), "indonesian"),
    "ga": (_lazy("Irish"), "irish"),
    "it": (_lazy("Italian"), "italian"),
    "lt": (_lazy("Lithuanian"), "lithuanian"),
    "no": (_lazy("Norwegian"), "norwegian"),
    "fa": (_lazy("Persian"), "persian"),
    "pl": (_lazy("Polish"), "polish"),
    "pt": (_lazy("Portuguese"), "portuguese"),
    "ro": (_lazy("Romanian"), "romanian"),
    "ru": (_lazy("Russian"), "russian"),
    "sr": (_lazy("Serbian"), "serbian"),
    "es": (_lazy("Spanish"), "spanish"),
    "sv": (_lazy("Swedish"), "swedish"),
    "ta": (_lazy("Tamil"), "tamil"),
    "tr": (_lazy("Turkish"), "turkish"),
}
# The code of every other language. Its words are searched as they are written.
OTHER = "other"
STEMMERS = {code: stemmer for code, (_, stemmer) in _LANGUAGES.items() if stemmer}
CHOICES = [*((code, name) for code, (name, _stems) in _LANGUAGES.items()), (OTHER, _lazy("Another language"))]
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
        return _("Unknown: %(codes)s. Expected codes such as de or fr.") % {"codes": ", ".join(unknown)}
    if main in further:
        return _("%(language)s is the main language already.") % {"language": names[main]}
    if len(set(further)) < len(further):
        return _("List each language only once.")
    most = _("At most %(count)s further languages.") % {"count": MAX_FURTHER}
    return most if len(further) > MAX_FURTHER else ""


def direction(code: str) -> str:
    """The direction in which the language is written, as in HTML's attribute `dir`."""
    return "rtl" if code in RIGHT_TO_LEFT else "ltr"


def language_of_texts(code: str) -> str:
    """The language in which the service's own texts are shown on pages of this language."""
    return code if code in TEXTS else "en"
