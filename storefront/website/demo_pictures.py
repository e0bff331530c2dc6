"""The pictures of the starting themes. They show until the merchant chooses own ones; `static/website/looks/README.md`
names their origin."""

NAMES = ("linen-opening", "linen-table", "studio-opening", "studio-shapes", "meadow-opening", "meadow-field")


def path_of(name: str | None) -> str:
    """The static file of a demo picture; empty if there is none of this name."""
    return f"website/looks/{name}.webp" if name in NAMES else ""
