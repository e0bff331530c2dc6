"""The VAT area of the European Union: its member states, and places that belong to a member state or to none for VAT.

Source: Council Directive 2006/112/EC, Articles 5 to 7, and the Windsor Framework for goods in Northern Ireland.
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from stdnum.eu import vat
from stdnum.exceptions import ValidationError

from storefront.pricing.postcodes import codes_matched, normal_postcode

MEMBER_STATES = frozenset(
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()  # noqa: SIM905, readable
)
NORTHERN_IRELAND = "XI"

# Parts of member states outside of the VAT area, by their postal codes: the Canary Islands, Ceuta and Melilla;
# Heligoland and Büsingen; Livigno and Campione; Mount Athos; Åland; the French overseas departments and territories.
_OUTSIDE = {
    "ES": ("35*", "38*", "51*", "52*"),
    "DE": ("27498", "78266"),
    "IT": ("23041", "22061"),
    "GR": ("63086", "63087"),
    "FI": ("22*",),
    "FR": ("97*", "98*"),
}


def vat_area(address: Mapping[str, str], *, is_goods: bool = True) -> str:
    """The member state whose VAT applies at an address; empty outside of the VAT area. Northern Ireland is inside for
    goods."""
    country = address.get("country", "")
    code = normal_postcode(address.get("postal_code") or "", country)
    if country == "MC":
        # Monaco counts as France. Its postal codes begin with 98, as do those of some territories outside of the area.
        return "FR"
    if country == "GB" and code.startswith("BT"):
        return NORTHERN_IRELAND if is_goods else ""
    if country not in MEMBER_STATES:
        return ""
    is_outside = any(codes_matched(pattern, code) is not None for pattern in _OUTSIDE.get(country, ()))
    is_monaco = country == "FR" and codes_matched("98000", code) is not None
    return "" if is_outside and not is_monaco else country


def normal_vat_id(text: str) -> str:
    """The VAT ID without spaces and dots, with its country: `ATU13585627`. Raises ValueError, with a sentence, if the
    text has no valid format. Does not check that the ID exists."""
    try:
        number = vat.validate(text)
    except ValidationError:
        raise ValueError(
            _("This is not a VAT ID of an EU country. It begins with the country code, as in ATU13585627.")
        ) from None
    if not vat_id_country(number):
        raise ValueError(_("This is a number of the one-stop shop. Enter the VAT ID of the business."))
    # VIES has Greece under EL only.
    return number.replace("GR", "EL", 1) if number.startswith("GR") else number


def vat_id_country(vat_id: str) -> str:
    """The country of a normalised ID, XI for Northern Ireland; empty if there is none."""
    prefix = "GR" if vat_id[:2] == "EL" else vat_id[:2]
    return prefix if prefix in MEMBER_STATES or prefix == NORTHERN_IRELAND else ""
