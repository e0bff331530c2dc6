"""Languages that a shop's search knows: ISO 639-1 codes, each with its name and its Snowball stemmer."""

_LANGUAGES = {
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
STEMMERS = {code: stemmer for code, (_, stemmer) in _LANGUAGES.items()}
CHOICES = [
    *sorted(((code, name) for code, (name, _) in _LANGUAGES.items()), key=lambda choice: choice[1]),
    (OTHER, "Another language"),
]
