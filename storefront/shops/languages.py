"""Languages that a shop can have, by ISO 639-1 code.

For each there is a name and a Snowball stemmer, which the search uses. The service's own texts, such as those of the
checkout, exist in the languages of TEXTS (`storefront/locale/`); in the others they are in English.
"""

from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import gettext_noop as _noop

_LANGUAGES: dict[str, tuple[str, str | None]] = {
    "ar": (_noop("Arabic"), "arabic"),
    "ca": (_noop("Catalan"), "catalan"),
    "cs": (_noop("Czech"), "czech"),
    "da": (_noop("Danish"), "danish"),
    "de": (_noop("German"), "german"),
    "el": (_noop("Greek"), "greek"),
    "en": (_noop("English"), "english"),
    "es": (_noop("Spanish"), "spanish"),
    "et": (_noop("Estonian"), "estonian"),
    "eu": (_noop("Basque"), "basque"),
    "fa": (_noop("Persian"), "persian"),
    "fi": (_noop("Finnish"), "finnish"),
    "fr": (_noop("French"), "french"),
    "ga": (_noop("Irish"), "irish"),
    "he": (_noop("Hebrew"), None),
    "hi": (_noop("Hindi"), "hindi"),
    "hu": (_noop("Hungarian"), "hungarian"),
    "hy": (_noop("Armenian"), "armenian"),
    "id": (_noop("Indonesian"), "indonesian"),
    "it": (_noop("Italian"), "italian"),
    "lt": (_noop("Lithuanian"), "lithuanian"),
    "nl": (_noop("Dutch"), "dutch"),
    "no": (_noop("Norwegian"), "norwegian"),
    "pl": (_noop("Polish"), "polish"),
    "pt": (_noop("Portuguese"), "portuguese"),
    "ro": (_noop("Romanian"), "romanian"),
    "ru": (_noop("Russian"), "russian"),
    "sr": (_noop("Serbian"), "serbian"),
    "sv": (_noop("Swedish"), "swedish"),
    "ta": (_noop("Tamil"), "tamil"),
    "tr": (_noop("Turkish"), "turkish"),
}
# The code of every other language. Its words are searched as they are written.
OTHER = "other"
STEMMERS = {code: stemmer for code, (_, stemmer) in _LANGUAGES.items() if stemmer}
CHOICES = [
    *((code, _lazy(name)) for code, (name, _) in sorted(_LANGUAGES.items(), key=lambda language: language[1][0])),
    (OTHER, _lazy("Another language")),
]
# Languages in which the service's own texts exist.
TEXTS = ("en", "de", "fr", "es", "it", "nl", "pl", "ar", "he")
# Languages that are written from right to left.
RIGHT_TO_LEFT = ("ar", "fa", "he")


def language_of_texts(code: str) -> str:
    """The language in which the service's own texts are shown on pages of this language."""
    return code if code in TEXTS else "en"
