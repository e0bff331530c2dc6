"""The knitting pattern that the demo shop sells as a download: a PDF of two pages of text."""

from collections.abc import Iterable

PAGES = (
    (
        "Harbour cardigan",
        "Knitted from the top down, in one piece, with pockets.",
        "",
        "Sizes             XS      S       M       L       XL",
        "Chest, cm         92      98      104     112     120",
        "Length, cm        56      58      60      62      64",
        "Wool, 50 g        8       9       10      11      12",
        "",
        "Needles: 4 mm for the body, 3.5 mm for the ribs. Five buttons, 18 mm.",
        "Tension: 20 stitches and 28 rows are 10 cm by 10 cm in stocking stitch.",
        "",
        "Yoke",
        "Cast on 62 (64, 66, 70, 74) stitches with the larger needles. Purl a row.",
        "Place markers: front 11 (11, 12, 13, 14), sleeve 8, back 24 (26, 26, 28, 30),",
        "sleeve 8, front 11 (11, 12, 13, 14).",
        "Next row: knit, increasing on both sides of each marker. Purl back.",
        "Repeat these two rows until the back has 88 (94, 100, 108, 116) stitches.",
    ),
    (
        "Body, sleeves and ribs",
        "Put the sleeves on spare yarn. Join fronts and back, with 4 new stitches under",
        "each arm. Knit straight for 30 (31, 32, 33, 34) cm, then 6 cm of rib.",
        "",
        "Sleeves",
        "Pick up a sleeve and the 4 stitches under the arm. Decrease twice every 8th row",
        "until 44 (46, 48, 50, 52) stitches are left. End with 6 cm of rib.",
        "",
        "Pockets",
        "Knit two squares of 24 stitches and 12 cm. Sew them to the fronts.",
        "",
        "Bands",
        "Pick up 3 of every 4 rows along the fronts and all stitches of the neck.",
        "Rib for 3 cm, with five buttonholes in the right band. Cast off in rib.",
        "",
        "This is a demo shop: please knit a swatch first.",
    ),
)
# A4 in points, the place of the first line, and the height of a line.
SIZE, START, LINE = "0 0 595 842", "56 770", 17


def pattern_pdf() -> bytes:
    """The file. The same bytes each time."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(PAGES)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(PAGES)} /MediaBox [{SIZE}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
    ]
    for number, lines in enumerate(PAGES):
        contents = f"{5 + 2 * number} 0 R"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F 3 0 R >> >> /Contents {contents} >>",
            _stream(lines),
        ]
    return _file(objects)


def _stream(lines: Iterable[str]) -> str:
    shown = "\n".join(f"({_escaped(line)}) Tj T*" for line in lines)
    text = f"BT /F 10 Tf {LINE} TL {START} Td\n{shown}\nET"
    return f"<< /Length {len(text)} >>\nstream\n{text}\nendstream"


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _file(objects: list[str]) -> bytes:
    """The objects, numbered from 1, and the table of where each begins."""
    text, places = "%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(text))
        text += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(objects) + 1
    end = f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{len(text)}\n%%EOF\n"
    return f"{text}xref\n0 {count}\n0000000000 65535 f \n{table}{end}".encode("ascii")
