"""The operator's forms: a new shop with its owner, and a shop's quotas."""

from decimal import Decimal
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminEmailInputWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
)

from storefront.deployment.usage import MAX_LIMIT
from storefront.kit.form_fields import FiniteDecimalField
from storefront.shops import quotas
from storefront.staff import actions, invitations
from storefront.staff.admin_forms import FurtherLanguagesField, ShopScopedForm, check_further_languages

GIB = 1024**3
# Where the title of a use does not fit its limit.
LABELS = {"files": _lazy("Files, in GB"), "orders": _lazy("Orders a day"), "mails": _lazy("Emails an hour")}
# Names of the form's fields, by kind of quota.
LIMITS = {kind: f"limit_{kind}" for kind in settings.QUOTAS}


class NewShopForm(ShopScopedForm):
    owner = forms.EmailField(
        label=_lazy("Owner's email address"),
        max_length=invitations.MAX_EMAIL_LENGTH,
        widget=UnfoldAdminEmailInputWidget,
        help_text=_lazy("They get an email with a link to accept. The link works once, for seven days."),
    )
    timezone = forms.ChoiceField(
        choices=[(name, name.replace("_", " ")) for name in sorted(available_timezones())],
        widget=UnfoldAdminSelectWidget,
        initial="Europe/Berlin",
        label=_lazy("Time zone"),
    )

    further_languages = FurtherLanguagesField()

    def clean_owner(self) -> str:
        return self.cleaned_data["owner"].lower()

    def clean_domain(self) -> str:
        return self.cleaned_data["domain"].strip().lower()

    def clean_base_url(self) -> str:
        return self.cleaned_data["base_url"].rstrip("/")

    def clean_currency(self) -> str:
        return self.cleaned_data["currency"].strip().upper()

    def clean(self) -> Any:
        cleaned = super().clean()
        names = ("domain", "name", "base_url", "currency", "timezone", "language", "email")
        if not any(self.has_error(name) for name in names):
            for field, problems in actions.problems_of_new_shop(**{name: cleaned[name] for name in names}).items():
                self.add_error(field, problems)
        check_further_languages(self)
        return cleaned


def _limit_field(kind: str) -> forms.Field:
    usual = settings.QUOTAS[kind]
    shown = quotas.shown(kind, usual) if usual else _("no limit")
    given: dict[str, Any] = {
        "label": LABELS.get(kind, quotas.TITLES[kind]),
        "required": False,
        "min_value": 0,
        "help_text": _("Empty: %(shown)s, as for every shop of this deployment. 0: no limit.") % {"shown": shown},
    }
    if kind != "files":
        return forms.IntegerField(max_value=MAX_LIMIT, widget=UnfoldAdminIntegerFieldWidget, **given)
    given |= {"max_value": MAX_LIMIT // GIB}
    return FiniteDecimalField(max_digits=12, decimal_places=3, widget=UnfoldAdminDecimalFieldWidget, **given)


class QuotasForm(ShopScopedForm):
    """A field for each quota, empty where the deployment's holds; `LIMITS` has their names."""

    limit_files = _limit_field("files")
    limit_products = _limit_field("products")
    limit_orders = _limit_field("orders")
    limit_mails = _limit_field("mails")
    limit_tasks = _limit_field("tasks")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind, most in quotas.own_limits(self.instance.pk).items():
            size = (Decimal(most) / GIB).quantize(Decimal("0.001")).normalize()
            self.initial[LIMITS[kind]] = format(size, "f") if kind == "files" else most

    def limits(self) -> dict[str, int | None]:
        """The limits that were changed."""
        given = {kind: self.cleaned_data[name] for kind, name in LIMITS.items() if name in self.changed_data}
        return {
            kind: round(most * GIB) if kind == "files" and most is not None else most for kind, most in given.items()
        }
