"""Countries: English names by ISO 3166 code."""

from functools import cache

from babel import Locale

# CLDR lists these beside the countries; no parcel is addressed to them.
_NOT_A_COUNTRY = frozenset({"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"})


@cache
def countries() -> dict[str, str]:
    """Every country's name by its code, sorted by name."""
    names = Locale("en").territories
    found = {code: name for code, name in names.items() if len(code) == 2 and code not in _NOT_A_COUNTRY}
    return dict(sorted(found.items(), key=lambda pair: pair[1].casefold()))


def country_name(code: str) -> str:
    """The country's name; an unknown code is returned as it is."""
    return countries().get(code, code)
