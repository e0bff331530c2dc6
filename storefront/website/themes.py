"""The starting themes: each a whole look, with words and demo pictures that the merchant replaces.

Choosing one is a save like any other, so the looks before it are a version. The shop's logo stays.
"""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _lazy

from storefront.content.models import Looks
from storefront.content.sections import KINDS, Section, new_section
from storefront.kit.text import Text
from storefront.shops.models import Shop
from storefront.shops.spoken import speaking
from storefront.website.looks_versions import state_of as state_of_looks


@dataclass(frozen=True)
class Theme:
    name: Text
    about: Text
    accent: str
    background: str
    fonts: str
    corners: str
    sections: tuple[tuple[str, dict[str, Any]], ...]


_BUTTON = {"button": _lazy("See everything"), "link": "/products"}
_NEWEST = ("products", {"rule": "newest", "title": _lazy("New in the shop"), "count": "8"})
_FEATURED = ("products", {"rule": "featured", "title": _lazy("Our favourites"), "count": "4"})

THEMES = {
    "linen": Theme(
        _lazy("Linen"),
        _lazy("Warm and calm, for what is made by hand."),
        accent="#8a4528",
        background="#faf6ef",
        fonts=Looks.Fonts.FRAUNCES,
        corners=Looks.Corners.SOFT,
        sections=(
            (
                "hero",
                {
                    "title": _lazy("Made slowly, to be kept for long"),
                    "text": _lazy("Small batches, honest materials, and things that grow more beautiful with use."),
                    "demo": "linen-opening",
                    "layout": "wide",
                    **_BUTTON,
                },
            ),
            _FEATURED,
            (
                "text",
                {
                    "title": _lazy("From our table to yours"),
                    "text": _lazy(
                        "Say who you are: where you work, what you make, and why you do it this way. Two or three "
                        "sentences are enough for visitors to feel that there are people behind the shop."
                    ),
                    "demo": "linen-table",
                },
            ),
            ("categories", {}),
            _NEWEST,
        ),
    ),
    "studio": Theme(
        _lazy("Studio"),
        _lazy("Clear and bold, for design that speaks for itself."),
        accent="#1d3fd1",
        background="#ffffff",
        fonts=Looks.Fonts.FIGTREE,
        corners=Looks.Corners.SQUARE,
        sections=(
            (
                "hero",
                {
                    "title": _lazy("Good things, plainly made"),
                    "text": _lazy("A small collection, chosen with care."),
                    "demo": "studio-opening",
                    "layout": "beside",
                    **_BUTTON,
                },
            ),
            _NEWEST,
            (
                "text",
                {
                    "title": _lazy("Form follows use"),
                    "text": _lazy(
                        "Say in a few words what makes your things different: the material, the maker, the idea."
                        " Visitors read little and look a lot, so let one strong picture do most of the work."
                    ),
                    "demo": "studio-shapes",
                    "side": "start",
                },
            ),
            _FEATURED,
            ("categories", {}),
        ),
    ),
    "meadow": Theme(
        _lazy("Meadow"),
        _lazy("Fresh and friendly, for food, plants and care."),
        accent="#2f6b3a",
        background="#f7f9f1",
        fonts=Looks.Fonts.LORA,
        corners=Looks.Corners.ROUND,
        sections=(
            (
                "hero",
                {
                    "title": _lazy("Good for you, good for the land"),
                    "text": _lazy("Grown and gathered close by, packed with care, sent within two days."),
                    "demo": "meadow-opening",
                    "layout": "wide",
                    **_BUTTON,
                },
            ),
            ("categories", {}),
            _NEWEST,
            (
                "text",
                {
                    "title": _lazy("Where it comes from"),
                    "text": _lazy(
                        "Name the fields, the farms or the people that you buy from. Visitors like to know, and it is a"
                        " story that only your shop can tell."
                    ),
                    "demo": "meadow-field",
                },
            ),
            _FEATURED,
        ),
    ),
}


def state_of(theme: Theme, shop: Shop, before: Looks | None = None) -> dict[str, Any]:
    """The columns of the looks with this theme, its words in the shop's language. The logo and the words at the end of
    each page are those before."""
    with speaking(shop, ""):
        home = [_section(kind, number, given) for number, (kind, given) in enumerate(theme.sections)]
    own = {"accent": theme.accent, "background": theme.background, "fonts": str(theme.fonts)}
    return (state_of_looks(before) if before else {}) | own | {"corners": str(theme.corners), "home": home}


def _section(kind: str, number: int, given: dict[str, Any]) -> Section:
    words = {name: str(value) for name, value in given.items()}
    names = {field.name for field in KINDS[kind].fields}
    assert names | {"demo"} >= set(words), kind
    return new_section(kind, f"s{number}{kind[:8]}", **words)
