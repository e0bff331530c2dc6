"""Staff come by invitation, and their role is one of four. Who was staff is a manager from now on."""

import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

ROLES = [("owner", "Owner"), ("manager", "Manager"), ("fulfilment", "Fulfilment"), ("read_only", "Read Only")]
NAMES = [name for name, _ in ROLES]


def staff_become_managers(apps, schema_editor):
    apps.get_model("shops", "StaffMember").objects.filter(role="staff").update(role="manager")


def all_but_owners_become_staff(apps, schema_editor):
    apps.get_model("shops", "StaffMember").objects.exclude(role="owner").update(role="staff")


class Migration(migrations.Migration):
    dependencies = [("shops", "0002_handover_codes")]

    operations = [
        migrations.AlterField("staffmember", "role", models.CharField(choices=ROLES, max_length=10)),
        migrations.RunPython(staff_become_managers, all_but_owners_become_staff),
        migrations.AddConstraint(
            "staffmember", models.CheckConstraint(condition=models.Q(role__in=NAMES), name="staff_member_role")
        ),
        migrations.CreateModel(
            name="StaffInvitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.EmailField(max_length=150, verbose_name="e-mail address")),
                ("role", models.CharField(choices=ROLES, max_length=10)),
                ("digest", models.CharField(editable=False, max_length=64, null=True, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(editable=False, null=True)),
                ("revoked_at", models.DateTimeField(editable=False, null=True)),
                (
                    "invited_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "shop",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="staff_invitations", to="shops.shop"
                    ),
                ),
            ],
            options={
                "verbose_name": "invitation",
                "indexes": [models.Index(fields=["shop", "created_at"], name="staff_invitation_created")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["shop", "email"],
                        condition=models.Q(accepted_at=None, revoked_at=None),
                        name="staff_invitation_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(email=django.db.models.functions.text.Lower("email")),
                        name="staff_invitation_email_lower",
                    ),
                    models.CheckConstraint(condition=models.Q(role__in=NAMES), name="staff_invitation_role"),
                    models.CheckConstraint(
                        condition=models.Q(accepted_at=None) | models.Q(revoked_at=None),
                        name="staff_invitation_ended_once",
                    ),
                ],
            },
        ),
    ]
