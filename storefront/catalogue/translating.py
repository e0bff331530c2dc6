"""Where `Product.translations` has the texts of a product's parts, beside those of its own columns.

    {"de": {"name": "Becher", "attribute:Colour": "Farbe", "attribute:Colour:Blue": "Blau",
            "option:Engraving": "Gravur", "option:Engraving:Yes": "Ja", "variant:Blue": "Blau", "picture:A blue mug": "Ein blauer Becher"}}

The key names the part by its text in the main language. So a text that changes has no translation until somebody writes
one, and an import that replaces the parts of a product keeps their translations. Attributes are also what variants
differ by (`Variant.option_values`).
"""

ATTRIBUTE, OPTION, VARIANT, PICTURE = "attribute", "option", "variant", "picture"


def key(kind: str, *texts: str) -> str:
    """The key of a part: of an attribute's or an option's name, or with a second text of its value."""
    return ":".join((kind, *texts))
