"""The paper that documents are drawn on: margins, fonts, page footer, and texts that stay within their place."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import get_language_bidi
from django.utils.translation import gettext as _

from storefront.documents.lettering import FONT, Lettering

# Font sizes in points, lengths in millimetres.
BODY, TABLE, FIGURES, SMALL, FOOT = 9.5, 9.0, 9.0, 7.5, 7.0
MARGIN, TOP = 20.0, 18.0
INK, GREY, RULE = (33, 37, 41), (108, 117, 125), (206, 212, 218)
SUM_WIDTH = 92.0
# Space reserved for a carried sum below the lines of a page.
CARRIED = 8.0
MISSING = "\ufffd"
MAX_NAMED = 40
# Families for headings and for text, as files in `fonts`, by the shop's pair of fonts. The other fonts
# of `lettering` have the letters that they lack.
FAMILIES = {
    "fraunces": ("Fraunces", "Figtree"),
    "lora": ("PaperSerif", "PaperSans"),
    "figtree": ("Figtree", "Figtree"),
}
_POINT = 25.4 / 72


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def vat_id_line(vat_id: str) -> str:
    # Translators: The seller's or the buyer's VAT ID on an invoice, in the words of tax law. Germany: "USt-IdNr.".
    # France: "N° de TVA". Spain: "NIF-IVA". Italy: "Partita IVA". Netherlands: "Btw-nummer". Poland: "NIP".
    return _("VAT ID: %(vat_id)s") % {"vat_id": vat_id}


class Paper(Lettering):
    """Pages of documents. Draw each document between `begin` and `end`. `y` is the position of the next text."""

    def __init__(self, broken: dict[tuple[str, str, float, float, bool], list[str]] | None = None) -> None:
        """`broken` caches the lines of texts, since breaking texts into lines takes most of the time."""
        super().__init__(unit="mm", format="A4")
        self.broken = {} if broken is None else broken
        self.heading_font, self.text_font, self.accent = FONT, FONT, INK
        self.label, self.pages_in_all, self.first_page = "", 0, 1
        # The columns of lines at the foot of each page of the document.
        self.foot: list[list[str]] = []
        # Characters of the document that the fonts lack.
        self.missing: set[str] = set()
        self.set_auto_page_break(False)
        self.set_left_margin(MARGIN)
        self.set_right_margin(MARGIN)
        self.set_top_margin(TOP)

    def begin(self, record: dict[str, Any], label: str, pages_in_all: int) -> None:
        """Start a document on a new page, mirrored if its language is written from right to left."""
        self.is_mirrored = get_language_bidi()
        self.first_page, self.pages_in_all, self.missing = self.page_no() + 1, pages_in_all, set()
        self._wear(record.get("brand", {}))
        self.add_page(format=record["page"])
        self.label = self.plain(label)
        self.foot = self._foot_columns(record["seller"])

    def begin_plain(self, page: str, brand: dict[str, str]) -> None:
        """Start a page without a footer."""
        self.foot = [[]]
        self._wear(brand)
        self.add_page(format=page)

    def turn_page(self) -> None:
        """Continue the document on its next page."""
        self._draw_foot()
        self.add_page(same=True)

    def end(self) -> None:
        """End the document. If the fonts lack characters, a note on the document names them."""
        if self.missing:
            names = ", ".join(f"U+{ord(each):04X}" for each in sorted(self.missing)[:MAX_NAMED])
            more = len(self.missing) - MAX_NAMED
            self.ln(4)
            text = _("%(sign)s stands for characters that cannot be printed here: %(names)s")
            if more > 0:
                text = _("%(sign)s stands for characters that cannot be printed here: %(names)s and %(more)s more")
            self.write_lines([text % {"sign": MISSING, "names": names, "more": more}], size=SMALL, is_grey=True)
        self._draw_foot()

    @property
    def width(self) -> float:
        return self.w - 2 * MARGIN

    @property
    def right(self) -> float:
        return self.w - MARGIN

    @property
    def page_height(self) -> float:
        """The height available for texts on a page."""
        return self.h - TOP - self._foot_height - 6

    @property
    def left_on_page(self) -> float:
        return TOP + self.page_height - self.get_y()

    def plain(self, text: str) -> str:
        """Replace characters that the fonts lack by MISSING, and remember them for the note."""
        drawn = []
        for character, shown in self.clean(str(text), MISSING):
            if shown == MISSING != character:
                self.missing.add(character)
            drawn.append(shown)
        return "".join(drawn)

    def use(self, size: float, *, is_bold: bool = False, is_grey: bool = False, is_heading: bool = False) -> None:
        self.set_font(self.heading_font if is_heading else self.text_font, "B" if is_bold or is_heading else "", size)
        self.set_text_color(*(GREY if is_grey else INK))

    def line_height(self, size: float) -> float:
        return size * _POINT * 1.38

    def lines_of(
        self, text: str, width: float, size: float, *, is_bold: bool = False, is_heading: bool = False
    ) -> list[str]:
        """Break the text into lines of this width. A longer word is broken at the end of the line."""
        self.use(size, is_bold=is_bold, is_heading=is_heading)
        plain = self.plain(text)
        if not plain.strip():
            return []
        key = (self.font_family, plain, width, size, is_bold)
        if key not in self.broken:
            lines: Any
            if self.has_runs(plain):
                lines = self.break_runs(plain, width)
            else:
                lines = self.multi_cell(width, text=plain, dry_run=True, output="LINES", align="L", padding=0)
            self.broken[key] = lines
        return self.broken[key]

    def write_line(
        self, text: str, *, size: float, x: float = MARGIN, width: float = 0, align: str = "L", **look: bool
    ) -> None:
        """Write one line of a text that fits."""
        self.use(size, **look)
        self.set_x(x)
        self.cell(width or self.width, self.line_height(size), text, align=align, new_x="LMARGIN", new_y="NEXT")

    def write_lines(
        self,
        texts: Iterable[str],
        *,
        size: float,
        x: float = MARGIN,
        width: float = 0,
        align: str = "L",
        is_bold: bool = False,
        is_grey: bool = False,
        is_heading: bool = False,
    ) -> None:
        """Write texts of any length, over several pages if necessary."""
        width, look = width or self.width, {"is_bold": is_bold, "is_heading": is_heading}
        for text in texts:
            for line in self.lines_of(text, width - 2, size, **look):
                if self.line_height(size) > self.left_on_page:
                    self.turn_page()
                self.write_line(line, size=size, x=x, width=width, align=align, is_grey=is_grey, **look)

    def write_block(self, title: str, texts: Iterable[str], *, width: float) -> None:
        self.write_lines([title], width=width, size=SMALL, is_bold=True, is_grey=True)
        self.write_lines(texts, width=width, size=BODY)

    def write_facts(self, facts: Iterable[tuple[str, str]], *, x: float, width: float) -> None:
        """Write names at the left and values at the right."""
        for name, value in facts:
            top = self.get_y()
            self.write_lines([name], x=x, width=30, size=BODY, is_grey=True)
            below = self.get_y()
            if value:
                self.set_y(top)
                self.write_lines([value], x=x + 30, width=width - 30, size=BODY, align="R")
            self.set_y(max(below, self.get_y()))

    def draw_header(self, names: list[str], widths: list[float]) -> None:
        self.use(SMALL, is_bold=True, is_grey=True)
        self._cells(names, widths, self.line_height(SMALL) + 1.5)
        self.ln(self.line_height(SMALL) + 1.5)
        self.draw_rule()

    def draw_figures(self, figures: list[str], widths: list[float], *, size: float) -> None:
        """Draw the figures of a row beside its first line. The position of the next text does not change."""
        self.use(size)
        self._cells(figures, widths, self.line_height(size))

    def draw_sum(self, name: str, amount: str, *, is_grey: bool = False) -> None:
        """Draw a name and an amount below the table's last column."""
        first, *rest = self.lines_of(name, SUM_WIDTH - 38, TABLE) or [""]
        if self.line_height(TABLE) > self.left_on_page:
            self.turn_page()
        x, height = self.right - SUM_WIDTH, self.line_height(TABLE)
        self.use(TABLE, is_grey=is_grey)
        self.set_x(x)
        self.cell(SUM_WIDTH - 36, height, first)
        self.cell(36, height, self.plain(amount), align="R", new_x="LMARGIN", new_y="NEXT")
        for line in rest:
            if height > self.left_on_page:
                self.turn_page()
            self.write_line(line, size=TABLE, x=x, width=SUM_WIDTH - 36, is_grey=is_grey)

    def draw_total(self, name: str, amount: str) -> None:
        self.ln(1)
        self.draw_rule(self.right - SUM_WIDTH, is_accent=True)
        self.ln(1)
        self.use(BODY + 1.5, is_bold=True)
        height = self.line_height(BODY + 1.5)
        self.set_x(self.right - SUM_WIDTH)
        self.cell(SUM_WIDTH - 46, height, name)
        self.cell(46, height, self.plain(amount), align="R", new_x="LMARGIN", new_y="NEXT")
        self.ln(1)

    def draw_rule(self, x: float = MARGIN, *, is_accent: bool = False) -> None:
        self.set_draw_color(*(self.accent if is_accent else RULE))
        self.set_line_width(0.6 if is_accent else 0.25)
        self.line(x, self.get_y(), self.right, self.get_y())

    def draw_logo(self, logo: Any, *, width: float, height: float, x: float = MARGIN) -> None:
        """Draw the picture at the left, as large as fits. The next text is below it."""
        scale = min(width / logo.width, height / logo.height)
        self.image(logo, x=x, y=self.get_y(), w=logo.width * scale, h=logo.height * scale)
        self.set_y(self.get_y() + logo.height * scale)

    def _wear(self, brand: dict[str, str]) -> None:
        """Use the fonts and the accent of a document's `brand`; FONT and INK without one."""
        self.heading_font, self.text_font = FAMILIES.get(brand.get("fonts", ""), (FONT, FONT))
        for family in {self.heading_font, self.text_font} - {FONT}:
            for style in ("B",) if family != self.text_font else ("", "B"):
                self.load(family, style)
        self.accent = _rgb(brand["accent"]) if brand else INK
        self.use(BODY)

    def _draw_foot(self) -> None:
        """The seller's legal details in three columns, and the page's number."""
        top = self.h - self._foot_height - 2
        self.set_y(top)
        self.draw_rule()
        for i, lines in enumerate(self.foot):
            self.set_y(top + 1.5)
            for line in lines:
                self.write_line(line, size=FOOT, x=MARGIN + i * self.width / 3, width=self.width / 3, is_grey=True)
        self.set_y(self.h - 10)
        given = {"page": self.page_no() - self.first_page + 1, "pages": self.pages_in_all}
        number = _("Page %(page)s of %(pages)s") % given
        self.write_line(f"{self.label} · {number}", size=FOOT, align="R", is_grey=True)

    def _foot_columns(self, seller: dict[str, Any]) -> list[list[str]]:
        vat_id = [vat_id_line(seller["vat_id"])] if seller["vat_id"] else []
        texts = (
            [seller["name"], *seller["address"]],
            [*vat_id, *seller["registration"], seller["email"]],
            seller["bank"],
        )
        return [[line for text in column for line in self.lines_of(text, self.width / 3 - 4, FOOT)] for column in texts]

    @property
    def _foot_height(self) -> float:
        """The height from the footer's rule to the end of the page."""
        return max(len(column) for column in self.foot) * self.line_height(FOOT) + 14

    def _cells(self, texts: list[str], widths: list[float], height: float) -> None:
        """Draw texts beside each other, all but the first right-aligned in their columns."""
        self.set_x(MARGIN)
        for i, (text, width) in enumerate(zip(texts, widths, strict=True)):
            self.cell(width, height, self.plain(text), align="R" if i else "L")
        self.set_x(MARGIN)
