"""How the page of a product is saved: the form and its tables as one change, or not at all.

If the catalogue refuses the change after the form was checked, the form shows the errors and keeps everything that was
entered.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import IntegrityError, models, transaction

from storefront.catalogue import actions, events
from storefront.catalogue.admin_pages.forms import ProductForm
from storefront.catalogue.admin_pages.inlines import option_values_of
from storefront.catalogue.admin_pages.variant_forms import NEW_PICTURE
from storefront.catalogue.models import Media, Product, Variant
from storefront.kit.refusals import Refusal
from storefront.staff import shown_fields
from storefront.staff.admin_base import CHANGED_MEANWHILE, sentence_of


class SavingAdmin:
    check_files: Callable[[Any, Product], None]

    def get_form(self, request: Any, obj: Product | None = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)  # type: ignore[misc]
        form.option_values = option_values_of(obj) if obj else []
        form.refused = getattr(request, "refused_product", "")
        return form

    def _changeform_view(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        if request.method != "POST":
            return super()._changeform_view(request, *args, **kwargs)  # type: ignore[misc]
        try:
            with transaction.atomic():
                return super()._changeform_view(request, *args, **kwargs)  # type: ignore[misc]
        except Refusal as refusal:
            request.refused_product = sentence_of(refusal)
        except (IntegrityError, models.ProtectedError):
            request.refused_product = CHANGED_MEANWHILE
        # Nothing was saved. The form shows itself again, and what was refused.
        return super()._changeform_view(request, *args, **kwargs)  # type: ignore[misc]

    def render_change_form(self, request: Any, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        formsets = [inline.formset for inline in context["inline_admin_formsets"]]
        # A form that is shown again with what was typed keeps what its first page showed.
        if request.method == "POST":
            context["shown"] = request.POST.get(shown_fields.NAME, "")
        else:
            context["shown"] = shown_fields.shown_in(_forms(context["adminform"].form, formsets))
        return super().render_change_form(request, context, *args, **kwargs)  # type: ignore[misc]

    def save_model(self, request: Any, obj: Product, form: ProductForm, change: bool) -> None:
        """Write the changed fields, stock as a difference. `save_related` updates what is derived from them."""
        if change:
            # Locked from here on. Changes that others made before to other fields stay.
            Product.objects.select_for_update(no_key=True).get(shop=request.shop, pk=obj.pk)
            form.before = events.take_snapshot(request.shop, [obj.pk])
            form.set_stock_difference()
        super().save_model(request, obj, form, change)  # type: ignore[misc]

    def save_related(self, request: Any, form: ProductForm, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)  # type: ignore[misc]
        product = form.instance
        by_model = {formset.model: formset for formset in formsets}
        if {Media, Variant} <= by_model.keys():
            _set_pictures(request, by_model[Variant], by_model[Media])
        changes: dict[str, Any] = {}
        attributes = form.attributes_with(option_values_of(product))
        if attributes is not None:
            changes["attributes"] = attributes
        if _lost_variants(product, by_model.get(Variant)):
            changes["type"] = Product.Type.SIMPLE
        if "in_categories" in form.changed_data:
            changes["categories"] = form.cleaned_data["in_categories"]
        # This also updates what is derived from the other fields: search text, sort name, type, first publication.
        actions.update_product(shop=request.shop, product=product, now=request.now, before=form.before, **changes)
        self.check_files(request, product)


def _forms(form: Any, formsets: Iterable[Any]) -> Iterator[Any]:
    """The form, and those of its tables and of the tables within their rows."""
    yield form
    for row in (row for formset in formsets for row in formset.forms):
        yield from _forms(row, [nested.formset for nested in getattr(row, "nested_formsets", ())])


def _set_pictures(request: Any, variants: Any, pictures: Any) -> None:
    """Give the variants the pictures that their rows chose, which may be new ones of this form."""
    new = {f"{NEW_PICTURE}{number}": form.instance for number, form in enumerate(pictures.forms)}
    removed = {form.instance.pk for form in pictures.deleted_forms}
    for form in variants.forms:
        if "picture" not in form.changed_data or form in variants.deleted_forms or not form.instance.pk:
            continue
        chosen = form.cleaned_data["picture"]
        picture = new[chosen].pk if chosen in new else int(chosen) if chosen.isdigit() else None
        rows = Variant.objects.filter(shop=request.shop, pk=form.instance.pk)
        rows.update(image=None if picture in removed else picture)


def _lost_variants(product: Product, formset: Any) -> bool:
    """Whether the form removed the last variants of a product, which then is a simple one."""
    if formset is None or product.type != Product.Type.VARIABLE or not formset.deleted_objects:
        return False
    return not Variant.objects.filter(product=product.pk).exists()
