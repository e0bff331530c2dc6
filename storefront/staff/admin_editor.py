"""Texts that are edited as in a letter: the form holds HTML, and nobody has to read it."""

import re
import secrets
from typing import Any, cast

from django import forms
from django.db import models
from django.http import HttpRequest
from unfold.widgets import PROSE_CLASSES

from storefront.kit import markup
from storefront.kit.html import clean
from storefront.staff.admin_base import ShopScopedAdmin

_TOP_HEADING = re.compile(r"<(/?)h1\b", re.IGNORECASE)


class RichTextWidget(forms.Widget):
    """The rich-text editor. Pass sanitised HTML: the editor renders it, and event attributes would run in the admin."""

    template_name = "shops/admin/editor.html"

    class Media:
        js = ("shops/trix.min.js", "shops/editor.js")

    def format_value(self, value: Any) -> str | None:
        return shown_as(value) if value else None


class RichTextField(forms.CharField):
    """A text with the editor. That the editor got it clean is no change."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(initial, data) and (data or "") != (shown_as(initial) if initial else "")

    def tidy(self, text: str) -> str:
        """The text as it is stored. One that cannot be shown is left as it is, since forms refuse it."""
        return text if markup.problem(text) else clean(below_title(text))


class WithEditor(ShopScopedAdmin):
    """A page whose fields named in `rich_texts` have an editor. The editor adds a style element, so the page's policy
    allows those that carry a number drawn for this response."""

    change_form_template: Any = "shops/admin/with_editor.html"
    rich_texts: tuple[str, ...] = ()

    def formfield_for_dbfield(self, db_field: models.Field, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in self.rich_texts:
            widget = RichTextWidget({"class": " ".join(PROSE_CLASSES)})
            return super().formfield_for_dbfield(db_field, request, **kwargs, widget=widget, form_class=RichTextField)
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        nonce = secrets.token_urlsafe(16)
        own = cast(Any, request)
        own.style_nonce, own.admin_policy = nonce, {"style-src": f"'self' 'nonce-{nonce}'"}
        return super().changeform_view(request, *args, **kwargs)


def shown_as(value: str) -> str:
    """The text as the editor gets it."""
    return clean(below_title(value))


def below_title(html: str) -> str:
    """The HTML with its top headings one level lower, since the page's title is the only one."""
    return _TOP_HEADING.sub(r"<\1h2", html)
