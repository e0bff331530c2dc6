"""Where `Product.translations` has the texts of a product's parts, beside those of its own columns.

    {"de": {"name": "Becher", "attribute:Colour": "Farbe", "attribute:Colour:Blue": "Blau", "option:Wrapping": "Papier",
            "option:Wrapping:Red": "Rot", "variant:Mug no. 2": "Becher 2", "picture:A blue mug": "Ein blauer Becher"}}

The key names the part by its text in the main language. So a text that changes has no translation until somebody writes
one, and an import that replaces the parts of a product keeps their translations. Attributes are also what variants
differ by (`Variant.option_values`).
"""

from collections.abc import Mapping

ATTRIBUTE, OPTION, VARIANT, PICTURE = "attribute", "option", "variant", "picture"
# A product's own texts besides its slug.
TEXTS = ("name", "description", "short_description", "meta_title", "meta_description")

Texts = Mapping[str, str]


def key(kind: str, *texts: str) -> str:
    """The key of a part: of an attribute's or an option's name, or with a second text of its value."""
    return ":".join((kind, *texts))


def of_part(found: Texts, kind: str, *texts: str) -> str:
    """The part's text among those of one language, or else in the main one."""
    return found.get(key(kind, *texts)) or texts[-1]


def of_variant(found: Texts, name: str, values: Mapping[str, str]) -> str:
    """A variant's name. One that consists of its values consists of their translations."""
    if own := found.get(key(VARIANT, name)):
        return own
    if name == joined(values):
        return joined({axis: of_part(found, ATTRIBUTE, axis, value) for axis, value in values.items() if value})
    return name


def joined(values: Mapping[str, str]) -> str:
    """The usual name of a variant with these values."""
    return " / ".join(value for value in values.values() if value)
