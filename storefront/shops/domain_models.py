from django.db import models
from django.db.models.functions import Lower


class ShopDomain(models.Model):
    """A further domain of a shop, which redirects to the shop's own address once the operator has confirmed it. Before
    that, several shops can request the same domain, so that a request alone blocks nobody.
    """

    shop = models.ForeignKey("shops.Shop", on_delete=models.CASCADE, related_name="further_domains", db_index=False)
    domain = models.CharField(max_length=253, help_text="Such as www.example.com")
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, help_text="When the operator of the deployment gave it to the shop.")
    checked_at = models.DateTimeField(null=True, help_text="When somebody last checked where it leads.")
    problem = models.CharField(max_length=300, blank=True, help_text="What that check found; empty: nothing wrong.")

    class Meta:
        verbose_name = "further domain"
        constraints = [
            models.UniqueConstraint(fields=["shop", "domain"], name="shop_domain_asked_once"),
            models.UniqueConstraint(
                fields=["domain"], condition=models.Q(confirmed_at__isnull=False), name="shop_domain_of_one"
            ),
            models.CheckConstraint(condition=models.Q(domain=Lower("domain")), name="further_domain_lower"),
        ]

    def __str__(self) -> str:
        return self.domain
