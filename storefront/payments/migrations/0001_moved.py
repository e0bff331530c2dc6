"""Payments and refunds come from the room `orders`, with their tables as they are. 0007 of `orders` is the other half."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

import storefront.kit.money


def rename_content_types(apps, schema_editor):
    content_types = apps.get_model("contenttypes", "ContentType").objects.using(schema_editor.connection.alias)
    content_types.filter(app_label="orders", model__in=["payment", "refund"]).update(app_label="payments")


def rename_content_types_back(apps, schema_editor):
    content_types = apps.get_model("contenttypes", "ContentType").objects.using(schema_editor.connection.alias)
    content_types.filter(app_label="payments", model__in=["payment", "refund"]).update(app_label="orders")



class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("contenttypes", "0002_remove_content_type_name"),
        ("orders", "0006_by_change"),
        ("shops", "0009_longer_request_ids"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Payment",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                        ),
                        ("gateway", models.CharField(max_length=40)),
                        (
                            "status",
                            models.CharField(
                                choices=[
                                    ("pending", "Pending"),
                                    ("authorised", "Authorised"),
                                    ("paid", "Paid"),
                                    ("voided", "Voided"),
                                ],
                                max_length=10,
                            ),
                        ),
                        ("amount", storefront.kit.money.MoneyField()),
                        ("refunded", storefront.kit.money.MoneyField()),
                        ("currency", models.CharField(max_length=3)),
                        ("reference", models.CharField(blank=True, max_length=255)),
                        ("place", models.CharField(blank=True, max_length=32)),
                        ("created_at", models.DateTimeField()),
                        ("updated_at", models.DateTimeField()),
                        (
                            "order",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="payments",
                                to="orders.order",
                            ),
                        ),
                        (
                            "shop",
                            models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="shops.shop"),
                        ),
                    ],
                    options={
                        "db_table": "orders_payment",
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("status", "pending")),
                                fields=["shop", "place"],
                                name="payment_waiting_by_place",
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("refunded__gte", 0), ("refunded__lte", models.F("amount"))
                                ),
                                name="payment_refunded_within_amount",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Refund",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                        ),
                        ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        (
                            "status",
                            models.CharField(
                                choices=[("pending", "Pending"), ("done", "Done"), ("failed", "Failed")],
                                default="pending",
                                max_length=10,
                            ),
                        ),
                        ("amount", storefront.kit.money.MoneyField()),
                        ("currency", models.CharField(max_length=3)),
                        ("reason", models.TextField(blank=True)),
                        ("restocked", models.BooleanField(default=False)),
                        ("reference", models.CharField(blank=True, max_length=255)),
                        ("failure", models.CharField(blank=True, max_length=255)),
                        ("due_at", models.DateTimeField()),
                        ("created_at", models.DateTimeField()),
                        ("updated_at", models.DateTimeField()),
                        (
                            "order",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="refunds", to="orders.order"
                            ),
                        ),
                        (
                            "payment",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="refunds",
                                to="payments.payment",
                            ),
                        ),
                        (
                            "shop",
                            models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="shops.shop"),
                        ),
                    ],
                    options={
                        "db_table": "orders_refund",
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("status", "pending")), fields=["due_at"], name="refund_due"
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("amount__gt", 0)), name="refund_amount_positive"
                            )
                        ],
                    },
                ),
            ],
        ),
        migrations.RunPython(rename_content_types, rename_content_types_back),
    ]
