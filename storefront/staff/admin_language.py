"""The language of the admin's pages, and the form in which members of staff choose theirs."""

from django import forms
from django.http import HttpResponse
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from storefront.kit.middleware import Middleware
from storefront.shops.places import ADMIN, SINGLE
from storefront.shops.request import Request
from storefront.shops.staff_language import LANGUAGES, language_of_admin


class AdminLanguage(Middleware):
    """Activates the language of the signed-in person on the admin's pages, and the browser's before the sign-in."""

    def __call__(self, request: Request) -> HttpResponse:
        is_admin = request.path_info.startswith("/admin/") or request.path_info == "/admin"
        if request.place not in (SINGLE, ADMIN) or not is_admin:
            return self.get_response(request)
        with translation.override(language_of_admin(request)):
            return self.get_response(request)


class LanguageForm(forms.Form):
    language = forms.ChoiceField(
        label=_("Language"),
        choices=[("", _("The browser's language")), *LANGUAGES.items()],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
