"""The model of uploaded product files."""

from django.db import models
from django.db.models import Q

from storefront.catalogue.models import Product, Variant
from storefront.kit.storage import private_files
from storefront.product_files.encodings import COMMON_ENCODINGS, usual_name
from storefront.shops.models import Shop, User

MAX_SOURCE_LENGTH = 100


class ImportSource(models.Model):
    """A shop elsewhere whose files were imported, by the name that the merchant gave it. Its ids are its own: id 7 of
    one source and id 7 of another are two products."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    name = models.CharField(max_length=MAX_SOURCE_LENGTH)
    used_at = models.DateTimeField(help_text="Time of the last import from it.")

    class Meta:
        app_label = "catalogue"
        constraints = [models.UniqueConstraint(fields=["shop", "name"], name="import_source_name")]

    def __str__(self) -> str:
        return self.name


class ExternalId(models.Model):
    """The id that a product has in a source. A product can have ids of several sources."""

    source = models.ForeignKey(ImportSource, on_delete=models.CASCADE, db_index=False)
    external_id = models.BigIntegerField()
    product = models.ForeignKey(Product, on_delete=models.CASCADE)

    class Meta:
        app_label = "catalogue"
        constraints = [models.UniqueConstraint(fields=["source", "external_id"], name="external_id_of_source")]

    def __str__(self) -> str:
        return str(self.external_id)


class ExternalVariantId(models.Model):
    """The id that a variant has in a source. A variant can have ids of several sources."""

    source = models.ForeignKey(ImportSource, on_delete=models.CASCADE, db_index=False)
    external_id = models.BigIntegerField()
    variant = models.ForeignKey(Variant, on_delete=models.CASCADE)

    class Meta:
        app_label = "catalogue"
        constraints = [models.UniqueConstraint(fields=["source", "external_id"], name="external_variant_id_of_source")]

    def __str__(self) -> str:
        return str(self.external_id)


class ColumnMapping(models.Model):
    """A shop's mapping of the columns of a table, kept for the next file with the same header row."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the header row.")
    mapping = models.JSONField(help_text='{"columns": {"Header": "member"}, "constants": {}, "weight_unit": "kg", ...}')
    used_at = models.DateTimeField(help_text="Time of the last import with it.")

    class Meta:
        app_label = "catalogue"
        constraints = [models.UniqueConstraint(fields=["shop", "digest"], name="column_mapping_digest")]

    def __str__(self) -> str:
        return self.digest[:12]


class ProductImport(models.Model):
    """A product file that a merchant uploaded, with the result of its import. The file is deleted afterwards. One of no
    known format waits, with a sample of its rows, until somebody maps its columns."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        ASKING = "asking", "Waits for you"
        UNMAPPED = "unmapped", "Needs a mapping"
        DONE = "done"
        FAILED = "failed", "Failed"
        DECLINED = "declined", "Not imported"
        UNDOING = "undoing", "Being undone"
        UNDONE = "undone"

    class Format(models.TextChoices):
        AUTO = "auto", "Detect automatically"
        WOOCOMMERCE = "woocommerce", "WooCommerce CSV"
        SHOPIFY = "shopify", "Shopify CSV"
        SHOPIFY_TEXTS = "shopify-texts", "Shopify CSV of translations"
        SQUARESPACE = "squarespace", "Squarespace CSV"
        WIX = "wix", "Wix CSV"
        BIGCOMMERCE = "bigcommerce", "BigCommerce CSV"
        BIGCOMMERCE_V2 = "bigcommerce-v2", "BigCommerce CSV, older export (v2)"
        SQUARE = "square", "Square CSV"
        GOOGLE = "google", "Google product feed"
        MATRIXIFY = "matrixify", "Matrixify"
        NATIVE = "native", "Native (JSON Lines)"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    user = models.ForeignKey(User, null=True, editable=False, on_delete=models.SET_NULL, related_name="+")
    file = models.FileField(upload_to="imports/", storage=private_files, max_length=500, blank=True)
    file_name = models.CharField("file", max_length=255, editable=False)
    format = models.CharField(max_length=15, choices=Format, default=Format.AUTO)
    source = models.CharField(
        max_length=MAX_SOURCE_LENGTH,
        blank=True,
        help_text="The WooCommerce shop that the file is from. Its IDs count only for products of this source.",
    )
    encoding = models.CharField(
        max_length=20,
        choices=[(name, usual_name(name)) for name in COMMON_ENCODINGS],
        blank=True,
        default="",
        help_text="Leave empty to detect it. Choose one if texts look wrong.",
    )
    update = models.BooleanField(
        "update existing products",
        default=False,
        help_text="If off, existing products are skipped.",
    )
    dry_run = models.BooleanField(
        "dry run", default=False, help_text="If on, nothing is saved and the report shows what would change."
    )
    fetch_pictures = models.BooleanField(
        "fetch pictures",
        default=True,
        help_text="If off, pictures stay where they are and are shown from there.",
    )
    mapping = models.JSONField(
        null=True, editable=False, help_text="The mapping of its columns, as in ColumnMapping; null for known formats."
    )
    sample = models.JSONField(
        null=True, editable=False, help_text='{"headers": [...], "rows": [[line, [...]]]}, while it needs a mapping.'
    )
    state = models.CharField(max_length=10, choices=State, default=State.WAITING, editable=False)
    percent = models.PositiveSmallIntegerField("progress", default=0, editable=False)
    created = models.PositiveIntegerField(default=0, editable=False)
    updated = models.PositiveIntegerField(default=0, editable=False)
    skipped = models.PositiveIntegerField(default=0, editable=False)
    failed = models.PositiveIntegerField(default=0, editable=False)
    conflicts = models.PositiveIntegerField(default=0, editable=False)
    problems = models.JSONField(
        default=list,
        editable=False,
        help_text='[{"line": 2, "key": "SKU A", "column": "Price", "reason": "...", "severity": "error"}]',
    )
    changes = models.JSONField(
        default=list, editable=False, help_text="The first changes that were made, or would be made."
    )
    reason = models.TextField("failure reason", blank=True, editable=False)
    impact = models.JSONField(null=True, editable=False, help_text="What the file would change (`impact.Impact`).")
    accepted = models.JSONField(
        null=True, editable=False, help_text="The rules of `gate.RULES` that a person accepted; null before a decision."
    )
    undo_result = models.JSONField(
        null=True, editable=False, help_text='{"undone": 3, "left": 1, "reasons": ["Mug: it was sold since"]}'
    )
    created_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField(null=True, editable=False, help_text="Last sign of life of the worker.")
    finished_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        # The table, permissions and admin pages keep the names from when the model was part of the room `catalogue`.
        app_label = "catalogue"
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "waiting",
                        "running",
                        "unmapped",
                        "asking",
                        "done",
                        "failed",
                        "declined",
                        "undoing",
                        "undone",
                    ]
                ),
                name="product_import_state",
            )
        ]
        indexes = [models.Index(fields=["shop", "created_at"]), models.Index(fields=["state", "heartbeat_at"])]

    def __str__(self) -> str:
        return self.file_name

    @property
    def has_ended(self) -> bool:
        return self.state in (self.State.DONE, self.State.FAILED, self.State.DECLINED, self.State.UNDONE)

    @property
    def is_working(self) -> bool:
        """Returns True while the worker has something to do for it, or does it."""
        return self.state in (self.State.WAITING, self.State.RUNNING, self.State.UNDOING)

    @property
    def needs_mapping(self) -> bool:
        return self.state == self.State.UNMAPPED

    @property
    def awaits_pictures(self) -> bool:
        """Returns True if pictures of this import are still to be fetched."""
        return self.picture_requests.exists() or self.pictures.filter(state="waiting").exists()


class ImportedChange(models.Model):
    """What an import changed in one product, or a row that it created beside products, so that it can be undone
    (`undoing.py`). Written in the transaction of the change (`journal.py`).

    No foreign keys in the database, since imports write many rows.
    """

    class Kind(models.TextChoices):
        UPDATED = "updated"
        RELATED = "related"
        CREATED = "created"
        LINKED = "linked"
        VARIANT_LINKED = "variant_linked"
        CATEGORY = "category"
        BRAND = "brand"
        VENDOR = "vendor"
        SHIPPING_ORIGIN = "shipping_origin"
        TAX_CLASS = "tax_class"

    class Outcome(models.TextChoices):
        KEPT = "", "Not undone"
        UNDONE = "undone"
        LEFT = "left"

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False, db_constraint=False)
    product_import = models.ForeignKey(
        ProductImport, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="journal"
    )
    kind = models.CharField(max_length=15, choices=Kind)
    object_id = models.BigIntegerField(help_text="The id of the product, category or brand.")
    content = models.JSONField(default=dict, help_text="The values before and after, as `journal.py` writes them.")
    outcome = models.CharField(max_length=6, choices=Outcome, blank=True, default="", db_default="")
    reason = models.CharField(max_length=300, blank=True, default="", db_default="")

    class Meta:
        app_label = "catalogue"
        indexes = [
            models.Index(fields=["product_import", "kind", "object_id"], name="imported_change_of_import"),
            models.Index(fields=["shop", "object_id"], name="imported_change_of_object"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}"
