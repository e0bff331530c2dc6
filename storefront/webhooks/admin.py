from django.contrib import admin

from storefront.shops.admin_base import ReadOnlyAdmin, moment
from storefront.webhooks.models import Event


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ["topic", "happened", "sequence"]
    list_filter = ["topic"]
    search_fields = ["topic"]
    ordering = ["-created_at"]
    fields = ["id", "topic", "happened", "sequence", "data"]
    readonly_fields = fields

    happened = moment("created_at", "happened")
