"""Countries by their ISO 3166 codes, with names as people write them."""

from functools import cache

from babel import Locale

# CLDR lists these beside the countries; no parcel is addressed to them.
_NOT_A_COUNTRY = frozenset({"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"})


@cache
def countries() -> dict[str, str]:
    """Every country's name by its code, in the order of the names."""
    names = Locale("en").territories
    found = {code: name for code, name in names.items() if len(code) == 2 and code not in _NOT_A_COUNTRY}
    return dict(sorted(found.items(), key=lambda pair: pair[1].casefold()))


def country_name(code: str) -> str:
    """The country's name; the code itself where it names none."""
    return countries().get(code, code)
