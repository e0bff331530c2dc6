import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Value

HERO = {"title": "hero_title", "text": "hero_text", "button": "hero_button", "link": "hero_link"}
FORMER = [*HERO.values(), "hero", "hero_picture", "sections"]


def list_sections(apps, _editor):
    """Write the top of each home page and what is below it as one list. The pages stay as they are."""
    looks_model, picture_model = apps.get_model("content", "Looks"), apps.get_model("content", "LooksPicture")
    for looks in looks_model.objects.order_by("pk").iterator():
        top, translations = _top(looks, picture_model), dict(looks.translations or {})
        for code, texts in list(translations.items()):
            of_top = {name: texts[column] for name, column in HERO.items() if texts.get(column) and name != "link"}
            if of_top and looks.hero == "own":
                top[0].setdefault("translations", {})[code] = of_top
            rest = {column: text for column, text in texts.items() if column not in HERO.values()}
            translations[code] = rest
        looks.home = [*top, *(_below(name, looks.hero) for name in looks.sections)]
        looks.translations = {code: texts for code, texts in translations.items() if texts} or None
        looks.save(update_fields=["home", "translations"])


def _top(looks, picture_model):
    if looks.hero == "none":
        return []
    if looks.hero == "product":
        return [{"id": "lead", "kind": "lead", "hidden": False}]
    picture = None
    if looks.hero_picture:
        row = picture_model.objects.create(
            shop_id=looks.shop_id, file=looks.hero_picture.name, created_at=looks.updated_at
        )
        picture = row.pk
    texts = {name: getattr(looks, column) for name, column in HERO.items()}
    return [{"id": "hero", "kind": "hero", "hidden": False, **texts, "picture": picture, "alt": "", "layout": "beside"}]


def _below(name, hero):
    if name == "categories":
        return {"id": name, "kind": name, "hidden": False, "title": ""}
    # Nine featured products were read, the first of them for the top.
    count = "9" if name == "featured" and hero != "product" else "8"
    shown = {"title": "", "rule": name, "category": None, "products": [], "count": count}
    return {"id": name, "kind": "products", "hidden": False, **shown}


class Migration(migrations.Migration):
    dependencies = [
        ("content", "0006_page_slugs"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="LooksPicture",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("file", models.ImageField(max_length=500, upload_to="looks/")),
                ("created_at", models.DateTimeField()),
                (
                    "shop",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="looks_pictures", to="shops.shop"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LooksVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("saved_at", models.DateTimeField()),
                ("state", models.JSONField()),
                (
                    "saved_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "shop",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="looks_versions", to="shops.shop"
                    ),
                ),
            ],
            options={"ordering": ["-id"]},
        ),
        migrations.AddField("looks", "home", models.JSONField(blank=True, null=True)),
        migrations.RunPython(list_sections, migrations.RunPython.noop),
        # Processes of the release before read these columns until they are restarted, so they stay in the table.
        *(
            migrations.AlterField("looks", name, models.CharField(max_length=500, db_default=""))
            for name in (*HERO.values(), "hero_picture")
        ),
        migrations.AlterField("looks", "hero", models.CharField(max_length=7, db_default="product")),
        migrations.AlterField(
            "looks", "sections", models.JSONField(db_default=Value(["categories", "featured", "newest"], models.JSONField()))
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("looks", name) for name in FORMER]
        ),
    ]
