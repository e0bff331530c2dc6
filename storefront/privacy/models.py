from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.storage import private_files
from storefront.shops.models import Shop


class DataRequest(models.Model):
    """A request to export or erase the data of one person, who is known by email address.

    Once the person is erased, the row has only counts and times, as a proof. Otherwise `jobs.delete_old_requests`
    deletes it after a while. `email` is in lowercase, and empty once the person is erased.
    """

    class State(models.TextChoices):
        OPEN = "open", _lazy("Open")
        EXPORTING = "exporting", _lazy("Export is being made")
        ERASING = "erasing", _lazy("Being erased")
        ERASED = "erased", _lazy("Erased")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE)
    email = models.EmailField(_lazy("email address"), blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    file = models.FileField(upload_to="privacy/", storage=private_files, max_length=500, blank=True)
    size = models.BigIntegerField(default=0, help_text="The size of the file, in bytes.")
    exported_at = models.DateTimeField(null=True)
    plan: Any = models.JSONField(
        null=True, help_text="While the person is erased: which rows were theirs when that began, by kind."
    )
    erased = models.JSONField(default=dict, help_text="How many of each kind were erased.")
    tries = models.PositiveIntegerField(default=0, help_text="How often a payment provider did not answer.")
    reason = models.CharField(max_length=1000, blank=True, help_text="Why the last export or erasure ended early.")
    created_at = models.DateTimeField()
    begun_at = models.DateTimeField(null=True, help_text="When the current work began.")
    heartbeat_at = models.DateTimeField(null=True, help_text="Last sign of life of the worker.")
    erased_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["shop", "email"], condition=~Q(state="erased"), name="data_request_one_open_a_person"
            ),
            models.CheckConstraint(condition=Q(email=Lower("email")), name="data_request_email_lower"),
            models.CheckConstraint(
                condition=Q(state="erased", email="") | (~Q(state="erased") & ~Q(email="")),
                name="data_request_erased_has_no_email",
            ),
        ]
        indexes = [
            models.Index(
                fields=["heartbeat_at"], condition=Q(state__in=["exporting", "erasing"]), name="data_request_at_work"
            ),
            models.Index(fields=["created_at"], condition=~Q(state="erased"), name="data_request_age"),
        ]

    def __str__(self) -> str:
        return _("Data request %(number)s") % {"number": self.pk}

    @property
    def is_at_work(self) -> bool:
        return self.state in (self.State.EXPORTING, self.State.ERASING)
