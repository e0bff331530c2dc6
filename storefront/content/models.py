from django.core.validators import MaxLengthValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.content.address_models import MissingPath as MissingPath
from storefront.content.address_models import Redirect as Redirect
from storefront.content.links import check_link
from storefront.content.mail_kinds import KINDS, MAX_TEXT_LENGTH
from storefront.content.sections import Section, usual_sections
from storefront.shops.models import Shop, User

_SLUG = RegexValidator(
    r"\A[a-z0-9]+(-[a-z0-9]+)*\Z", _lazy("Use lowercase letters, digits and single hyphens, such as size-guide.")
)


class Page(models.Model):
    """A text page of a shop at `/pages/SLUG`. Kinds that the checkout knows exist once."""

    class Kind(models.TextChoices):
        IMPRINT = "imprint", _lazy("Imprint")
        TERMS = "terms", _lazy("Terms and conditions")
        RETURNS = "returns", _lazy("Returns and withdrawal")
        PRIVACY = "privacy", _lazy("Privacy policy")
        DELIVERY = "delivery", _lazy("Delivery")
        ABOUT = "about", _lazy("About us")
        OTHER = "other", _lazy("Another page")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="pages", db_index=False)
    kind = models.CharField(
        max_length=10,
        choices=Kind,
        default=Kind.OTHER,
        help_text=_lazy("Terms, returns and privacy are linked at the pay button."),
    )
    title = models.CharField(max_length=200)
    slug = models.CharField(
        _lazy("address"),
        max_length=100,
        validators=[_SLUG],
        help_text=_lazy("The last part of the page's address: /pages/…"),
    )
    body = models.TextField(_lazy("text"), blank=True, validators=[MaxLengthValidator(200_000)])
    summary = models.CharField(
        max_length=300, blank=True, help_text=_lazy("For search engines. If empty, the beginning of the text is used.")
    )
    is_published = models.BooleanField(_lazy("published"), default=False, help_text=_lazy("Shoppers can see the page."))
    in_footer = models.BooleanField(_lazy("in the footer"), default=True, help_text=_lazy("Every page links to it."))
    position = models.PositiveSmallIntegerField(default=0, help_text=_lazy("Lower numbers come first in the footer."))
    # The page still has its starting text, so it cannot be published.
    is_starting_text = models.BooleanField(default=False, editable=False)
    translations = models.JSONField(null=True, blank=True, editable=False)
    # Slugs that the page had before, in any language (`page_slugs.py`).
    old_slugs = models.JSONField(default=list, db_default=[], blank=True, editable=False)
    created_at = models.DateTimeField(editable=False)
    updated_at = models.DateTimeField(editable=False)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["shop", "slug"], name="page_slug_once"),
            models.UniqueConstraint(fields=["shop", "kind"], condition=~models.Q(kind="other"), name="page_kind_once"),
            models.CheckConstraint(
                condition=models.Q(is_published=False) | models.Q(is_starting_text=False), name="page_is_edited"
            ),
        ]

    def __str__(self) -> str:
        return self.title


def all_sections() -> list[str]:
    """The default of a former column, which the first migration names."""
    return ["categories", "featured", "newest"]


_COLOUR = RegexValidator(r"\A#[0-9a-f]{6}\Z", _lazy("Enter a colour such as #23573f."))


class Looks(models.Model):
    """The design of a shop: colours, fonts, logo, and the sections of its home page."""

    class Fonts(models.TextChoices):
        FRAUNCES = "fraunces", _lazy("Fraunces and Figtree: warm")
        LORA = "lora", _lazy("Lora and Source Sans: like a book")
        FIGTREE = "figtree", _lazy("Figtree: clear and modern")
        SYSTEM = "system", _lazy("The visitor's own fonts: nothing to load")

    class Corners(models.TextChoices):
        ROUND = "round", _lazy("Round")
        SOFT = "soft", _lazy("Slightly rounded")
        SQUARE = "square", _lazy("Square")

    class Pictures(models.TextChoices):
        FILL = "fill", _lazy("Fill their frames")
        WHOLE = "whole", _lazy("Show them whole")

    shop = models.OneToOneField(Shop, on_delete=models.CASCADE, related_name="looks")
    logo = models.ImageField(
        upload_to="looks/",
        max_length=500,
        blank=True,
        help_text=_lazy("Shown instead of the shop's name, 40 pixels high. Best on a transparent background."),
    )
    accent = models.CharField(
        _lazy("accent colour"),
        max_length=7,
        default="#23573f",
        validators=[_COLOUR],
        help_text=_lazy("The colour of buttons and links."),
    )
    background = models.CharField(_lazy("background colour"), max_length=7, default="#faf8f3", validators=[_COLOUR])
    fonts = models.CharField(
        max_length=10, choices=Fonts, default=Fonts.FRAUNCES, help_text=_lazy("The fonts of headings and text.")
    )
    corners = models.CharField(max_length=6, choices=Corners, default=Corners.ROUND)
    pictures = models.CharField(
        _lazy("pictures of products"),
        max_length=5,
        choices=Pictures,
        default=Pictures.FILL,
        db_default=Pictures.FILL,
        help_text=_lazy("Photographs fill their frames best; goods cut out on white are shown whole."),
    )
    # Sections of the home page (`content/sections.py`) in its order. Null: the usual ones.
    home = models.JSONField(null=True, blank=True)
    footer_text = models.TextField(
        blank=True, validators=[MaxLengthValidator(1000)], help_text=_lazy("A short text at the end of every page.")
    )
    address = models.TextField(
        blank=True,
        db_default="",
        default="",
        validators=[MaxLengthValidator(500)],
        help_text=_lazy("Where the shop is, as on a letter. Shown in the footer."),
    )
    phone = models.CharField(_lazy("phone number"), max_length=40, blank=True, db_default="", default="")
    hours = models.TextField(
        _lazy("opening hours"),
        blank=True,
        db_default="",
        default="",
        validators=[MaxLengthValidator(500)],
        help_text=_lazy("Such as “Mon to Fri, 10 am to 6 pm”, a line each."),
    )
    translations = models.JSONField(null=True, blank=True, editable=False)
    updated_at = models.DateTimeField(editable=False)

    class Meta:
        verbose_name = verbose_name_plural = _lazy("looks")

    def __str__(self) -> str:
        return _("Looks")

    @property
    def sections(self) -> list[Section]:
        return usual_sections() if self.home is None else list(self.home)


class LooksPicture(models.Model):
    """A picture of a section of the home page, or a logo, also one of an earlier version. A picture that nothing
    shows any more is deleted (`website/looks_versions.py`)."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="looks_pictures")
    file = models.ImageField(upload_to="looks/", max_length=500)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.file.name)


class LooksVersion(models.Model):
    """The looks of a shop as they were saved: `state` has the columns of `website/looks_versions.STATE`."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="looks_versions")
    saved_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, db_index=False)
    saved_at = models.DateTimeField()
    state = models.JSONField()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return str(self.saved_at)


class MenuLink(models.Model):
    """A link of the merchant's own in the shop's menu, or in its footer."""

    class Menu(models.TextChoices):
        MAIN = "main", _lazy("Menu, after the categories")
        FOOTER = "footer", _lazy("Footer, after the pages")

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="menu_links", db_constraint=False)
    looks = models.ForeignKey(Looks, on_delete=models.CASCADE, related_name="links")
    menu = models.CharField(max_length=6, choices=Menu, default=Menu.MAIN)
    label = models.CharField(max_length=60)
    link = models.CharField(max_length=500, validators=[check_link], help_text=_lazy("/… or https://…"))
    translations = models.JSONField(null=True, blank=True, editable=False)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        verbose_name = _lazy("link")

    def __str__(self) -> str:
        return self.label


class MailText(models.Model):
    """A shop's own texts for a kind of mail, a key of `mail_kinds.KINDS`. Null: the standard text."""

    shop = models.ForeignKey(Shop, on_delete=models.CASCADE, related_name="mail_texts", db_index=False)
    kind = models.CharField(max_length=40, editable=False)
    subject = models.CharField(max_length=200, null=True, blank=True)
    opening = models.TextField(
        _lazy("opening text"), null=True, blank=True, validators=[MaxLengthValidator(MAX_TEXT_LENGTH)]
    )
    closing = models.TextField(
        _lazy("closing text"), null=True, blank=True, validators=[MaxLengthValidator(MAX_TEXT_LENGTH)]
    )
    translations = models.JSONField(null=True, blank=True, editable=False)
    updated_at = models.DateTimeField(editable=False)

    class Meta:
        ordering = ["id"]
        verbose_name = _lazy("mail")
        constraints = [models.UniqueConstraint(fields=["shop", "kind"], name="mail_text_once")]

    def __str__(self) -> str:
        return str(KINDS[self.kind].title) if self.kind in KINDS else self.kind

    @property
    def is_changed(self) -> bool:
        return any(part is not None for part in (self.subject, self.opening, self.closing))
