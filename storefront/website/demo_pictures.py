"""The pictures of the starting themes. They show until the merchant chooses own ones; `static/website/looks/README.md`
says who made them."""

from storefront.content.sections import Section

NAMES = ("linen-opening", "linen-table", "studio-opening", "studio-shapes", "meadow-opening", "meadow-field")


def path_of(name: str | None) -> str:
    """The static file of a demo picture; empty if there is none of this name."""
    return f"website/looks/{name}.webp" if name in NAMES else ""


def shows_any(sections: list[Section]) -> bool:
    """Returns True if shoppers see a demo picture."""
    return any(path_of(each.get("demo")) and not each["hidden"] for each in sections)
