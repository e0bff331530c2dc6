"""Pictures that were uploaded for a product that is not saved yet."""

from django.db import models

from storefront.shops.models import Shop


class UploadedPicture(models.Model):
    """A picture that was uploaded before its form is saved. The product's new picture then takes its file over, and
    this row is deleted. A row that no form has used is deleted after a day (`media/uploaded.py`)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    file = models.FileField(upload_to="products/", max_length=500)
    name = models.CharField(max_length=200, help_text="The file's name on the computer that it comes from.")
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    created_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.name
