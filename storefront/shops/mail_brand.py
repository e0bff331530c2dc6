"""The looks of a mail: those of the shop for its own mails (`content/brand.py`), and these for mails of the service."""

from dataclasses import dataclass

SANS = "-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"


@dataclass(frozen=True)
class Logo:
    """A picture by its absolute URL, and the pixels that it is shown in."""

    url: str
    width: int
    height: int


@dataclass(frozen=True)
class MailBrand:
    """Colours are `#` and six hexadecimal digits; `pale` is the accent on dark panels, and `pale_ink` text on it. Fonts
    are CSS font families, corners lengths in pixels."""

    background: str = "#f3f4f2"
    line: str = "#dfe3e0"
    accent: str = "#23573f"
    accent_ink: str = "#ffffff"
    soft: str = "#eef3f0"
    pale: str = "#93cfae"
    pale_ink: str = "#0e2218"
    heading_font: str = SANS
    text_font: str = SANS
    radius: int = 8
    button_radius: int = 6
    logo: Logo | None = None


SERVICE = MailBrand()
