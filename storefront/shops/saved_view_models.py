from django.db import models
from django.db.models.functions import Lower


class SavedView(models.Model):
    """Search, filters and sorting of one of the admin's lists under a name. The shop's staff share it."""

    shop = models.ForeignKey("shops.Shop", on_delete=models.CASCADE, related_name="saved_views", db_index=False)
    list = models.CharField(max_length=60, help_text="The list's model, such as orders.order.")
    name = models.CharField(max_length=40)
    query = models.CharField(
        "search, filters and sorting",
        max_length=1000,
        help_text="The query string of the list's address; columns that it is sorted by stand there by name.",
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("shop", "list", Lower("name"), name="saved_view_once")]

    def __str__(self) -> str:
        return self.name
