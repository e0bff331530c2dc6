"""Countries: names by ISO 3166 code, in the active language; English in the API."""

import unicodedata
from functools import cache

from babel import Locale

from storefront.kit.format import ENGLISH, active_locale

# CLDR lists these beside the countries; no parcel is addressed to them.
_NOT_A_COUNTRY = frozenset({"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"})


def countries() -> dict[str, str]:
    """Every country's name by its code, sorted by name."""
    return _countries(active_locale())


@cache
def _countries(locale: str) -> dict[str, str]:
    names = Locale(locale).territories
    found = {code: name for code, name in names.items() if len(code) == 2 and code not in _NOT_A_COUNTRY}
    sorted_by = str.casefold if locale == ENGLISH else _without_accents
    return dict(sorted(found.items(), key=lambda pair: sorted_by(pair[1])))


def _without_accents(name: str) -> str:
    """The name as other languages sort it: Österreich stands among the names with O."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def country_name(code: str) -> str:
    """The country's name; an unknown code is returned as it is."""
    return countries().get(code, code)
