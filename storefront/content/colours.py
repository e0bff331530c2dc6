"""The colours of a shop's pages, made from its accent and its background, in light and in dark.

Every text has the contrast that WCAG 2.2 AA asks for. Ratios and colours are calculated by coloraide.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from coloraide import Color
from django.utils.translation import gettext as _

COLOUR = re.compile(r"#[0-9a-f]{6}")
# Contrast ratio that WCAG 1.4.3 requires between normal text and its background.
MIN_CONTRAST = 4.5
# Contrast ratio of the accent on dark panels. It exceeds the minimum, since lighter panels are derived from dark ones.
MIN_DARK_CONTRAST = 8.0
# Colours of texts in light mode, on the background and on panels: muted, sale, warning, error. See shop.css.
_TEXTS = ("#5b655b", "#a5341c", "#7a4a08", "#9d2a1c")
_LIGHT_PANEL, _DARK_PANEL, _DARK_INK, _WHITE = "#ffffff", "#1d221e", "#0e2218", "#ffffff"


def is_colour(text: str) -> bool:
    """Returns True for `#` and six hexadecimal digits in lower case."""
    return bool(COLOUR.fullmatch(text))


def problem_of_background(background: str) -> str | None:
    """The reason why the shop's texts cannot be read on this background; None if they can."""
    found = min(_contrast(text, behind) for text in _TEXTS for behind in (background, _sunken(background)))
    if found >= MIN_CONTRAST:
        return None
    return _("Text is hard to read on this colour (%(found)s). Choose a paler one.") % {"found": _ratio(found)}


def problem_of_accent(accent: str, background: str) -> str | None:
    """The reason why links in the accent colour cannot be read on the background and on panels; None if they can."""

    found = _lowest(accent, background)
    if found >= MIN_CONTRAST:
        return None
    return _("Links and buttons are hard to read in this colour (%(found)s). %(nearest)s would do.") % {
        "found": _ratio(found),
        "nearest": readable_accent(accent, background),
    }


@lru_cache(maxsize=500)
def readable_accent(accent: str, background: str) -> str:
    """The accent, or else the nearest darker one, in which links can be read on the background and on panels."""
    return _until(lambda colour: _lowest(colour, background) >= MIN_CONTRAST, accent, step=-0.01)


def _lowest(accent: str, background: str) -> float:
    """The lowest contrast of links in the accent colour."""
    return min(_contrast(accent, each) for each in (background, _LIGHT_PANEL, _soft(accent, background)))


def _ratio(found: float) -> str:
    return _("%(found)s to 1, at least %(min_contrast)s is needed") % {
        "found": int(found * 10) / 10,
        "min_contrast": MIN_CONTRAST,
    }


@lru_cache(maxsize=500)
def stylesheet(accent: str, background: str) -> str:
    """The CSS that sets both colours, `#` and six hexadecimal digits each, and the colours derived from them."""
    light, dark = shades(accent, background)
    return f":root{{{_declared(light)}}}@media (prefers-color-scheme:dark){{:root{{{_declared(dark | _DARK_PAPER)}}}}}"


@lru_cache(maxsize=500)
def shades(accent: str, background: str) -> tuple[dict[str, str], dict[str, str]]:
    """Both colours and those derived from them, by name: in light, and what differs in dark. Do not change them."""
    light = {
        "paper": background,
        "sunken": _sunken(background),
        "line": _mix(background, "#20281f", 0.12),
        "accent": accent,
        "accent-strong": _mix(accent, "#000000", 0.28),
        "accent-ink": _WHITE,
        "accent-soft": _soft(accent, background),
    }
    pale = _until(lambda colour: _contrast(colour, _DARK_PANEL) >= MIN_DARK_CONTRAST, accent, step=0.01)
    dark = {
        "accent": pale,
        "accent-strong": _mix(pale, _WHITE, 0.3),
        "accent-ink": _DARK_INK,
        "accent-soft": _mix(_DARK_PANEL, pale, 0.14),
    }
    return light, dark


# Repeats shop.css: the light colours above are loaded after it, and would override its dark ones.
_DARK_PAPER = {"paper": "#151916", "sunken": "#242a25", "line": "#343b35"}


def _sunken(background: str) -> str:
    return _mix(background, "#20281f", 0.05)


def _soft(accent: str, background: str) -> str:
    """A tint of the accent that is a readable background for all texts."""
    tints = (_mix(background, accent, share) for share in (0.1, 0.07, 0.04, 0.02))
    return next((tint for tint in tints if min(_contrast(text, tint) for text in _TEXTS) >= MIN_CONTRAST), background)


def _declared(colours: dict[str, str]) -> str:
    return ";".join(f"--{name}:{colour}" for name, colour in colours.items())


def _contrast(one: str, other: str) -> float:
    return float(Color(one).contrast(other, method="wcag21"))


def _mix(one: str, other: str, share: float) -> str:
    return str(Color(one).mix(other, share, space="srgb").to_string(hex=True))


def _until(is_readable: Callable[[str], bool], colour: str, *, step: float) -> str:
    """The nearest readable colour of the same hue, darker or lighter by steps of `step` in OKLCH lightness."""
    found, hexadecimal = Color(colour).convert("oklch"), colour
    while not is_readable(hexadecimal) and 0 < found["lightness"] + step < 1:
        found["lightness"] += step
        hexadecimal = str(found.convert("srgb").fit().to_string(hex=True))
    return hexadecimal
