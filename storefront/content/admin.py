"""Admin of the pages that a merchant writes, with a rich-text editor."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.content import admin_redirects  # noqa: F401, registers its pages
from storefront.content.actions import add_usual_pages
from storefront.content.models import Page
from storefront.content.page_slugs import remembered, taken
from storefront.content.starting_texts import GAPS
from storefront.shops.places import page_address
from storefront.shops.rights import Right
from storefront.staff.admin_editor import WithEditor
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, asks, column, layout, list_deed, moment, view_and_edit
from storefront.staff.admin_translations import field_name, missing_filter

RIGHTS = view_and_edit(Right.MANAGE_CONTENT, Right.MANAGE_CONTENT)


class PageForm(ShopScopedForm):
    constraint_errors = {
        "page_slug_once": ("slug", _lazy("Another page of this shop already has this address.")),
        "page_kind_once": ("kind", _lazy("This shop already has such a page.")),
        "page_is_edited": ("is_published", _lazy("This is still the starting text. Write your own before publishing.")),
    }

    def clean_body(self) -> str:
        return self.fields["body"].tidy(self.cleaned_data["body"])  # type: ignore[attr-defined]

    def clean(self) -> Any:
        cleaned = super().clean()
        if "body" in self.changed_data:
            self.instance.is_starting_text = False
        left = sorted(gap for gap in GAPS if gap in cleaned.get("body", ""))
        if cleaned.get("is_published") and left:
            self.add_error(
                "body", _("Fill in what is in brackets before publishing: %(left)s.") % {"left": ", ".join(left[:3])}
            )
        self._check_slugs()
        return cleaned

    def _check_slugs(self) -> None:
        """Refuse slugs of other pages, and keep those that this page had."""
        names = ["slug", *(field_name("slug", code) for code in self.shop.further_languages)]
        given = {name: self.cleaned_data[name] for name in names if self.cleaned_data.get(name)}
        slugs = {*given.values()}
        of_others = taken(self.shop, slugs, but=self.instance) if {*names}.intersection(self.changed_data) else ()
        for name, slug in given.items():
            if slug in of_others:
                self.add_error(name, _("Another page of this shop already has this address."))
        gone = {
            self.initial.get(name) or "" for name in given.keys() | {*self.changed_data}.intersection(names)
        } - slugs
        self.instance.old_slugs = remembered(self.instance, () if self.instance._state.adding else gone, slugs)

    def changed_columns(self) -> list[str]:
        columns = super().changed_columns()
        more = {"is_starting_text"} if "body" in columns else set()
        if any(name.partition("_in_")[0] == "slug" for name in self.changed_data):
            more.add("old_slugs")
        return sorted({*columns, *more})


def _state_of(page: Page) -> tuple[str, str]:
    if page.is_starting_text:
        return "starting", _("Starting text")
    return ("published", _("Published")) if page.is_published else ("hidden", _("Hidden"))


@admin.register(Page)
class PageAdmin(WithEditor):
    icon = "article"
    empty_text = _lazy("Imprint, terms, returns, privacy: the usual pages come with starting texts.")
    form = PageForm
    rich_texts = ("body",)
    translated = ("title", "body", "summary", "slug")
    rights = RIGHTS
    moves = Moves.NOTHING
    list_display = ["title", "kind", "state", "in_footer", "position", "updated"]
    list_filter = [missing_filter("title", "body", "summary")]
    search_fields = ["title", "slug", "body"]
    ordering = ["position", "id"]
    prepopulated_fields = {"slug": ["title"]}
    fieldsets: Any = layout(
        "title body is_published",
        "Where it is shown: kind slug in_footer position",
        "Search engines: summary",
    )

    updated = moment("updated_at", _lazy("changed"))

    state = column(
        _lazy("status"),
        _state_of,
        label={"published": "success", "hidden": "info", "starting": "warning"},
    )

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Other sites may link to an existing page, so its address does not follow its title.
        return {} if obj else super().get_prepopulated_fields(request, obj)

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        page = self.get_object(request, object_id) if object_id and request.method == "GET" else None
        if page is not None and page.is_starting_text:
            messages.info(request, _("This is a starting text. Edit it, and fill in what is in [brackets]."))
        return super().changeform_view(request, object_id, *args, **kwargs)

    def view_on_site(self, row: Page) -> str | None:
        return page_address("website:page", row.slug, shop=row.shop) if row.is_published else None

    @list_deed(_lazy("Add the usual pages"), Right.MANAGE_CONTENT, Moves.NOTHING, icon="post_add", url_path="usual")
    @asks(
        _lazy("Add the usual pages?"),
        _lazy(
            "Imprint, terms, returns, privacy, delivery and about us, where the shop has none, with starting"
            " texts. Shoppers see a page once you have edited and published it."
        ),
        _lazy("Add pages"),
    )
    def add_usual(self, request: Any, form: Any) -> Any:
        added = add_usual_pages(shop=request.shop, now=request.now)
        titles = ", ".join(page.title for page in added)
        return (
            _("Added, for you to edit and publish: %(titles)s.") % {"titles": titles}
            if added
            else _("The shop has all the usual pages.")
        )
