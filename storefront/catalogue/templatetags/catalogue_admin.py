"""Template filters for the groups of fields on the page of a product, and the texts of its scripts."""

from typing import Any

from django import template
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def has_errors(fieldset: Any) -> bool:
    """Returns True if a field of this group has errors, so that the group must be open."""
    return any(name in fieldset.form.errors for line in fieldset.fields for name in _names(line))


def _names(line: Any) -> list[str]:
    return [line] if isinstance(line, str) else list(line)


@register.simple_tag
def page_texts() -> dict[str, str]:
    """The texts that the page's scripts show (`pageText` in rows.js), with the names of their values in braces."""
    return {
        "addChoice": _("Enter a choice with its values first, such as Colour with Blue, Moss."),
        "allMade": _("There is a variant for everything that can be chosen."),
        "description": _("The description, or the first words about the product."),
        "filled": _("Filled in {count} variants."),
        "keepVariant": _("Keep this variant"),
        "madeMany": _("{count} variants made. Enter prices and stock, and save."),
        "madeOne": _("1 variant made. Enter prices and stock, and save."),
        "name": _("The product’s name"),
        "noPicture": _("No picture"),
        "noneChosen": _("None chosen"),
        "notUploaded": _("{name} could not be uploaded. Please try again."),
        "pictureRemoved": _("The picture is removed when you save."),
        "picture": _("Picture {number}"),
        "removeVariant": _("Remove this variant"),
        "tooMany": _("That would be {count} variants. Create at most {most} here, or import them."),
        "uploadedMany": _("{count} uploaded."),
        "uploadedOne": _("Uploaded."),
        "uploadingMany": _("Uploading {count} pictures…"),
        "uploadingOne": _("Uploading a picture…"),
        "value": _("Value"),
        "variantKept": _("The variant is kept."),
        "variantRemoved": _("The variant is removed when you save."),
    }
