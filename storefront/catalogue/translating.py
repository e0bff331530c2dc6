"""Where `Product.translations` has the texts of a product's parts, beside those of its own columns.

    {"de": {"name": "Becher", "attribute:Colour": "Farbe", "attribute:Colour:Blue": "Blau", "option:Wrapping": "Papier",
            "option:Wrapping:Red": "Rot", "variant:Mug no. 2": "Becher 2", "picture:A blue mug": "Ein blauer Becher"}}

The key names the part by its text in the main language. So a text that changes has no translation until somebody writes
one, and an import that replaces the parts of a product keeps their translations. Attributes are also what variants
differ by (`Variant.option_values`).
"""

from collections.abc import Mapping
from typing import Any

from storefront.kit.translations import written

ATTRIBUTE, OPTION, VARIANT, PICTURE = "attribute", "option", "variant", "picture"
# A product's own texts besides its slug.
TEXTS = ("name", "description", "short_description", "meta_title", "meta_description")
# And a category's.
CATEGORY_TEXTS = ("name", "description", "meta_title", "meta_description")

Texts = Mapping[str, str]
Record = dict[str, Any]


def key(kind: str, *texts: str) -> str:
    """The key of a part: of an attribute's or an option's name, or with a second text of its value."""
    return ":".join((kind, *texts))


def of_part(found: Texts, kind: str, *texts: str) -> str:
    """The part's text among those of one language, or else in the main one."""
    return written(found, key(kind, *texts)) or texts[-1]


def of_value(found: Texts, name: str, value: str) -> str:
    """A value of an attribute. Shoppers choose by values, so two that have the same text in this language keep those of
    the main one."""
    text = written(found, key(ATTRIBUTE, name, value))
    if not text:
        return value
    those = key(ATTRIBUTE, name, "")
    twins = [each for each, other in found.items() if other == text and each.startswith(those)]
    return text if len(twins) <= 1 else value


def of_variant(found: Texts, name: str, values: Mapping[str, str]) -> str:
    """A variant's name. One that consists of its values consists of their translations."""
    if own := written(found, key(VARIANT, name)):
        return own
    if name == joined(values):
        return joined({axis: of_value(found, axis, value) for axis, value in values.items() if value})
    return name


def joined(values: Mapping[str, str]) -> str:
    """The usual name of a variant with these values."""
    return " / ".join(value for value in values.values() if value)


def in_language(record: Record, found: Texts) -> Record:
    """A product's record with its texts and those of its parts in one language, where there are any."""
    if not found:
        return record
    shown = record | {name: written(found, name) or record[name] for name in TEXTS if name in record}
    # Most products have translations of their own texts alone.
    if not any(":" in name for name in found):
        return shown
    words = _words(record, found)
    if "attributes" in record:
        shown["attributes"] = [_attribute(each, words) for each in record["attributes"] or ()]
    if "media" in record:
        shown["media"] = [
            each | {"alt": each["alt"] and of_part(found, PICTURE, each["alt"])} for each in record["media"]
        ]
    if "variants" in record:
        shown["variants"] = [_variant(each, words, found) for each in record["variants"]]
    if "options" in record:
        shown["options"] = [_option(each, found) for each in record["options"]]
    return shown


# Each attribute's name, and the texts of its values.
Words = Mapping[str, tuple[str, Mapping[str, str]]]


def _words(record: Record, found: Texts) -> Words:
    """By name, an attribute's text and those of its values."""
    values: dict[str, dict[str, None]] = {}
    for each in record.get("attributes") or ():
        values.setdefault(each["name"], {}).update(dict.fromkeys(each.get("values", ())))
    for variant in record.get("variants", ()):
        for name, value in variant["option_values"].items():
            values.setdefault(name, {})[value] = None
    names = _distinct({name: of_part(found, ATTRIBUTE, name) for name in values})
    return {
        name: (names[name], _distinct({each: of_value(found, name, each) for each in those}))
        for name, those in values.items()
    }


def _distinct(texts: Mapping[str, str]) -> Mapping[str, str]:
    """The texts if each is of one name or value, else these themselves."""
    return texts if len(set(texts.values())) == len(texts) else {text: text for text in texts}


def _attribute(attribute: Record, words: Words) -> Record:
    name, values = words[attribute["name"]]
    shown = {"values": [values[each] for each in attribute["values"]]} if "values" in attribute else {}
    return attribute | {"name": name} | shown


def _variant(variant: Record, words: Words, found: Texts) -> Record:
    values = variant["option_values"]
    shown = {words[name][0]: words[name][1][value] for name, value in values.items()}
    return variant | {"name": of_variant(found, variant["name"], values), "option_values": shown}


def _option(option: Record, found: Texts) -> Record:
    values = [each | {"label": of_part(found, OPTION, option["name"], each["label"])} for each in option["values"]]
    return option | {"name": of_part(found, OPTION, option["name"]), "values": values}
