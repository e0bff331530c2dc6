"""The files of a product on its page in the admin: a table in which they are uploaded, replaced and removed.

A file is stored before the form is saved, which is a transaction that must not wait for a bucket. The form then holds
the id of the stored file. So a file need not be chosen again if something else in the form is wrong, and a script
(`shops/uploads.js`) can upload it beforehand, to `upload`, and show how far it is.
"""

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextInputWidget

from storefront import audit
from storefront.catalogue import actions
from storefront.catalogue.admin_pages.pictures import stored_picture
from storefront.catalogue.digital_files import UnusableFile, file_values, store_file, without_file
from storefront.catalogue.models import DigitalFile, Product, StoredFile, Variant
from storefront.kit.format import format_bytes
from storefront.kit.storage import StorageUnavailable
from storefront.shops.quotas import QuotaReached
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, column, own_page
from storefront.staff.admin_scope import ShopScopedTabularInline

# A file of the table of files, or a picture of the table of pictures.
_UPLOAD = re.compile(r"(digital_files-\d{1,6})-(upload)|(media-\d{1,6})-file")
NO_FILE = _lazy(
    "Saved as a draft: it is a download, and buyers would get no file. Add one under Files to download, and publish it."
)
NOT_STORED = _lazy("The file could not be stored. Please try again.")


class DigitalFileForm(ShopScopedForm):
    # The product of the page; None while it is new.
    product: Product | None = None
    upload = forms.FileField(
        required=False,
        label=_lazy("File"),
        widget=UnfoldAdminFileFieldWidget,
        help_text=_lazy("Another file replaces the current one for later orders."),
    )
    stored = forms.IntegerField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(
        required=False,
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text=_lazy("Shown to buyers. Leave empty to use the file's name."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "upload" in self.fields:
            self.fields["upload"].widget.attrs["data-upload"] = reverse("admin:catalogue_product_upload")
            # A new product has no variants yet.
            field: Any = self.fields["variant"]
            field.queryset = Variant.objects.filter(shop=self.shop, product=self.product or 0)
            field.empty_label = _("All")
            # No links to the variant's page beside the choice.
            field.widget.can_add_related = field.widget.can_change_related = field.widget.can_view_related = False

    def clean(self) -> None:
        super().clean()
        id = self.cleaned_data.get("stored")
        stored = StoredFile.objects.filter(shop=self.shop, pk=id).first() if id else None
        if stored is not None:
            self.instance.file = stored
            self.cleaned_data["name"] = self.cleaned_data.get("name") or stored.name
        elif problem := getattr(self.cleaned_data.get("upload"), "problem", None):
            self.add_error("upload", problem)
        elif not self.instance.file_id:
            self.add_error("upload", _("Choose a file."))
        if not self.cleaned_data.get("name") and self.instance.file_id:
            self.cleaned_data["name"] = self.instance.file.name

    def changed_columns(self) -> list[str]:
        return sorted({*super().changed_columns(), "file"})

    class Meta:
        model = DigitalFile
        fields = ["variant", "name", "sort_order"]


class DigitalFileInline(ShopScopedTabularInline):
    model = DigitalFile
    form = DigitalFileForm
    slot = "more"
    classes = ("collapse",)
    verbose_name = _lazy("file to download")
    verbose_name_plural = _lazy("files to download")
    fields = ["current", "upload", "stored", "name", "variant", "sort_order"]
    readonly_fields = ["current"]
    related = ("file", "variant")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        uploading = self.has_change_permission(request, obj)
        return [name for name in self.fields if uploading or name not in ("upload", "stored")]

    current = column(
        _lazy("current file"),
        lambda row: format_html("{}, {}", row.file.name, format_bytes(row.file.size)) if row.pk else "–",
    )

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        formset.form.product = obj
        return formset


class UploadsAdmin:
    """What the page of a product adds for its files and pictures: each is stored when it is chosen, or before the form
    is looked at. A page of uploads returns `{"stored": its name in the form}`, or `{"problem": a sentence}`; before the
    server reads a large body, it asks by GET whether the sender may upload."""

    @own_page("upload", "change", Moves.NOTHING)
    def upload(self, request: Any) -> HttpResponse:
        return JsonResponse({} if request.method == "GET" else stored_file(request, request.FILES.get("file")))

    @own_page("upload/picture", "change", Moves.NOTHING)
    def upload_picture(self, request: Any) -> HttpResponse:
        return JsonResponse({} if request.method == "GET" else stored_picture(request, request.FILES.get("file")))

    def changeform_view(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        if request.method == "POST" and self.has_change_permission(request):  # type: ignore[attr-defined]
            _store_uploads(request)
        return super().changeform_view(request, *args, **kwargs)  # type: ignore[misc]

    def save_related(self, request: Any, form: Any, formsets: Any, change: bool) -> None:
        product: Product = form.instance
        before = file_values(product)
        super().save_related(request, form, formsets, change)  # type: ignore[misc]
        audit.record_change(
            shop=request.shop,
            action="product.files_changed",
            object=product,
            before={"files": before},
            after={"files": file_values(product)},
            now=request.now,
        )

    def check_files(self, request: Any, product: Product) -> None:
        """A download without a file becomes a draft again: files are saved after the product."""
        row = Product.objects.filter(shop=request.shop, pk=product.pk, status=Product.Status.ACTIVE)
        if row.exists() and without_file(request.shop, [product.pk]):
            actions.set_status(shop=request.shop, products=row, status=Product.Status.DRAFT, now=request.now)
            messages.warning(request, NO_FILE)


def _store_uploads(request: Any) -> None:
    """Store each file and picture of the form, and put its id or name into the form. What is wrong with one is shown in
    its row."""
    posted = request.POST.copy()
    for field, file in request.FILES.items():
        if match := _UPLOAD.fullmatch(field):
            found = (stored_file if match[2] else stored_picture)(request, file)
            file.problem = found.get("problem")
            posted[f"{match[1] or match[3]}-stored"] = str(found.get("stored", ""))
    request.POST = posted


def stored_file(request: Any, file: Any) -> dict[str, Any]:
    if file is None:
        return {"problem": _("Choose a file.")}
    try:
        return {"stored": store_file(shop=request.shop, file=file, now=request.now).pk}
    except (UnusableFile, QuotaReached) as refusal:
        return {"problem": refusal.text}
    except StorageUnavailable:
        return {"problem": NOT_STORED}
