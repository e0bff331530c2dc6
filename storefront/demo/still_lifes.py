"""Drawings of the demo shop's textiles, stationery, garden products and toys; `picture` draws any of them by name."""

from storefront.demo.canvas import FLOOR, Canvas, Colour, curve, tint
from storefront.demo.drawings import CREAM, DARK, LEAF, STEEL, WARES, WOOD, Drawing


def towel(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.line([(16, 18), (84, 18)], WOOD, 2.6)
    c.shape([(28, 18), (72, 18), (73, 76), *curve((73, 76), (50, 79.5), (27, 76))], accent or CREAM)
    for y in (58, 63, 68):
        c.line(curve((27.6, y), (50, y + 2.4), (72.6, y)), colour, 2.2)
    for x in (36, 50, 64):
        c.line([(x, 20), (x, 55)], tint(accent or CREAM, -0.07), 0.5)
    c.line(curve((47, 18), (50, 11), (53, 18)), colour, 1)


def towels(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 34)
    for row, shade in enumerate((accent or colour, colour, tint(accent or colour, 0.3), colour)):
        y = FLOOR - row * 10.5
        c.block(20 + row, y - 10, 80 - row, y, shade, 4.6)
        c.line([(25 + row, y - 5), (78 - row, y - 5)], tint(shade, -0.16), 0.7)
    for x in range(28, 74, 5):
        c.line([(x, 44), (x, 48)], tint(colour, -0.12), 0.5)


def blanket(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 38)
    for row, height in enumerate((13, 13, 12)):
        bottom = FLOOR - sum((13, 13, 12)[:row])
        c.block(14 + row, bottom - height, 86 - row, bottom, tint(colour, 0.05 * row), 6)
        c.line([(22, bottom - height / 2), (85 - row, bottom - height / 2)], tint(colour, -0.2), 0.8)
    c.rect(58, 44.4, 72, 82, accent or CREAM, 0.4)
    for x in (61, 65, 69):
        c.line([(x, 44.6), (x, 82)], tint(colour, 0.1), 1)
    for x in range(59, 72, 2):
        c.line([(x, 82), (x - 0.4, 87)], accent or CREAM, 0.7)


def cushion(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 32)
    corners = [(20, 28), (80, 28), (82, 81), (18, 81)]
    edges = zip(corners, [(50, 34), (75, 55), (50, 77), (25, 55)], [*corners[1:], corners[0]], strict=True)
    c.shape([point for start, bend, end in edges for point in curve(start, bend, end)], colour)
    c.line(curve((25, 35), (50, 40), (75, 35)), tint(colour, 0.22), 0.7)
    for x, y in ((50, 56), (40, 50), (60, 50), (40, 62), (60, 62)):
        c.line([(x - 2.2, y), (x + 2.2, y)], accent or CREAM, 0.9)
        c.line([(x, y - 2.2), (x, y + 2.2)], accent or CREAM, 0.9)


def apron(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.line(curve((40, 24), (50, 2), (60, 24)), tint(colour, -0.2), 1.4)
    bib = [*curve((38, 22), (50, 25), (62, 22)), *curve((62, 22), (63, 38), (76, 44)), (74, 84), (26, 84)]
    c.shape([*bib, *curve((24, 44), (37, 38), (38, 22))], colour)
    c.line(curve((76, 45), (84, 50), (82, 66)), tint(colour, -0.2), 1.2)
    c.line(curve((24, 45), (16, 50), (18, 66)), tint(colour, -0.2), 1.2)
    c.block(35, 56, 65, 72, tint(colour, -0.12), 1.6)
    c.line([(50, 56), (50, 72)], tint(colour, 0.18), 0.6)
    c.rect(44, 31, 56, 38, tint(colour, -0.12), 1)
    c.line([(46, 33), (54, 33)], accent or CREAM, 0.9)
    c.line([(57.5, 55), (60.5, 47)], WOOD, 1.6)


def beanie(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 31)
    c.shape([*curve((22, 66), (22, 26), (50, 26)), *curve((50, 26), (78, 26), (78, 66))], colour)
    for k in (-0.7, -0.35, 0, 0.35, 0.7):
        c.line(curve((50 + 12 * k, 27.5), (50 + 36 * k, 40), (50 + 38 * k, 65)), tint(colour, -0.2), 0.8)
    c.block(19, 62, 81, 81, tint(colour, 0.06), 5)
    for x in range(23, 80, 4):
        c.line([(x, 64), (x, 79)], tint(colour, -0.18), 0.8)
    c.rect(60, 68, 70, 75, CREAM, 0.8)


def notebook(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(52, FLOOR, 28)
    c.block(31, 22, 75, 82, tint(accent or CREAM, -0.1), 1)
    c.block(27, 20, 72, 80, colour, 1.8)
    c.rect(27, 20, 32, 80, tint(colour, -0.2), 1)
    c.rect(40, 33, 63, 44, accent or CREAM, 1)
    c.line([(44, 37), (59, 37)], tint(colour, -0.1), 0.8)
    c.line([(46, 40.4), (57, 40.4)], tint(colour, 0.2), 0.6)
    c.line([(66, 20), (66, 80)], tint(colour, 0.28), 1)
    c.line([(80, 82), (86, 36)], WOOD, 2.4)
    c.polygon([(78.8, 82), (81.2, 82), (79.6, 87)], "#e6c99b")


def pencils(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 19)
    for number, top in enumerate((30, 20, 25, 17, 24, 31)):
        x = 38 + number * 4.8
        lean = (x - 50) * 0.35
        c.line([(50 + (x - 50) * 0.8, 60), (x + lean, top + 7)], tint(colour, 0.1 * (number % 3) - 0.1), 3.4)
        c.polygon([(x + lean - 1.7, top + 7), (x + lean + 1.7, top + 7), (x + lean * 1.1, top)], "#eed3a6")
        c.ellipse(x + lean * 1.1, top + 1, 0.8, 1.1, DARK)
    c.turned(50, [(52, 16), (80, 15), (82, 14)], accent or DARK, sharp=True)
    c.ellipse(50, 52, 16, 2.6, tint(accent or DARK, 0.2))
    c.line(curve((34.2, 62), (50, 65), (65.8, 62)), tint(accent or DARK, 0.4), 0.9)


def calendar(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 34)
    c.polygon([(20, 82), (80, 82), (88, 78), (28, 78)], tint(CREAM, -0.3))
    c.block(20, 24, 80, 82, "#fbf7ec", 1)
    c.rect(20, 24, 80, 58, tint(colour, 0.55))
    c.ellipse(62, 37, 6, 6, accent or "#d0603c")
    c.polygon(
        [(20, 50), *curve((20, 50), (35, 44), (50, 49)), *curve((50, 49), (66, 54), (80, 48)), (80, 58), (20, 58)],
        colour,
    )
    c.polygon([(34, 48), (46, 48), (44, 52), (36, 52)], CREAM)
    c.polygon([(40, 36), (40, 47), (47, 47)], CREAM)
    for row in range(3):
        for column in range(7):
            shade = accent if accent and (row, column) == (1, 3) else tint(colour, 0.35)
            c.rect(26 + column * 7.3, 63 + row * 5.6, 29.5 + column * 7.3, 66 + row * 5.6, shade, 0.6)
    for x in range(28, 76, 7):
        c.line([(x, 21.6), (x, 26.4)], DARK, 1)


def letters(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 36)
    c.block(30, 22, 74, 74, "#fffdf7", 0.6)
    for y in range(30, 52, 5):
        c.line([(36, y), (68 if y < 48 else 54, y)], tint(accent or DARK, 0.45), 0.7)
    c.block(16, 48, 84, 82, colour, 1.2)
    c.polygon([(16.5, 48.5), (83.5, 48.5), (50, 69)], accent or STEEL)
    c.polygon([(18, 48.4), (82, 48.4), (50, 66.4)], tint(colour, -0.05))
    c.ball(50, 67, 4, 4, "#b5432f")


def print_(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 30)
    c.block(20, 12, 80, 82, WOOD, 0.8)
    c.rect(23, 15, 77, 79, "#fbf7ec")
    c.rect(30, 22, 70, 68, tint(colour, 0.72))
    c.ellipse(60, 33, 5, 5, tint(accent or "#d0603c", 0.15))
    c.polygon(
        [(30, 60), *curve((30, 60), (42, 52), (54, 58)), *curve((54, 58), (62, 62), (70, 57)), (70, 68), (30, 68)],
        colour,
    )
    c.polygon([(43, 32), (49, 32), (51.5, 58), (40.5, 58)], CREAM)
    for y in (38, 47):
        c.polygon(
            [(42.4 - (y - 38) * 0.08, y), (49.6 + (y - 38) * 0.08, y), (50.1, y + 4.4), (41.9, y + 4.4)],
            accent or "#d0603c",
        )
    c.rect(43, 28, 49, 32, colour)
    c.polygon([(42, 28), (50, 28), (46, 24)], accent or "#d0603c")
    c.polygon([(49, 29), (69.6, 24), (69.6, 33)], tint(accent or "#d0603c", 0.75))
    c.line([(33, 73.6), (42, 73.6)], tint(DARK, 0.5), 0.5)


def pattern(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(46, FLOOR, 33)
    c.block(28, 18, 72, 74, tint(CREAM, -0.08), 0.8)
    c.block(20, 22, 64, 80, "#fdf9ef", 0.8)
    c.shape(
        [
            (32, 34),
            (37, 31),
            (47, 31),
            (52, 34),
            (57, 46),
            (53, 48),
            (50, 44),
            (50, 57),
            (34, 57),
            (34, 44),
            (31, 48),
            (27, 46),
        ],
        colour,
    )
    c.line([(42, 32), (42, 57)], tint(colour, 0.4), 0.7)
    for y in (63, 67, 71, 75):
        c.line([(26, y), (58 if y < 75 else 44, y)], tint(DARK, 0.6), 0.7)
    c.ball(73, 70, 14, 13, accent or colour)
    for k in (-6, -1, 4, 9):
        c.line(
            curve((61 + k * 0.4, 66 + k), (73, 58 + k), (85 - abs(k) * 0.3, 69 + k)), tint(accent or colour, -0.16), 0.7
        )
    c.line([(62, 88), (88, 52)], WOOD, 1.2)


def giftcard(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 38)
    c.block(12, 34, 88, 80, colour, 4)
    c.rect(31, 34, 37, 80, accent)
    c.rect(12, 53, 88, 59, accent)
    for side in (-1, 1):
        c.polygon(
            [
                (34, 56),
                *curve((34, 56), (34 + side * 6, 40), (34 + side * 15, 46)),
                *curve((34 + side * 15, 46), (34 + side * 14, 57), (34, 56)),
            ],
            tint(accent, 0.12 * side),
        )
        c.polygon([(34, 56), (34 + side * 10, 71), (34 + side * 4, 72)], tint(accent, -0.1))
    c.ball(34, 56, 3, 3, tint(accent, -0.05))
    c.line([(56, 43), (79, 43)], tint(colour, 0.6), 1.6)
    c.line([(56, 47.4), (70, 47.4)], tint(colour, 0.35), 1)


def can(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(52, FLOOR, 30)
    c.shape(
        [(40, 72), (40, 62), *curve((40, 62), (24, 54), (15, 34)), (19, 32), *curve((19, 32), (30, 48), (42, 52))],
        tint(colour, -0.06),
    )
    c.polygon([(10, 37), (21, 28), (23, 32), (13, 40)], accent)
    c.line(curve((72, 48), (96, 50), (74, 76)), tint(colour, -0.2), 2.8)
    c.line(curve((42, 48), (52, 16), (70, 44)), tint(colour, -0.12), 2.6)
    c.turned(56, [(46, 17), (80, 20), (82, 19)], colour, sharp=True)
    c.ellipse(56, 46, 17, 3.8, tint(colour, -0.4))
    for y in (53, 75):
        c.line(curve((38, y), (56, y + 4), (74.5, y)), tint(colour, 0.3), 1)


def seeds(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 38)
    for x, top, shade in ((18, 34, tint(colour, 0.25)), (40, 28, "#d98a4a"), (62, 33, tint(colour, -0.1))):
        c.block(x, top, x + 21, 74, accent or CREAM, 0.8)
        c.rect(x, top, x + 21, top + 8, shade, 0.8)
        c.line([(x + 10.5, 62), (x + 10.5, top + 18)], LEAF, 0.8)
        for y in (top + 19, top + 25):
            c.polygon(
                curve((x + 10.5, y + 4), (x + 3, y + 3), (x + 4, y - 2))
                + curve((x + 4, y - 2), (x + 10, y - 1), (x + 10.5, y + 4)),
                LEAF,
            )
            c.polygon(
                curve((x + 10.5, y + 6), (x + 18, y + 5), (x + 17, y))
                + curve((x + 17, y), (x + 11, y + 1), (x + 10.5, y + 6)),
                LEAF,
            )
    c.block(10, 64, 90, 82, "#b98a56", 1)
    c.line([(10.4, 73), (89.6, 73)], tint("#b98a56", -0.22), 0.7)


def pot(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 25)
    for x, y, bend in ((34, 26, 30), (66, 28, 70), (50, 16, 46), (24, 40, 26), (76, 41, 74)):
        c.line(curve((50, 54), (bend, 44), (x, y)), tint(accent, -0.15), 0.9)
        c.polygon(curve((x, y - 7), (x - 8, y), (x, y + 7)) + curve((x, y + 7), (x + 8, y), (x, y - 7)), accent)
    c.turned(50, [(60, 18), (78, 13.5)], colour, sharp=True)
    c.block(29, 52, 71, 61, tint(colour, 0.06), 1.6)
    c.turned(50, [(77, 20), (82, 17)], tint(colour, -0.08), sharp=True)
    c.rect(32, 61, 68, 62.4, tint(colour, -0.28))


def trowel(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.polygon([*curve((0, 84), (50, 66), (100, 84)), (100, 100), (0, 100)], "#6e4f3a")
    c.shape([(43, 48), (57, 48), *curve((57, 48), (62, 66), (50, 80)), *curve((50, 80), (38, 66), (43, 48))], colour)
    c.line([(50, 50), (50, 72)], tint(colour, 0.35), 1)
    c.line([(50, 50), (50, 38)], tint(colour, -0.25), 2.6)
    c.block(46.4, 12, 53.6, 39, accent, 3)
    c.line([(47, 18), (53, 18)], "#b5432f", 1.6)
    c.polygon([*curve((0, 85), (50, 73), (100, 85)), (100, 100), (0, 100)], "#7d5c45")
    for x, y in ((24, 84), (36, 87), (62, 86), (75, 84), (50, 84)):
        c.ball(x, y, 1.6, 1.1, "#5d4230")


def boat(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 36)
    c.line([(48, 12), (48, 64)], WOOD, 2)
    c.shape([(51, 14), *curve((51, 14), (80, 40), (80, 58)), (51, 58)], accent or CREAM)
    c.shape(
        [(45, 20), (45, 58), *curve((45, 58), (30, 56), (22, 58)), *curve((22, 58), (38, 44), (45, 20))],
        tint(accent or CREAM, -0.06),
    )
    c.polygon([(48, 9), (48, 15), (58, 12)], "#d9a441")
    c.shape(
        [
            *curve((12, 63), (50, 67), (90, 61)),
            *curve((90, 61), (84, 82), (64, 82)),
            (32, 82),
            *curve((32, 82), (16, 80), (12, 63)),
        ],
        colour,
    )
    c.line(curve((15, 69), (50, 73), (86, 68)), CREAM, 1.4)


def cards(c: Canvas, colour: Colour, accent: Colour) -> None:
    for x, y, face in ((14, 26, True), (40, 20, False), (66, 27, True), (24, 54, False), (53, 55, True)):
        c.shadow(x + 11.5, y + 24, 12, 1.8)
        c.block(x, y, x + 23, y + 25, "#fdf9ef" if face else colour, 2.4)
        middle = (x + 11.5, y + 12.5)
        if face:
            c.polygon(
                curve((x + 4, middle[1]), (middle[0], y + 2), (x + 17, middle[1]))
                + curve((x + 17, middle[1]), (middle[0], y + 23), (x + 4, middle[1])),
                accent,
            )
            c.polygon([(x + 15, middle[1]), (x + 21, y + 8), (x + 21, y + 17)], tint(accent, -0.1))
            c.ellipse(x + 8, middle[1] - 1.4, 0.9, 0.9, DARK)
        else:
            for radius in (7, 4.4, 1.8):
                c.ring(*middle, radius, radius, tint(colour, 0.45), 0.8)


def whale(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(46, FLOOR, 34)
    c.shape(
        [
            *curve((72, 62), (90, 58), (88, 36)),
            *curve((88, 36), (82, 42), (80, 42)),
            *curve((80, 42), (74, 34), (68, 38)),
            *curve((68, 38), (78, 46), (68, 56)),
        ],
        tint(colour, -0.08),
    )
    c.shape(
        [
            *curve((10, 64), (12, 40), (40, 40)),
            *curve((40, 40), (66, 42), (76, 60)),
            *curve((76, 60), (74, 82), (44, 82)),
            *curve((44, 82), (10, 82), (10, 64)),
        ],
        colour,
    )
    c.polygon(
        [
            *curve((12, 69), (30, 74), (62, 72)),
            *curve((62, 72), (58, 81), (44, 81.4)),
            *curve((44, 81.4), (16, 82), (12, 69)),
        ],
        accent or CREAM,
    )
    for x in (24, 33, 42, 51):
        c.line(curve((x, 73.6), (x + 1, 77), (x + 4, 80)), tint(accent or CREAM, -0.13), 0.5)
    c.ellipse(26, 60, 1.7, 1.9, DARK)
    c.ellipse(25.5, 59.4, 0.5, 0.6, "#ffffff")
    c.line(curve((14, 68), (20, 71), (27, 69)), tint(colour, -0.3), 0.8)
    c.shape([*curve((44, 70), (50, 84), (62, 84)), *curve((62, 84), (58, 74), (54, 69))], tint(colour, -0.14))
    for lean in (-1, 1):
        c.line(curve((36, 38), (36 + lean * 1, 26), (36 + lean * 9, 27)), tint(colour, 0.45), 1.6)


DRAWINGS: dict[str, Drawing] = WARES | {
    drawing.__name__.rstrip("_"): drawing
    for drawing in (
        towel, towels, blanket, cushion, apron, beanie, notebook, pencils, calendar, letters, print_, pattern, giftcard,
        can, seeds, pot, trowel, boat, cards, whale,
    )
}  # fmt: skip


def picture(name: str, *, wall: Colour, colour: Colour, accent: Colour = "", close: bool = False) -> bytes:
    """A PNG of the drawing with this name before a wall of this colour; the same arguments give the same bytes."""
    canvas = Canvas(wall)
    DRAWINGS[name](canvas, colour, accent)
    return canvas.png(close=close)
