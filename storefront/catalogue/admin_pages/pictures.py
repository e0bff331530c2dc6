"""The pictures of a product on its page in the admin: chosen or dropped, described, sorted and removed.

A script sends each picture when it is chosen (`upload_picture`); a picture that the form itself sends is stored before
the form is looked at. Either way the form only names it, so that it is still there if the form is refused.
"""

from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from django import forms
from django.core.files.storage import default_storage
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.media import thumbnails
from storefront.catalogue.media import uploaded as uploaded_pictures
from storefront.catalogue.media.uploaded import UnusablePicture, find_uploaded, store_picture, token_of
from storefront.catalogue.models import Media, UploadedPicture, WantedThumbnails
from storefront.kit.refusals import InvalidFields
from storefront.kit.storage import StorageUnavailable
from storefront.shops.quotas import QuotaReached
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_scope import ShopScopedTabularInline

GONE = _lazy("This picture is no longer stored, because the form was open for too long. Choose it again.")
NOT_STORED = _lazy("The picture could not be stored. Please try again.")


class MediaForm(ShopScopedForm):
    constraint_errors = {"media_has_source": ("file", _lazy("Upload a picture or enter its URL."))}
    # A picture that arrives with this form, and the name of one that was stored before.
    file = forms.FileField(required=False)
    stored = forms.CharField(required=False, widget=forms.HiddenInput)
    uploaded: UploadedPicture | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(forms.ChoiceField, self.fields["focus"]).choices = [("", _("As in the looks")), *Media.Focus.choices]

    def clean_source_url(self) -> str:
        url = self.cleaned_data["source_url"].strip()
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise forms.ValidationError(_("Enter a URL such as https://cdn.example.com/cup.jpg."))
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
            raise InvalidFields(errors={"media": [str(GONE)]})
        return super().save(commit)

    class Meta:
        model = Media
        fields = ["source_url", "alt", "sort_order", "focus"]
        widgets: ClassVar = {"focus": forms.RadioSelect}
        labels: ClassVar = {"focus": _lazy("Part to keep in view")}


class MediaInline(ShopScopedTabularInline):
    model = Media
    form = MediaForm
    slot = "pictures"
    template = "catalogue/admin/pictures.html"
    verbose_name = _lazy("picture")
    verbose_name_plural = _lazy("pictures")
    fields = ["source_url", "alt", "sort_order", "focus"]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        problem = WantedThumbnails.objects.filter(shop=OuterRef("shop"), file=OuterRef("file")).exclude(file="")
        return super().get_queryset(request).annotate(problem=Subquery(problem.values("problem")[:1]))


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


def stored_picture(request: Any, file: Any) -> dict[str, Any]:
    if file is None:
        return {"problem": _("Choose a picture.")}
    try:
        uploaded = store_picture(shop=request.shop, file=file, now=request.now)
    except (UnusablePicture, QuotaReached) as refusal:
        return {"problem": refusal.text}
    except StorageUnavailable:
        return {"problem": NOT_STORED}
    return {"stored": token_of(uploaded), "url": uploaded.file.url}
