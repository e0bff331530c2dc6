from typing import Any

from django.db import transaction
from django.forms import BaseInlineFormSet, BooleanField, ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import UnfoldBooleanWidget

from storefront import audit
from storefront.customers import actions, jobs, queries
from storefront.customers.admin_export import exported_customers
from storefront.customers.models import Address, Customer
from storefront.kit.countries import countries
from storefront.kit.names import has_address, has_invisible_characters
from storefront.shops.rights import Right
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, asks, column, deed, list_deed, moment, view_and_edit
from storefront.staff.admin_saved_views import WithSavedViews
from storefront.staff.admin_scope import ShopRelatedFilter, ShopScopedStackedInline


class NamedForm(ShopScopedForm):
    """A form with a person's name. An existing name is not checked again."""

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if "name" in self.changed_data and (has_address(name) or has_invisible_characters(name)):
            raise ValidationError(_("A name cannot contain email addresses, web addresses or control characters."))
        return name


class CustomerForm(NamedForm):
    """Leaves the email address to `actions.set_email`: a customer with a password has to confirm it first."""

    withdraw = BooleanField(label=_lazy("Cancel the address change"), required=False, widget=UnfoldBooleanWidget)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        pending = self.instance.pending_email
        if pending is None:
            del self.fields["withdraw"]
        else:
            self.fields["withdraw"].help_text = _("%(pending)s is waiting for the customer's confirmation.") % {
                "pending": pending
            }

    def clean_email(self) -> str:
        return queries.normal_email(self.cleaned_data["email"])

    def changed_columns(self) -> list[str]:
        return [name for name in super().changed_columns() if name != "email"]


class AddressForm(NamedForm):
    # The formset checks the default address across all forms.
    def _check_constraints(self) -> None:
        pass

    def clean_country(self) -> str:
        code = self.cleaned_data["country"].upper()
        if code not in countries():
            raise ValidationError(_("Enter a country code, such as DE."))
        return code


class AddressFormSet(BaseInlineFormSet):
    """A customer's addresses, of which at most one is marked as the default."""

    def clean(self) -> None:
        super().clean()
        if len(self.marked_default()) > 1:
            raise ValidationError(_("Only one address can be the default address."))

    def marked_default(self) -> list[Address]:
        kept = [form for form in self.forms if form not in self.deleted_forms]
        return [form.instance for form in kept if getattr(form, "cleaned_data", {}).get("is_default")]

    @transaction.atomic
    def save(self, commit: bool = True) -> Any:
        """Clears the default before saving, since a constraint allows one default per customer."""
        defaults = self.marked_default()
        for form in self.forms:
            form.instance.is_default = False
        addresses = Address.objects.filter(customer=self.instance)
        addresses.update(is_default=False)
        saved = super().save(commit)
        addresses.filter(pk__in=[address.pk for address in defaults]).update(is_default=True)
        return saved


class AddressInline(ShopScopedStackedInline):
    model = Address
    form = AddressForm
    formset = AddressFormSet
    tab = True
    exclude = ["shop"]


class CustomerAdmin(WithSavedViews):
    """The customers' pages. `orders/admin_customers.py` adds what they bought, `privacy/admin.py` links to a person's
    data."""

    icon = "group"
    empty_text = _lazy("Everybody who creates an account in your shop is listed here, with their orders and addresses.")
    form = CustomerForm
    saves_views = Right.CHANGE_CUSTOMERS
    rights = view_and_edit(Right.VIEW_CUSTOMERS, Right.CHANGE_CUSTOMERS)
    moves = Moves.PERSONAL_DATA
    list_display = ["name_or_email", "email", "group", "since"]
    list_select_related = ["shop", "group"]
    reads_ids_first = True
    list_filter = [("group", ShopRelatedFilter)]
    search_fields = ["email", "name", "phone"]
    ordering = ["-created_at", "-id"]
    fields = ["email", "withdraw", "name", "phone", "group", "note", "account", "bought"]
    readonly_fields: Any = ["account", "bought"]
    inlines = [AddressInline]

    since = moment("created_at", _lazy("since"))
    name_or_email = column(_lazy("name"), str, by="name")
    account = column(_lazy("account"), lambda row: _("Password set") if row.can_sign_in else _("No password set"))

    def get_fields(self, request: Any, obj: Any = None) -> Any:
        is_pending = obj is not None and obj.pending_email is not None
        return [name for name in self.fields if name != "withdraw" or is_pending]

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and {"email", "withdraw"} & set(form.changed_data):
            email = form.cleaned_data["email"] if "email" in form.changed_data else form.initial["email"]
            actions.set_email(shop=request.shop, customer_id=obj.pk, email=email, now=request.now)
            obj.refresh_from_db(fields=["email", "pending_email", "session_mark"])
            if obj.pending_email:
                self.message_user(
                    request,
                    _("%(pending_email)s takes effect when the customer confirms it.")
                    % {"pending_email": obj.pending_email},
                )

    def save_related(self, request: Any, form: Any, formsets: Any, change: bool) -> None:
        """Records the event after the addresses are saved, since its data contain them."""
        super().save_related(request, form, formsets, change)
        has_changed = form.has_changed() or any(formset.has_changed() for formset in formsets)
        if not change:
            actions.record_created(shop=request.shop, customer=form.instance, now=request.now)
        elif has_changed:
            Customer.objects.filter(shop=request.shop, pk=form.instance.pk).update(updated_at=request.now)
            form.instance.updated_at = request.now
            actions.record_updated(shop=request.shop, customer=form.instance, now=request.now)

    @list_deed(_lazy("Export CSV"), Right.EXPORT_SALES, Moves.PERSONAL_DATA, icon="download", url_path="export.csv")
    def export_csv(self, request: Any) -> Any:
        """Export the customers that the list shows with its filters and search."""
        return exported_customers(request, self.listed(request))

    @deed(_lazy("Send password reset"), Right.CHANGE_CUSTOMERS, Moves.IDENTITY, icon="key")
    @asks(
        _lazy("Send a password reset email?"),
        _lazy("The customer gets a link that works for one hour. The current password works until then."),
        _lazy("Send email"),
    )
    def send_password_reset(self, request: Any, customer: Any, form: Any) -> str:
        jobs.send_password_link.enqueue(request.shop.pk, customer.email, "reset")
        audit.record(shop=request.shop, action="customer.password_mail_sent", object=customer, now=request.now)
        return _("Password reset email sent.")
