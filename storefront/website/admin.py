"""The admin page of the shop's looks, with a preview. Each shop has one row, so the menu leads to its form."""

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import UnfoldAdminSelectWidget

from storefront.catalogue.admin_pages.forms import check_picture
from storefront.content import colours
from storefront.content.models import Looks, MenuLink
from storefront.listing.queries import ProductFilters, first_products
from storefront.shops.rights import Right
from storefront.staff.admin_base import OneRowAdmin, count_files
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, layout, own_page
from storefront.staff.admin_scope import ShopScopedTabularInline
from storefront.website import looks, queries
from storefront.website.admin_mails import MailTextAdmin
from storefront.website.cards import product_cards

__all__ = ["LooksAdmin", "MailTextAdmin"]

PLACES = (_lazy("First on the home page"), _lazy("Second on the home page"), _lazy("Third on the home page"))
PREVIEW_PRODUCTS = 4


class ColourInput(forms.TextInput):
    input_type = "color"
    template_name = "website/admin/colour.html"


def section_field(number: int) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=PLACES[number],
        choices=[("", _lazy("Nothing")), *Looks.Section.choices],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )


class LooksForm(ShopScopedForm):
    section_1, section_2, section_3 = (section_field(number) for number in range(len(PLACES)))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for number, section in enumerate(self.instance.sections[: len(PLACES)], 1):
            self.initial.setdefault(f"section_{number}", section)

    def clean_logo(self) -> Any:
        return self._picture("logo")

    def clean_hero_picture(self) -> Any:
        return self._picture("hero_picture")

    def _picture(self, name: str) -> Any:
        file = self.cleaned_data.get(name)
        if file and name in self.changed_data:
            check_picture(file)
        return file

    def clean(self) -> Any:
        cleaned = super().clean()
        accent, background = (cleaned.get(name, "") for name in ("accent", "background"))
        # The columns' validators refuse an invalid colour.
        if colours.is_colour(accent) and colours.is_colour(background):
            if problem := colours.problem_of_background(background):
                self.add_error("background", problem)
            elif problem := colours.problem_of_accent(accent, background):
                self.add_error("accent", problem)
        if bool(cleaned.get("hero_button")) != bool(cleaned.get("hero_link")) and not self.errors:
            self.add_error("hero_link", _("A button needs both its words and where it leads."))
        if cleaned.get("hero") == Looks.Hero.OWN and not cleaned.get("hero_title"):
            self.add_error("hero_title", _("Enter the heading for the top of the home page."))
        chosen = [each for number in range(1, len(PLACES) + 1) if (each := cleaned.get(f"section_{number}"))]
        for number, section in enumerate(chosen):
            if section in chosen[:number]:
                self.add_error(f"section_{number + 1}", _("This is on the home page already."))
        self.instance.sections = chosen
        return cleaned

    def changed_columns(self) -> list[str]:
        return sorted({*super().changed_columns(), "sections"})


class MenuLinkInline(ShopScopedTabularInline):
    model = MenuLink
    fields = ["label", "link", "menu", "position"]
    translated = ("label",)
    verbose_name_plural = _lazy("links of your own")
    tab = False


@admin.register(Looks)
class LooksAdmin(OneRowAdmin):
    icon = "palette"
    form = LooksForm
    rights = {"view": Right.MANAGE_CONTENT, "change": Right.MANAGE_CONTENT}
    moves = Moves.NOTHING
    inlines = [MenuLinkInline]
    translated = ("hero_title", "hero_text", "hero_button", "footer_text", "hours")
    change_form_before_template = "website/admin/preview.html"
    fieldsets: Any = layout(
        "logo accent background fonts corners pictures",
        "Top of the home page: hero hero_picture hero_title hero_text hero_button hero_link",
        "Below it: section_1 section_2 section_3",
        "Footer: footer_text address phone hours",
    )

    class Media:
        js = ("website/preview.js",)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in ("accent", "background"):
            kwargs["widget"] = ColourInput
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def the_row(self, request: Any) -> Looks:
        """Redirect to the form of the shop's looks, which the first visit creates."""
        return Looks.objects.get_or_create(shop=request.shop, defaults={"updated_at": request.now})[0]

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        cast(Any, request).admin_policy = {"frame-src": "'self'"}
        return super().changeform_view(request, *args, **kwargs)

    def save_model(self, request: Any, obj: Looks, form: Any, change: bool) -> None:
        count_files(request, form)
        super().save_model(request, obj, form, change)

    @own_page("frame/", "view", Moves.NOTHING)
    def frame(self, request: Any) -> HttpResponse:
        """A page of the shop with the looks in the form. Invalid values are ignored. With `colours`: the page's
        stylesheet of colours."""
        if "colours" in request.GET:
            return looks.colours_page(request, request.GET["colours"])
        shop = request.shop
        row = Looks.objects.filter(shop=shop).first() or Looks(shop=shop)
        form = forms.modelform_factory(Looks, fields=looks.PREVIEWED)(request.GET, instance=row)
        kept = {name: getattr(row, name) for name in looks.PREVIEWED}
        form.is_valid()
        for name in looks.PREVIEWED:
            setattr(
                row, name, kept[name] if name in form.errors or name not in request.GET else form.cleaned_data[name]
            )
        shown = first_products(shop, ProductFilters(sort="newest"), count=PREVIEW_PRODUCTS, now=request.now)
        request.admin_policy = {"frame-ancestors": "'self'"}
        context = {
            "looks": row,
            "colours": looks.colours_of(row),
            "hero_picture": looks.hero_picture(shop, row),
            "cards": product_cards(shop, shown, None, request.now),
            "categories": queries.main_categories(shop)[:5],
        }
        answer = TemplateResponse(request, "website/admin/preview_page.html", context)
        answer.headers["X-Frame-Options"] = "SAMEORIGIN"
        return answer
