from typing import Any

from django.contrib import admin
from django.db import transaction
from django.forms import BaseInlineFormSet, ValidationError
from django.http import HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from unfold.decorators import action

from storefront.customers import actions, jobs, queries
from storefront.customers.models import Address, Customer
from storefront.kit.countries import countries
from storefront.kit.format import format_money, format_time
from storefront.shops.admin_base import ShopRelatedFilter, ShopScopedAdmin, ShopScopedStackedInline, moment
from storefront.shops.admin_forms import ShopScopedForm

# Orders shown on a customer's page; the list of orders finds the others by the e-mail address.
LATEST = 20


class CustomerForm(ShopScopedForm):
    def clean_email(self) -> str:
        return queries.normal_email(self.cleaned_data["email"])


class AddressForm(ShopScopedForm):
    # Said of all addresses together, by the formset.
    def _check_constraints(self) -> None:
        pass

    def clean_country(self) -> str:
        code = self.cleaned_data["country"].upper()
        if code not in countries():
            raise ValidationError("Expected the code of a country, such as DE.")
        return code


class AddressFormSet(BaseInlineFormSet):
    """A customer's addresses, of which one is the usual one."""

    def clean(self) -> None:
        super().clean()
        if len(self.ticked()) > 1:
            raise ValidationError("Only one address can be the usual one.")

    def ticked(self) -> list[Address]:
        kept = [form for form in self.forms if form not in self.deleted_forms]
        return [form.instance for form in kept if getattr(form, "cleaned_data", {}).get("is_default")]

    @transaction.atomic
    def save(self, commit: bool = True) -> Any:
        """First none is the usual one, since there may never be two of them."""
        usual = self.ticked()
        for form in self.forms:
            form.instance.is_default = False
        book = Address.objects.filter(customer=self.instance)
        book.update(is_default=False)
        saved = super().save(commit)
        book.filter(pk__in=[address.pk for address in usual]).update(is_default=True)
        return saved


class AddressInline(ShopScopedStackedInline):
    model = Address
    form = AddressForm
    formset = AddressFormSet
    tab = True
    exclude = ["shop"]


@admin.register(Customer)
class CustomerAdmin(ShopScopedAdmin):
    form = CustomerForm
    list_display = ["name_or_email", "email", "group", "since"]
    list_select_related = ["shop", "group"]
    list_filter = [("group", ShopRelatedFilter)]
    search_fields = ["email", "name", "phone"]
    ordering = ["-created_at", "-id"]
    fields = ["email", "name", "phone", "group", "note", "account", "bought"]
    readonly_fields = ["account", "bought"]
    inlines = [AddressInline]
    actions_detail = ["send_password_reset"]

    since = moment("created_at", "since")

    @admin.display(description="name", ordering="name")
    def name_or_email(self, row: Customer) -> str:
        return str(row)

    @admin.display(description="account")
    def account(self, row: Customer) -> str:
        return "Signs in with a password" if row.can_sign_in else "Has not chosen a password"

    @admin.display(description="orders")
    def bought(self, row: Customer) -> SafeString | str:
        if row.pk is None:
            return "None yet"
        orders = list(row.orders.filter(shop=row.shop_id).order_by("-placed_at", "-pk")[:LATEST])
        if not orders:
            return "None yet"
        sales = queries.sales_of(row.shop, [row])[row.pk]
        lines = format_html_join(
            mark_safe("<br>"),
            '<a href="{}">{}</a>, {}, {}, {}',
            (
                (
                    reverse("admin:orders_order_change", args=[order.pk]),
                    order,
                    format_time(order.placed_at, row.shop.timezone),
                    format_money(order.total, order.currency),
                    order.get_status_display().lower(),
                )
                for order in orders
            ),
        )
        total = format_money(sales.spent, row.shop.currency)
        return format_html("{} in all, {} paid<br>{}", sales.count, total, lines)

    def save_related(self, request: Any, form: Any, formsets: Any, change: bool) -> None:
        """With the addresses saved, the customer is whole, and what was done is told."""
        super().save_related(request, form, formsets, change)
        has_changed = form.has_changed() or any(formset.has_changed() for formset in formsets)
        if not change:
            actions.record_created(shop=request.shop, customer=form.instance, now=request.now)
        elif has_changed:
            Customer.objects.filter(shop=request.shop, pk=form.instance.pk).update(updated_at=request.now)
            form.instance.updated_at = request.now
            actions.record_updated(shop=request.shop, customer=form.instance, now=request.now)

    @action(
        description="Send password reset",
        icon="key",
        dialog={
            "title": "Send a mail to choose a password?",
            "description": "The customer gets a link that works for an hour. The password they have stays until then.",
            "form_class": None,
            "form_submit_text": "Send the mail",
        },
    )
    def send_password_reset(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        customer = self.row_or_404(request, object_id)
        jobs.send_password_link.enqueue(request.shop.pk, customer.email, "reset")
        return self.done(request, customer, "The mail is on its way.")
