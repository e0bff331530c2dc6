"""The editor of the shop's looks, with a preview; their versions and the starting themes. Each shop has one row, so the
menu leads to its form."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.catalogue.admin_pages.forms import check_picture
from storefront.catalogue.admin_pages.pictures import stored_picture
from storefront.catalogue.media.uploaded import find_uploaded
from storefront.content import colours, sections
from storefront.content.models import Looks, LooksVersion, MenuLink
from storefront.kit.format import format_time
from storefront.kit.refusals import InvalidFields
from storefront.shops.rights import Right
from storefront.staff.admin_base import OneRowAdmin, count_files, redirect
from storefront.staff.admin_forms import ShopScopedForm, possible_id
from storefront.staff.admin_parts import Moves, layout, own_page, person
from storefront.staff.admin_scope import ShopScopedTabularInline
from storefront.website import looks, looks_preview, looks_versions, themes
from storefront.website.admin_sections import DO, FILE, SectionsField, SectionsWidget

# Fields of the form that the preview shows before they are saved.
PREVIEWED = ("accent", "background", "fonts", "corners", "pictures", "footer_text", "address", "phone", "hours", "home")


class ColourInput(forms.TextInput):
    input_type = "color"
    template_name = "website/admin/colour.html"


class LooksForm(ShopScopedForm):
    home = SectionsField(label=_lazy("Sections"), required=False)
    # The version that the page showed, and the token of a logo that was stored when it was chosen.
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    logo_stored = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["home"] = self.instance.sections
        version = looks_versions.latest(self.shop)
        self.latest = version
        self.initial["seen"] = str(version.pk) if version else ""
        if "home" in self.fields:
            self.fields["home"].widget.shop = self.shop

    def clean_logo(self) -> Any:
        file = self.cleaned_data.get("logo")
        if file and "logo" in self.changed_data:
            check_picture(file)
        return file

    def clean_logo_stored(self) -> str:
        token = self.cleaned_data["logo_stored"]
        if token and find_uploaded(self.shop, token) is None:
            self.add_error("logo", _("This picture is no longer stored. Choose it again."))
        return token

    def clean(self) -> Any:
        cleaned = super().clean()
        accent, background = (cleaned.get(name, "") for name in ("accent", "background"))
        # The columns' validators refuse an invalid colour.
        if colours.is_colour(accent) and colours.is_colour(background):
            if problem := colours.problem_of_background(background):
                self.add_error("background", problem)
            elif problem := colours.problem_of_accent(accent, background):
                self.add_error("accent", problem)
        if not self.is_held:
            self._check_nobody_saved()
        return cleaned

    def _check_nobody_saved(self) -> None:
        """Refuse to replace what somebody saved since the page was shown. Sent again, it replaces that on purpose."""
        looks_versions.locked(self.shop)
        self.latest = version = looks_versions.latest(self.shop)
        if version is not None and str(version.pk) != self.cleaned_data.get("seen"):
            text = _(
                "%(name)s saved other looks at %(time)s. What you entered is still here. Look at theirs under"
                " Earlier versions, or save again to replace them."
            )
            self.add_error(
                None,
                text
                % {
                    "name": person(version.saved_by, _("Somebody")),
                    "time": format_time(version.saved_at, self.shop.timezone),
                },
            )

    def seen_now(self) -> str:
        """The version that the form has been compared with."""
        return str(self.latest.pk) if self.latest else ""

    def changed_columns(self) -> list[str]:
        more = {"logo"} if self.cleaned_data.get("logo_stored") else set()
        return sorted({*super().changed_columns(), *more})


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
    translated = ("footer_text", "hours")
    compressed_fields = False
    change_form_before_template = "website/admin/looks_form.html"
    change_form_outer_before_template = "website/admin/preview.html"
    fieldsets: Any = layout(
        "Design: logo accent background fonts corners pictures",
        "Home page: home",
        "Footer: footer_text address phone hours",
    )

    class Media:
        js = ("website/sections.js", "website/preview.js")
        css = {"all": ("website/looks-admin.css",)}

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in ("accent", "background"):
            kwargs["widget"] = ColourInput
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def the_row(self, request: Any) -> Looks:
        """Redirect to the form of the shop's looks, which the first visit creates."""
        return Looks.objects.get_or_create(shop=request.shop, defaults={"updated_at": request.now})[0]

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        cast(Any, request).admin_policy = {"frame-src": "'self'"}
        if request.method == "POST" and self.has_change_permission(request):
            _take_in(request)
        return super().changeform_view(request, *args, **kwargs)

    def save_model(self, request: Any, obj: Looks, form: Any, change: bool) -> None:
        count_files(request, form)
        looks_versions.keep_first(Looks.objects.get(pk=obj.pk))
        _take_pictures(request, obj, form)
        super().save_model(request, obj, form, change)
        looks_versions.add_version(obj, request.user, request.now)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        shown = context["original"].sections if context.get("original") else []
        context |= {"title": _("Looks"), "subtitle": None, "has_demo_pictures": sections.shows_demo_pictures(shown)}
        return super().render_change_form(request, context, *args, **kwargs)

    @own_page("frame/", "view", Moves.NOTHING)
    def frame(self, request: Any) -> HttpResponse:
        """The home page with the looks in the posted form, of a version or of a theme; else the saved ones. Invalid
        values are ignored. With `colours`: the page's stylesheet of colours."""
        if "colours" in request.GET:
            return looks.colours_page(request, request.GET["colours"])
        shop = request.shop
        row = Looks.objects.filter(shop=shop).prefetch_related("links").first() or Looks(shop=shop)
        if version := self._version(request, request.GET.get("version", "")):
            looks_versions.with_state(row, version.state)
        elif theme := themes.THEMES.get(request.GET.get("theme", "")):
            looks_versions.with_state(row, themes.state_of(theme, shop))
        elif request.method == "POST":
            _draw(request, row)
        return looks_preview.preview(request, row)

    @own_page("upload/picture", "change", Moves.NOTHING)
    def upload_picture(self, request: Any) -> HttpResponse:
        return JsonResponse({} if request.method == "GET" else stored_picture(request, request.FILES.get("file")))

    @own_page("versions/", "view", Moves.NOTHING)
    def versions(self, request: Any) -> HttpResponse:
        """The versions, newest first, each with its preview. A POST makes one of them the newest again."""
        if request.method == "POST":
            self.require(request, "change")
        if "version" in request.POST:
            return self._back_to_version(request)
        request.admin_policy = {"frame-src": "'self'"}
        rows = list(LooksVersion.objects.filter(shop=request.shop).select_related("saved_by"))
        chosen = self._version(request, request.GET.get("version", "")) or next(iter(rows), None)
        listed = [
            {"row": row, "at": format_time(row.saved_at, request.shop.timezone), "who": person(row.saved_by)}
            for row in rows
        ]
        context = {"title": _("Earlier versions"), "versions": listed, "chosen": chosen, "newest": rows[:1]}
        return self.page(request, "website/admin/looks_versions.html", **context)

    @own_page("themes/", "change", Moves.NOTHING)
    def themes(self, request: Any) -> HttpResponse:
        """Choose a starting theme, which becomes the newest version."""
        theme = themes.THEMES.get(request.POST.get("theme", ""))
        if theme is not None:
            before = Looks.objects.filter(shop=request.shop).first()
            self._save(request, themes.state_of(theme, request.shop, before))
            self.message_user(
                request, _("Your shop has a new look. The one before is under Earlier versions."), messages.SUCCESS
            )
            return self.back_to(request, self.the_row(request))
        request.admin_policy = {"frame-src": "'self'"}
        context = {"title": _("Choose a look"), "themes": themes.THEMES}
        return self.page(request, "website/admin/looks_themes.html", **context)

    def _back_to_version(self, request: Any) -> HttpResponse:
        version = self._version(request, request.POST["version"])
        if version is None:
            raise Http404
        self._save(request, version.state)
        self.message_user(request, _("The looks are as they were. What they replace is an earlier version now."))
        return redirect(request, request.path)

    def _version(self, request: Any, key: str) -> LooksVersion | None:
        id = possible_id(LooksVersion, key) if key else None
        return LooksVersion.objects.filter(shop=request.shop, pk=id).first() if id else None

    @transaction.atomic
    def _save(self, request: Any, state: dict[str, Any]) -> None:
        before, after = looks_versions.save_state(request.shop, state, request.user, request.now)
        was, is_now = looks_versions.state_of(before), looks_versions.state_of(after)
        changed = [name for name in was if was[name] != is_now[name]]
        audit.record_change(
            shop=request.shop,
            action="looks.updated",
            object=after,
            before={name: was[name] for name in changed},
            after={name: is_now[name] for name in changed},
            now=request.now,
        )


def _take_in(request: Any) -> None:
    """Store the pictures of sections that the form sends, and name them in the form. Show the form again, without
    saving it, after a button of the list of sections, and if a picture cannot be stored."""
    posted = request.POST.copy()
    request.is_held = DO in posted
    for name, file in list(request.FILES.items()):
        if match := FILE.fullmatch(name):
            found = stored_picture(request, file)
            if "stored" in found:
                posted[f"home-{match[1]}-picture"] = found["stored"]
            else:
                request.is_held = True
                messages.error(request, found["problem"])
    request.POST = posted


def _take_pictures(request: Any, row: Looks, form: LooksForm) -> None:
    """Make the uploads of the form pictures of the looks."""
    gone = InvalidFields(errors={"home": [_("A picture is no longer stored. Choose it again.")]})
    for section in row.home or ():
        if isinstance(section.get("picture"), str):
            picture = looks_versions.take_picture(request.shop, section["picture"], request.now)
            if picture is None:
                raise gone
            section["picture"] = picture.pk
    token = form.cleaned_data.get("logo_stored")
    if token and not isinstance(form.cleaned_data.get("logo"), UploadedFile):
        picture = looks_versions.take_picture(request.shop, token, request.now)
        if picture is None:
            raise gone
        row.logo = picture.file.name


def _draw(request: Any, row: Looks) -> None:
    """Change the looks, which are not saved, to what the posted form has. An invalid value changes nothing."""
    fields = [name for name in PREVIEWED if name != "home"]
    kept = {name: getattr(row, name) for name in fields}
    form = forms.modelform_factory(Looks, fields=fields)(request.POST, instance=row)
    form.is_valid()
    for name in fields:
        is_usable = name not in form.errors and name in request.POST
        setattr(row, name, form.cleaned_data[name] if is_usable else kept[name])
    field = SectionsField()
    widget = cast(SectionsWidget, field.widget)
    widget.shop = request.shop
    sent = widget.value_from_datadict(request.POST, {}, "home")
    if sent is not None:
        row.home = sections.without_problems(*field.understood(sent))
    if token := request.POST.get("logo_stored"):
        uploaded = find_uploaded(request.shop, token)
        row.logo = uploaded.file.name if uploaded else row.logo
    elif request.POST.get("logo-clear"):
        row.logo = ""
