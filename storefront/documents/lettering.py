"""Text in any of the papers' fonts and in both directions, for pages that can be mirrored.

fpdf2 orders no text that mixes fonts within a line from right to left. So such a line is split into runs of one font
and one direction here, from left to right as they are seen, and each is drawn by itself, shaped by HarfBuzz.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from itertools import groupby
from typing import Any

from fpdf import FPDF
from fpdf.bidi import BidiParagraph
from fpdf.enums import TextDirection

FONT = "Noto Sans"
RTL_FONTS = ("Noto Sans Arabic", "Noto Sans Hebrew")
# Fonts with the letters that the one in use lacks. They are loaded and embedded where a text needs them.
FURTHER_FONTS = (FONT, *RTL_FONTS)
_STYLES = {"": "Regular", "B": "Bold"}
# Joiners and marks of direction. They are not seen, and change how letters are joined and ordered.
_MARKS = "\u200c\u200d\u200e\u200f"
_RTL, _LTR = TextDirection.RTL, TextDirection.LTR


@dataclass(frozen=True)
class Run:
    """A part of a line in one font and direction."""

    font: str
    is_rtl: bool
    text: str


def has_rtl(text: str) -> bool:
    """Returns True if the text has letters that are written from right to left, or marks or digits of them."""
    return not text.isascii() and any(unicodedata.bidirectional(each) in ("R", "AL", "AN") for each in text)


def ltr(text: str) -> str:
    """A number with signs in it, such as an invoice's, that stays as it is behind Arabic letters."""
    return f"\u200e{text}"


class Lettering(FPDF):
    """With `is_mirrored`, positions count from the right edge of the page, and `L` aligns at the right."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.is_mirrored = False
        for style in _STYLES:
            self.load(FONT, style)

    def load(self, font: str, style: str) -> None:
        """Load a font from its file once."""
        if font.lower() + style in self.fonts:
            return
        name = f"{font.replace(' ', '')}-{_STYLES[style]}.ttf"
        with as_file(files("storefront.documents") / "fonts" / name) as path:
            self.add_font(font, style, path)

    def mirrored(self, x: float, width: float = 0) -> float:
        """Where something of this width begins on the page."""
        return self.w - x - width if self.is_mirrored else x

    def cell(self, w: float, h: float, text: str = "", *, align: str = "L", **given: Any) -> None:  # type: ignore[override]
        """Draw a text that fits beside the last one, as FPDF does."""
        x = self.x
        if self.is_mirrored:
            self.x, align = self.mirrored(x, w), {"L": "R", "R": "L"}.get(align, align)
        if self.has_runs(text):
            self._draw_runs(text, w, h, align)
            text = ""
        super().cell(w, h, text, align=align, **given)
        if self.is_mirrored and "new_x" not in given:
            self.x = x + w

    def line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        super().line(self.mirrored(x1), y1, self.mirrored(x2), y2)

    def has_runs(self, text: str) -> bool:
        """Returns True unless the text is in one direction and in the font that is in use."""
        return has_rtl(text) or not (text.isascii() or all(self._has(self.font_family, each) for each in text))

    def can_draw(self, character: str) -> bool:
        return any(self._has(font, character) for font in (self.font_family, *FURTHER_FONTS))

    def clean(self, text: str, missing: str) -> Iterator[tuple[str, str]]:
        """Each character of the text with what is drawn for it: `missing` if no font has it, nothing if it is a
        control character."""
        if text.isascii() and text.isprintable():
            yield from zip(text, text, strict=True)
            return
        keeps_marks = has_rtl(text)
        for character in unicodedata.normalize("NFC", text):
            if keeps_marks and character in _MARKS:
                yield character, character
            elif unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp"):
                yield character, " " if character in "\t\n\r\u2028\u2029" else ""
            else:
                yield character, character if character == " " or self.can_draw(character) else missing

    def break_runs(self, text: str, width: float) -> list[str]:
        """Break a text of several runs into lines of this width."""
        lines: list[str] = []
        room = width - 2 * self.c_margin
        for word in text.split():
            if lines and self.width_of(f"{lines[-1]} {word}") <= room:
                lines[-1] = f"{lines[-1]} {word}"
                continue
            while (count := self._count_that_fits(word, room)) < len(word):
                lines.append(word[:count])
                word = word[count:]
            lines.append(word)
        return lines

    def width_of(self, text: str) -> float:
        return sum(self._width_of_run(run) for run in self._runs(text))

    def _count_that_fits(self, word: str, room: float) -> int:
        """At least one. A long word is not measured whole for each of its lines, which would take seconds."""
        low, high = 1, 2
        while high <= len(word) and self.width_of(word[:high]) <= room:
            low, high = high, 2 * high
        high = min(high, len(word) + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.width_of(word[:middle]) <= room else (low, middle)
        return low

    def _draw_runs(self, text: str, width: float, height: float, align: str) -> None:
        """Draw the text's runs in a cell of this size. The position of the next text does not change."""
        x, margin, runs = self.x, self.c_margin, self._runs(text)
        widths = [self._width_of_run(run) for run in runs]
        self.x = x + margin if align == "L" else x + width - margin - sum(widths)
        self.c_margin = 0
        for run, run_width in zip(runs, widths, strict=True):
            before = self._use(run)
            super().cell(run_width, height, run.text)
            self._end_use(before)
        self.x, self.c_margin = x, margin

    def _width_of_run(self, run: Run) -> float:
        before = self._use(run)
        width = self.get_string_width(run.text)
        self._end_use(before)
        return width

    def _use(self, run: Run) -> str:
        """Set font and shaping of a run. Returns the font that was in use."""
        before = self.font_family
        self.set_font(run.font, self.font_style)
        self.set_text_shaping(run.is_rtl, direction="rtl")
        return before

    def _end_use(self, font: str) -> None:
        self.set_text_shaping(False)
        self.set_font(font, self.font_style)

    def _runs(self, text: str) -> list[Run]:
        """The text's runs, from left to right as they are seen. A mirrored page writes each text with such letters
        from right to left, another one those that begin with them."""
        is_rtl = has_rtl(text) if self.is_mirrored else _begins_rtl(text)
        paragraph = BidiParagraph(text, base_direction=_RTL if is_rtl else _LTR, preserve_bn_chars=True)
        runs: list[Run] = []
        for direction, group in groupby(
            paragraph.get_reordered_characters(), lambda each: each.get_direction_from_level()
        ):
            characters = [each.character for each in group]
            if direction == "R":
                runs += reversed(list(self._runs_of_fonts("".join(reversed(characters)), is_rtl=True)))
            else:
                # HarfBuzz hides the marks in the other runs. Here their glyphs would be drawn.
                text_seen = "".join(each for each in characters if each not in _MARKS)
                runs += self._runs_of_fonts(text_seen, is_rtl=False)
        return runs

    def _runs_of_fonts(self, text: str, *, is_rtl: bool) -> Iterator[Run]:
        """The text's runs as they are read. A font is used as long as it has the characters."""
        order = (*RTL_FONTS, self.font_family, FONT) if is_rtl else (self.font_family, *FURTHER_FONTS)
        font, part = "", ""
        for character in text:
            if not font or not self._has(font, character):
                if part:
                    yield Run(font, is_rtl, part)
                font, part = next((each for each in order if self._has(each, character)), self.font_family), ""
            part += character
        if part:
            yield Run(font, is_rtl, part)

    def _has(self, font: str, character: str) -> bool:
        if font in FURTHER_FONTS:
            self.load(font, self.font_style)
        loaded: Any = self.fonts[font.lower() + self.font_style]
        return ord(character) in loaded.cmap


def _begins_rtl(text: str) -> bool:
    return next((each != "L" for each in map(unicodedata.bidirectional, text) if each in ("L", "R", "AL")), False)
