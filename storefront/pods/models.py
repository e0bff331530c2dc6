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


class TokenElsewhere(models.Model):
    """A token of a shop that has moved away. One without a shop code leads the proxy to pod 0, which finds the shop,
    and so its pod, by this row. Nothing is granted by it: the pod that serves the shop decides."""

    digest = models.CharField(max_length=64, primary_key=True)
    # No foreign key: the shop's row is in the other pod.
    shop_id = models.BigIntegerField()

    def __str__(self) -> str:
        return f"a token of shop {self.shop_id}"


class ShopMove(models.Model):
    """How far the move of a shop to another pod has come (`server/moving`). Both pods have a row of it: the source's
    has the step, the target's decides who may write the rows there. A pod from which nothing moves has none."""

    class Step(models.TextChoices):
        ASKED = "asked", "the operator has asked for it"
        COPYING = "copying", "its rows are copied, while it sells"
        DRAINING = "draining", "no new tasks and webhooks are begun"
        SWITCHING = "switching", "writes are refused until the target has it"
        MOVED = "moved", "the target has it; the old rows are put aside"
        SHELVED = "shelved", "the old rows are kept for a day"
        ARRIVING = "arriving", "its rows arrive here, and nobody else writes them"
        LEAVING = "leaving", "the move is undone, and its rows are deleted here"
        ARRIVED = "arrived", "it is served here"

    # No foreign key: the shop's own row is in one of the two pods.
    shop_id = models.BigIntegerField(primary_key=True)
    domain = models.CharField(max_length=253)
    source = models.PositiveSmallIntegerField(help_text="Number of the pod that had the shop.")
    target = models.PositiveSmallIntegerField(help_text="Number of the pod that gets it.")
    step = models.CharField(max_length=10, choices=Step)
    step_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.domain} from pod {self.source} to pod {self.target}: {self.step}"
