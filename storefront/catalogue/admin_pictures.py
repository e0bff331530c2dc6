"""The pictures of a product on its page in the admin: chosen or dropped, described, sorted and removed.

A script sends each picture when it is chosen (`upload_picture`); a picture that the form itself sends is stored before
the form is looked at. Either way the form only names it, so that it is still there if the form is refused.
"""

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import PermissionDenied
from django.core.files.storage import default_storage
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from storefront.catalogue import thumbnails, uploaded_pictures
from storefront.catalogue.models import Media, UploadedPicture, WantedThumbnails
from storefront.catalogue.uploaded_pictures import UnusablePicture, find_uploaded, store_picture, token_of
from storefront.kit.refusals import InvalidFields
from storefront.kit.storage import StorageUnavailable
from storefront.shops.admin_base import ShopScopedTabularInline, view_and_edit
from storefront.shops.admin_forms import ShopScopedForm
from storefront.shops.rights import Right

PREFIX = "media"
_FILE = re.compile(rf"({PREFIX}-\d{{1,6}})-file")
GONE = "This picture is no longer stored, because the form was open for too long. Choose it again."
NOT_STORED = "The picture could not be stored. Please try again."


class MediaForm(ShopScopedForm):
    constraint_errors = {"media_has_source": ("file", "Upload a picture or enter its URL.")}
    # A picture that arrives with this form, and the name of one that was stored before.
    file = forms.FileField(required=False)
    stored = forms.CharField(required=False, widget=forms.HiddenInput)
    uploaded: UploadedPicture | None = None

    def clean_source_url(self) -> str:
        url = self.cleaned_data["source_url"].strip()
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise forms.ValidationError("Enter a URL such as https://cdn.example.com/cup.jpg.")
        return url

    def clean(self) -> None:
        super().clean()
        if problem := getattr(self.cleaned_data.get("file"), "problem", None):
            self.add_error("file", problem)
        elif token := self.cleaned_data.get("stored"):
            self.uploaded = find_uploaded(self.shop, token)
            if self.uploaded is None:
                self.add_error("file", GONE)
            else:
                # For the check that a picture has a source; `save` takes the file over.
                vars(self.instance)["file"] = str(self.uploaded.file.name)
                self.cleaned_data["source_url"] = ""

    def preview(self) -> str:
        """The address of the picture that the row has now, if any."""
        if token := str(self["stored"].value() or "") if "stored" in self.fields else "":
            uploaded = find_uploaded(self.shop, token)
            return default_storage.url(str(uploaded.file.name)) if uploaded else ""
        return small_url(self.instance) if self.instance.pk else str(self["source_url"].value() or "")

    def changed_columns(self) -> list[str]:
        own = ["file", "width", "height", "source_url"] if self.uploaded else []
        return sorted({*super().changed_columns(), *own})

    def save(self, commit: bool = True) -> Any:
        if self.uploaded is not None and not uploaded_pictures.take_over(self.uploaded, self.instance):
            raise InvalidFields(errors={"media": [GONE]})
        return super().save(commit)

    class Meta:
        model = Media
        fields = ["source_url", "alt", "sort_order"]


class MediaInline(ShopScopedTabularInline):
    model = Media
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)
    form = MediaForm
    slot = "pictures"
    template = "catalogue/admin/pictures.html"
    verbose_name = "picture"
    verbose_name_plural = "pictures"
    fields = ["source_url", "alt", "sort_order"]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        problem = WantedThumbnails.objects.filter(shop=OuterRef("shop"), file=OuterRef("file")).exclude(file="")
        return super().get_queryset(request).annotate(problem=Subquery(problem.values("problem")[:1]))


class PicturesAdmin:
    """Mixin of the product's page for its pictures."""

    admin_site: Any

    def get_urls(self) -> list[Any]:
        upload = self.admin_site.admin_view(require_http_methods(["GET", "POST"])(self.upload_picture))
        own = path("upload/picture", upload, name="catalogue_product_upload_picture")
        return [own, *super().get_urls()]  # type: ignore[misc]

    def upload_picture(self, request: Any) -> HttpResponse:
        """Store a picture: `{"stored": its name in the form, "url": where it is shown}`, or `{"problem": a sentence}`.
        Before the server reads a large body, it asks by GET whether the sender may upload."""
        if not self.has_change_permission(request):  # type: ignore[attr-defined]
            raise PermissionDenied
        return JsonResponse({} if request.method == "GET" else _stored(request, request.FILES.get("file")))

    def changeform_view(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        if request.method == "POST" and self.has_change_permission(request):  # type: ignore[attr-defined]
            _store_pictures(request)
        return super().changeform_view(request, *args, **kwargs)  # type: ignore[misc]


def check_picture(file: Any) -> None:
    """Raise ValidationError with the file's name for an upload that pages cannot show."""
    try:
        uploaded_pictures.check_picture(file)
    except UnusablePicture as refusal:
        raise forms.ValidationError(refusal.text) from None


def small_url(picture: Media) -> str:
    """Where a small version of the picture is, or the picture."""
    if not picture.file.name:
        return picture.source_url
    return thumbnails.url_of(picture.file.name, thumbnails.SMALL) or picture.file.url


def thumbnail(picture: Media, name: str) -> str:
    """A small picture of what has this name."""
    text = picture.alt or name
    return format_html('<img src="{}" alt="{}" class="thumbnail" loading="lazy">', small_url(picture), text)


def _store_pictures(request: Any) -> None:
    """Store each picture of the form and put its name into it. Errors are shown in the picture's row."""
    posted = request.POST.copy()
    for field, file in request.FILES.items():
        if match := _FILE.fullmatch(field):
            found = _stored(request, file)
            file.problem = found.get("problem")
            posted[f"{match[1]}-stored"] = found.get("stored", "")
    request.POST = posted


def _stored(request: Any, file: Any) -> dict[str, Any]:
    if file is None:
        return {"problem": "Choose a picture."}
    try:
        uploaded = store_picture(shop=request.shop, file=file, now=request.now)
    except UnusablePicture as refusal:
        return {"problem": refusal.text}
    except StorageUnavailable:
        return {"problem": NOT_STORED}
    return {"stored": token_of(uploaded), "url": uploaded.file.url}
