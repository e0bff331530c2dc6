"""Tables that are derived from the products: for searches and lists, and caches of pages."""

from django.db import models

from storefront.shops.models import Shop


class ProductSearch(models.Model):
    """The text that `q` searches (search_texts.py)."""

    product = models.OneToOneField(
        "catalogue.Product", primary_key=True, on_delete=models.CASCADE, related_name="search"
    )
    # Without a constraint, as in `tables/parts.py`.
    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_constraint=False)
    text = models.TextField()
    # Whether the product is LISTABLE. Written by triggers (catalogue/triggers.py).
    listed = models.BooleanField(default=False, editable=False)

    def __str__(self) -> str:
        return self.text


class SearchWord(models.Model):
    """A word that a search without any match is corrected to (`listing.spelling`): the words of all products of a shop,
    drafts too, but for those of descriptions. Words of deleted products stay until the next `storefront reindex`; a
    correction is offered only if a listed product matches it."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    word = models.CharField(max_length=40)
    # The first and the last two letters, without accents. A single mistake in a word of four letters leaves one of them
    # right.
    head = models.CharField(max_length=2)
    tail = models.CharField(max_length=2)
    language = models.CharField(
        max_length=5, default="", db_default="", help_text="One of the shop's further languages; empty: the main one."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "word", "language"], name="search_word_once")]
        indexes = [
            models.Index(fields=["shop", "head"], name="search_word_head"),
            models.Index(fields=["shop", "tail"], name="search_word_tail"),
        ]

    def __str__(self) -> str:
        return self.word


class FrequentWord(models.Model):
    """The listed products of a large shop whose text contains these letters: a frequent word, or a stem with a space
    before and after it (`listing.frequent_words`). Correct except for the products in the shop's TextChanges."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    text = models.CharField(max_length=42)
    products = models.BinaryField(help_text="A serialized 64-bit Roaring bitmap of their ids.")
    in_markup = models.BinaryField(
        null=True, help_text="The same of those that contain it in markup alone. NULL: counted before texts had markup."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "text"], name="frequent_word_once")]

    def __str__(self) -> str:
        return self.text


class WordCount(models.Model):
    """The latest count of a shop's frequent words. A count writes only while `token` is its own."""

    shop = models.OneToOneField(Shop, on_delete=models.CASCADE, primary_key=True)
    token = models.UUIDField()
    asked_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.shop} at {self.asked_at:%F %T}"


class TextChange(models.Model):
    """The shop's products between two ids, both included, some of whose texts were written, listed, unlisted or deleted
    since its frequent words were counted. Written by triggers (catalogue/triggers.py), and by an import for a whole
    batch. Rows are only added, so that writers do not wait for each other, and deleted by the next count. No foreign
    key: rows of a deleted shop do no harm."""

    shop = models.ForeignKey(Shop, on_delete=models.DO_NOTHING, db_constraint=False)
    first_product = models.BigIntegerField()
    last_product = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.first_product} to {self.last_product}"


class AwaitedTexts(models.Model):
    """The shop's products between two ids, both included, whose search texts an import writes next, or the worker after
    a migration (`catalogue.awaited_texts`)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    first_product = models.BigIntegerField()
    last_product = models.BigIntegerField()
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.first_product} to {self.last_product}"


class ListingTotal(models.Model):
    """How many LISTABLE products a shop has, in total or in one category: the sum over its rows. Written by triggers
    (catalogue/triggers.py). `trigger_sql/postgresql.sql` explains why a total can have several rows.

    The sum of `version` over the rows of the whole shop changes with every write that changes which products a list
    shows or in which order, and never returns to an earlier value. No foreign keys: rows of a deleted shop or category
    do no harm.
    """

    shop = models.ForeignKey(Shop, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False)
    category = models.BigIntegerField(default=0, help_text="A category's id; 0: the whole shop.")
    products = models.BigIntegerField(default=0)
    version = models.BigIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["shop", "category"], name="listing_total_of")]

    def __str__(self) -> str:
        return f"{self.products} in {self.category}"


class ScheduleTold(models.Model):
    """Progress of a shop's events for products that a date publishes or unpublishes (schedule.py). Events have been
    emitted for dates before `until`, and at `until` for products up to `last_id`. Only shops with an app have a row."""

    shop = models.OneToOneField(Shop, on_delete=models.CASCADE, primary_key=True)
    until = models.DateTimeField()
    last_id = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.shop} until {self.until:%F %T}"


class CleanedText(models.Model):
    """A cached description with its HTML cleaned for pages. Its key is a digest of the source text, so it is never out
    of date. Old rows are deleted, and made again when a page needs them."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the text, and of the rules it was cleaned by.")
    html = models.TextField()
    made_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "digest"], name="cleaned_text_once")]

    def __str__(self) -> str:
        return self.digest


class WantedThumbnails(models.Model):
    """An uploaded picture whose thumbnails were requested from the worker and are not made yet."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, db_index=False)
    file = models.CharField(max_length=500)
    asked_at = models.DateTimeField()
    problem = models.CharField(max_length=200, blank=True, help_text="Why they could not be made.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["shop", "file"], name="wanted_thumbnails_once")]

    def __str__(self) -> str:
        return self.file
