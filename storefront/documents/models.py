from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.kit.money_field import MoneyField
from storefront.orders.models import Order
from storefront.payments.models import Refund
from storefront.shops.models import Shop


def block(most: int, help_text: str) -> models.TextField:
    """A column for a text of several lines."""
    return models.TextField(blank=True, validators=[MaxLengthValidator(most)], help_text=help_text)


class InvoiceSettings(models.Model):
    """A shop's invoice settings: issuing on or off, the seller's details, and the numbering."""

    shop = models.OneToOneField(Shop, on_delete=models.CASCADE, related_name="invoice_settings")
    is_on = models.BooleanField(
        "issue invoices", default=False, help_text="For each order, once it is paid. Orders before that get none."
    )
    legal_name = models.CharField(max_length=200, blank=True, help_text="The seller's full legal name.")
    address = block(500, "The seller's postal address, on several lines.")
    vat_id = models.CharField("VAT ID or tax number", max_length=60, blank=True)
    registration = block(300, "Company registration, managing directors and the like.")
    bank = block(300, "Bank account: name of the bank, IBAN, BIC.")
    footer = block(1000, "A text below the totals, such as terms or thanks.")
    translations = models.JSONField(null=True, blank=True, editable=False)
    invoice_prefix = models.CharField(
        max_length=20,
        blank=True,
        default="{year}-",
        help_text="What invoice numbers begin with. {year} is the year of issue; each year then counts from 1.",
    )
    credit_note_prefix = models.CharField(
        max_length=20,
        blank=True,
        default="CN-{year}-",
        help_text="What numbers of credit notes begin with. The same as for invoices: both are counted together.",
    )

    class Meta:
        verbose_name = verbose_name_plural = "invoice settings"
        constraints = [
            models.CheckConstraint(
                condition=Q(is_on=False) | (~Q(legal_name="") & ~Q(address="")), name="invoice_seller_is_named"
            )
        ]

    def __str__(self) -> str:
        return _("Invoices")


class NumberSeries(models.Model):
    """The next number of documents whose numbers begin alike. Lock its row late in a transaction: all documents of the
    series wait for it."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    prefix = models.CharField(max_length=40, blank=True, help_text="With the year filled in.")
    next_number = models.BigIntegerField(default=1)
    is_used = models.BooleanField(default=False, help_text="Whether a number was given, so that it can only go on.")

    class Meta:
        verbose_name_plural = "number series"
        constraints = [
            models.UniqueConstraint(fields=["shop", "prefix"], name="number_series_once"),
            models.CheckConstraint(condition=Q(next_number__gte=1), name="number_series_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.prefix}{self.next_number:05d}"


class Document(models.Model):
    """An issued invoice or credit note. `record` has everything that is printed (`records.py`). Never changed: triggers
    refuse it (`triggers.py`)."""

    class Kind(models.TextChoices):
        INVOICE = "invoice", gettext_lazy("Invoice")
        CREDIT_NOTE = "credit_note", gettext_lazy("Credit note")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    order = models.ForeignKey(Order, on_delete=models.RESTRICT, related_name="documents")
    kind = models.CharField(max_length=11, choices=Kind)
    number = models.CharField(max_length=60)
    prefix = models.CharField(max_length=40, blank=True)
    position = models.BigIntegerField(help_text="The number without its prefix.")
    revision = models.PositiveSmallIntegerField(default=1, help_text="2: the first corrected invoice of the order.")
    invoice = models.ForeignKey(
        "self", null=True, on_delete=models.RESTRICT, related_name="credit_notes", help_text="What is credited."
    )
    refund = models.ForeignKey(Refund, null=True, on_delete=models.RESTRICT, related_name="credit_notes")
    amount = MoneyField(help_text="The total of the invoice, or what is credited.")
    currency = models.CharField(max_length=3)
    record = models.JSONField()
    issued_at = models.DateTimeField()

    class Meta:
        verbose_name = "invoice or credit note"
        verbose_name_plural = "invoices and credit notes"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["shop", "prefix", "position"], name="document_position_once"),
            models.UniqueConstraint(fields=["shop", "number"], name="document_number_once"),
            models.UniqueConstraint(
                fields=["order", "revision"], condition=Q(kind="invoice"), name="document_invoice_once"
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="document_amount_positive"),
            models.CheckConstraint(
                condition=Q(kind="invoice", invoice=None) | Q(kind="credit_note", invoice__isnull=False),
                name="document_credits_an_invoice",
            ),
        ]
        indexes = [models.Index(fields=["shop", "issued_at", "id"], name="document_by_time")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.number}"

    @property
    def file_name(self) -> str:
        return f"{self.kind.replace('_', '-')}-{self.number}.pdf".replace("/", "-")


class DueOrder(models.Model):
    """An order that was paid, refunded or cancelled: the worker issues its missing documents (`issuing.py`). Written in
    the transaction of that change."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="documents_due")
    due_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return str(self.order_id)
