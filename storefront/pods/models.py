from django.db import models


class OwnPod(models.Model):
    """The number of this database's pod, in its only row. A database without the row is pod 0."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    number = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="pods_one_number")]

    def __str__(self) -> str:
        return f"pod {self.number}"


class HostElsewhere(models.Model):
    """A host of a shop that another pod serves. `storefront podmap` writes these rows (`directory.py`)."""

    host = models.CharField(max_length=253, primary_key=True)
    # No foreign key: the shop's row is in the other pod.
    shop_id = models.BigIntegerField(db_index=True)
    pod = models.PositiveSmallIntegerField()
    is_domain = models.BooleanField(help_text="It is the shop's own domain, not a further one.")

    def __str__(self) -> str:
        return f"{self.host} in pod {self.pod}"


class RegistryBeat(models.Model):
    """When pod 0 last wrote to the registry, in its only row. It reaches the other pods as accounts and apps do, so its
    age there is how old these may be. Pod 0's worker writes it (`registry.beat`), once the registry is published."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="pods_one_beat")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S}"
