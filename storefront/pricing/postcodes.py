"""Places by region and postal code. Patterns of postal codes are such as `18565`, `25*` and `9000-9999`.

Codes are compared without spaces, hyphens and capitals, and without a country in front (`D-10115`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from django.utils.translation import gettext as _

from storefront.kit.postal import region_key

_COUNTRY = re.compile(r"^[A-Z]{1,2}-(?=[0-9])")
_NOT_CODE = re.compile(r"[\s-]+")
_RANGE = re.compile(r"([0-9]{2,10})\s*-\s*([0-9]{2,10})\Z")
_PREFIX = re.compile(r"([0-9A-Z]+)\*\Z")
_CODE = re.compile(r"[0-9A-Z]+\Z")
# ZIP+4 names a building; zones and patterns have the first five digits.
_ZIP_PLUS_4 = re.compile(r"([0-9]{5})[0-9]{4}\Z")


def normal_postcode(text: str, country: str = "") -> str:
    """Normalise the code for comparison."""
    code = _NOT_CODE.sub("", _COUNTRY.sub("", text.strip().upper()))
    return _ZIP_PLUS_4.sub(r"\1", code) if country == "US" else code


def normal_pattern(text: str) -> str:
    """Normalise the pattern. A hyphen between two numbers of the same length makes a range; otherwise it is part of one
    code, such as `00-950`. Raises ValueError, with a sentence, for an invalid pattern."""
    text = text.strip().upper()
    if (ends := _RANGE.match(text)) and len(ends[1]) == len(ends[2]):
        if ends[1] > ends[2]:
            raise ValueError(_("%(text)s: the first code of a range must not be above the last one.") % {"text": text})
        return f"{ends[1]}-{ends[2]}"
    code = normal_postcode(text)
    if _CODE.match(code) or _PREFIX.match(code):
        return code
    raise ValueError(_("%(text)s: write a code (18565), its beginning (25*) or a range (9000-9999).") % {"text": text})


def codes_matched(pattern: str, code: str) -> int | None:
    """The number of codes that a pattern covers, by which the narrowest is found; None if it does not cover this code.
    Both are normalised."""
    if ends := _RANGE.match(pattern):
        is_within = len(code) == len(ends[1]) and code.isdigit() and ends[1] <= code <= ends[2]
        return int(ends[2]) - int(ends[1]) + 1 if is_within else None
    if prefix := _PREFIX.match(pattern):
        return 10 ** (len(code) - len(prefix[1])) if code.startswith(prefix[1]) else None
    return 1 if code == pattern else None


def place_rank(postcodes: Iterable[str], regions: Sequence[str], address: Mapping[str, str]) -> tuple[int, ...] | None:
    """How specific these patterns and regions are for this address of their country, as a sort key: by postal code, by
    how few codes the pattern covers, then by region. None if they do not cover the address."""
    country, covered = address.get("country", ""), 0
    if postcodes:
        code = normal_postcode(address.get("postal_code") or "", country)
        matches = [found for each in postcodes if (found := codes_matched(each, code)) is not None]
        if not matches:
            return None
        covered = min(matches)
    region = region_key(country, address.get("region") or "") if regions else ""
    if regions and region not in (region_key(country, each) for each in regions):
        return None
    return bool(postcodes), -covered, bool(regions)
