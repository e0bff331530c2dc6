"""Drawings of the demo shop's kitchen, pantry and lighting products. `still_lifes.py` has the others."""

from collections.abc import Callable
from math import cos, radians, sin

from storefront.demo.canvas import FLOOR, Canvas, Colour, curve, tint

Drawing = Callable[[Canvas, Colour, Colour], None]

DARK = "#3a3530"
CREAM = "#f7f1e3"
WOOD = "#a8763f"
STEEL = "#a9b2b5"
LEAF = "#5f8a58"


def mug(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(52, FLOOR, 27)
    c.ring(70, 59, 11, 12.5, tint(colour, -0.12), 4.2)
    c.turned(48, [(40, 20), (55, 20.5), (74, 19), (81, 15), (82, 12)], colour)
    c.ellipse(48, 40, 20, 4.6, tint(colour, 0.25))
    c.ellipse(48, 40.7, 17.8, 3.4, "#5a3d2a")
    c.ellipse(45, 40.9, 9, 1.4, "#7c5a3f")
    if accent:
        c.rect(38, 54, 58, 66, accent, 1.5)
        c.line(curve((41, 61), (48, 56), (55, 61)), tint(colour, -0.4), 0.8)
    _steam(c, 44, 33)
    _steam(c, 52, 31)


def _steam(c: Canvas, x: float, y: float) -> None:
    wave = curve((x, y), (x - 4, y - 4), (x, y - 8)) + curve((x, y - 8), (x + 4, y - 12), (x, y - 16))
    c.line(wave, tint(c.wall, 0.55), 1.1)


def cups(c: Canvas, colour: Colour, accent: Colour) -> None:
    for x, y, shade in ((63, 76, tint(colour, 0.14)), (38, FLOOR, colour)):
        c.shadow(x + 2, y, 18)
        c.ellipse(x, y - 1, 17, 3.4, accent)
        c.turned(x, [(y - 25, 12.5), (y - 14, 12), (y - 4, 9.5), (y - 2, 7)], shade)
        c.ellipse(x, y - 25, 12.5, 3, tint(shade, 0.25))
        c.ellipse(x, y - 24.6, 10.8, 2.2, "#3c2619")


def bowl(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 26)
    for x, y, r, fruit in ((38, 49, 8, "#c9463a"), (52, 45, 9, "#dba03c"), (64, 49, 7.6, "#8fa34f")):
        if accent:
            c.ball(x, y, r, r, fruit)
    c.turned(50, [(54, 32), (62, 30), (73, 21), (79, 12), (80, 12), (82, 13)], colour)
    if not accent:
        c.ellipse(50, 54, 32, 6, tint(colour, 0.3))
        c.ellipse(50, 55, 28.5, 4.4, "#ead7b5")
        for x, berry in ((38, 55.0), (47, 53.4), (56, 56.0), (62, 54.2), (43, 56.6)):
            c.ball(x, berry, 1.9, 1.5, "#7d4a63")
    c.line(curve((21, 63), (50, 71), (79, 63)), tint(colour, 0.3), 0.7)


def teapot(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 30)
    c.line(curve((68, 50), (88, 52), (70, 74)), tint(colour, -0.18), 3.6)
    c.shape([*curve((34, 66), (20, 62), (13, 45)), (18, 43), *curve((18, 43), (26, 54), (38, 54))], tint(colour, 0.05))
    c.turned(50, [(44, 10), (47, 17), (58, 23.5), (70, 23), (79, 16), (82, 13)], colour)
    c.turned(50, [(38, 4), (41, 11), (45, 13.5)], tint(colour, 0.08))
    c.ball(50, 36, 3, 3, WOOD)
    c.line(curve((36, 54), (33, 62), (36, 71)), tint(colour, 0.35), 1.4)


def carafe(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 19)
    c.turned(50, [(36, 7), (46, 8), (58, 16), (72, 18), (80, 17), (82, 15)], tint(colour, 0.4))
    c.turned(50, [(57, 15), (64, 17), (73, 17), (79, 15.6), (80.5, 14)], colour)
    c.ellipse(50, 57, 15, 2.6, tint(colour, 0.22))
    c.turned(50, [(22, 9), (35, 8), (38, 7)], tint(colour, 0.55), sharp=True)
    c.ellipse(50, 22, 9, 1.9, tint(colour, 0.75))
    c.line(curve((38, 62), (36.5, 70), (38, 76)), tint(colour, 0.7), 1.3)
    c.shadow(76, FLOOR + 1, 8)
    c.ball(76, 77, 7, 6, "#e2c33d")


def spoons(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 20)
    for x, top, lean, shade in (
        (44, 22, -11, colour),
        (52, 15, 1, tint(colour, 0.12)),
        (58, 24, 13, tint(colour, -0.1)),
    ):
        c.line([(50 + (x - 50) * 0.5, 62), (x + lean, top + 10)], shade, 2.8)
        c.ball(x + lean, top + 5, 5.2, 8, shade)
        c.ellipse(x + lean + 0.6, top + 5.4, 3.2, 5.6, tint(shade, -0.14))
    c.turned(50, [(50, 15), (52, 16), (66, 17), (79, 15), (82, 13)], accent or LEAF)
    c.ellipse(50, 50, 15, 2.6, tint(accent or LEAF, -0.35))
    c.line(curve((34, 60), (50, 64), (66, 60)), tint(accent or LEAF, 0.35), 0.9)


def board(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 40, 3.4)
    c.block(12, 68, 80, 80, colour, 3)
    c.block(76, 71, 94, 77, colour, 3)
    c.ellipse(89, 74, 1.8, 1.2, tint(colour, -0.4))
    c.rect(12, 77, 80, 80, tint(colour, -0.22), 1.4)
    c.turned(44, [(42, 12), (45, 22), (54, 27), (64, 27), (70, 24)], accent)
    for x in (30, 39, 48):
        c.line(curve((x, 57), (x + 5, 51), (x + 9, 46)), tint(accent, 0.45), 1.8)


def knife(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 40, 2.4)
    c.shape([(8, 78), *curve((8, 78), (26, 66), (56, 69)), (56, 79), (20, 80.5)], "#c3cacc")
    c.line([(13, 79.3), (55, 78.6)], "#e9eeee", 0.7)
    c.block(55, 69.5, 90, 79, colour, 3.4)
    for x in (64, 73, 82):
        c.ellipse(x, 74.3, 1, 1, "#d8c9a8")
    c.ball(62, 52, 15, 13.5, "#e6c63c")
    c.polygon([(74, 46), (81, 47.5), (76, 56)], "#e0bd32")
    c.ellipse(57, 46, 3.4, 2, "#f5e28b")


def pan(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(42, FLOOR, 29)
    c.line([(60, 56), (93, 48)], tint(colour, -0.25), 4.4)
    c.ellipse(91, 48.6, 1, 0.8, tint(colour, -0.6))
    c.turned(40, [(52, 27), (54, 26), (70, 25), (79, 22), (82, 19)], colour)
    c.ellipse(40, 52, 27, 5.2, CREAM)
    c.ellipse(40, 53, 24.6, 4, "#fffdf6")
    c.polygon([(12, 50.5), (16, 50), (17, 55)], CREAM)
    c.line(curve((18, 62), (17, 68), (20, 76)), tint(colour, 0.42), 1.5)


def pouch(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 25)
    c.shape(
        [(30, 26), (70, 26), *curve((70, 26), (75, 54), (73, 82)), (27, 82), *curve((27, 82), (25, 54), (30, 26))],
        colour,
    )
    c.rect(30, 20, 70, 27, tint(colour, -0.16), 1)
    c.line([(31, 29.5), (69, 29.5)], tint(colour, 0.3), 0.5)
    c.rect(35, 43, 65, 69, accent or CREAM, 2)
    c.line([(41, 50), (59, 50)], tint(colour, -0.1), 1.5)
    c.line([(45, 54.5), (55, 54.5)], tint(colour, 0.2), 0.9)
    for turn in (-38, 0, 38):
        x, y = 50 + 6 * sin(radians(turn)), 65 - 6 * cos(radians(turn))
        c.polygon([*curve((50, 66), (x - 3, y + 2), (x, y - 1)), *curve((x, y - 1), (x + 3, y + 2), (50, 66))], LEAF)


def jar(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 24)
    c.turned(50, [(36, 17), (40, 22), (46, 23.5), (72, 23.5), (79, 22), (82, 18)], tint(colour, 0.1))
    c.turned(50, [(45, 21.5), (60, 22), (74, 21.6), (80, 18)], colour)
    c.block(32, 27, 68, 36.5, "#c9a663", 2)
    c.line([(33, 33.5), (67, 33.5)], tint("#c9a663", -0.2), 0.6)
    label = accent or CREAM
    c.rect(34, 52, 66, 71, label, 1.6)
    c.ball(50, 58.5, 3.8, 3.8, tint(colour, -0.1))
    c.line([(42, 66.5), (58, 66.5)], tint(colour, -0.35), 1)
    c.line(curve((29.5, 48), (28.6, 60), (30, 74)), tint(colour, 0.5), 1.3)


def bottle(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 16)
    c.turned(50, [(18, 4.6), (30, 4.8), (38, 7), (46, 14), (54, 15.5), (78, 15.5), (82, 13.5)], colour)
    c.block(44.6, 12, 55.4, 21, DARK, 1)
    c.rect(36.5, 54, 63.5, 73, accent or CREAM, 1.4)
    for x, y in ((46, 62), (50, 59), (54, 62), (50, 65)):
        c.ball(x, y, 2.2, 2.2, "#e3b92c")
    c.line([(44, 70), (56, 70)], tint(colour, -0.4), 0.8)
    c.line(curve((37.5, 50), (36.4, 62), (37.4, 76)), tint(colour, 0.55), 1.1)


def box(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 38)
    c.polygon([(14, 52), (86, 52), (80, 46), (20, 46)], tint(colour, -0.4))
    for x, shade in ((30, accent or "#d97b27"), (46, "#c68a1e")):
        c.turned(x, [(34, 6), (37, 8.4), (60, 8.4)], shade)
        c.block(x - 7, 28, x + 7, 34.5, "#c9a663", 1.2)
    c.shape([(58, 28), (76, 28), (77, 60), (57, 60)], "#4f8a63")
    c.rect(62, 37, 72, 47, CREAM, 1)
    for x in range(18, 84, 5):
        c.line(curve((x, 54), (x + 3, 47), (x + 7, 54)), "#e3c986", 0.9)
    c.block(14, 52, 86, 82, colour, 1)
    for y in (61.5, 71.5):
        c.line([(14.4, y), (85.6, y)], tint(colour, -0.25), 0.7)
    c.line([(50, 52), (50, 82)], "#b5432f", 2.4)


def candles(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 26)
    for x, top in ((40, 34), (61, 28)):
        c.ball(x, 80, 10, 2.6, "#a08a5c")
        c.block(x - 4, top, x + 4, 79, colour, 1.6)
        c.line([(x, top), (x, top - 3.4)], DARK, 0.7)
        _flame(c, x, top - 3, 1)


def _flame(c: Canvas, x: float, y: float, size: float) -> None:
    c.ellipse(x, y - 5 * size, 9 * size, 10 * size, tint(c.wall, 0.45))
    for scale, shade in ((1.0, "#eea23a"), (0.55, "#fbe6a4")):
        s = size * scale
        c.polygon(
            [
                *curve((x, y), (x - 5.4 * s, y - 3 * s), (x, y - 11 * s)),
                *curve((x, y - 11 * s), (x + 5.4 * s, y - 3 * s), (x, y)),
            ],
            shade,
        )


def tin(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.shadow(50, FLOOR, 27)
    _flame(c, 50, 44, 1.15)
    c.turned(50, [(50, 25), (78, 25), (82, 24)], colour, sharp=True)
    c.ellipse(50, 82, 24, 3.4, tint(colour, -0.1))
    c.ellipse(50, 50, 25, 4.8, tint(colour, 0.35))
    c.ellipse(50, 50.8, 22.6, 3.8, accent or CREAM)
    c.line([(50, 50), (50, 44)], DARK, 0.8)
    c.rect(38, 58, 62, 76, accent or CREAM, 2)
    for y, half in ((64, 8), (68, 5), (72, 6.5)):
        c.line([(50 - half, y), (50 + half, y)], tint(colour, -0.2), 0.9)


def lantern(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.ellipse(50, 52, 30, 32, tint(c.wall, 0.16))
    c.ellipse(50, 53, 22, 24, tint(c.wall, 0.3))
    c.shadow(50, FLOOR, 23)
    c.ring(50, 30, 20, 18, tint(colour, -0.35), 1.3)
    c.turned(50, [(37, 12), (44, 16), (55, 17), (64, 15), (68, 12)], accent)
    c.ellipse(50, 55, 11, 12, tint(accent, 0.5))
    c.polygon([*curve((50, 65), (43, 60), (50, 47)), *curve((50, 47), (57, 60), (50, 65))], "#f08a2c")
    for x in (33, 67):
        c.line(
            curve((50 + (x - 50) * 0.8, 34), (x + (x - 50) * 0.2, 52), (50 + (x - 50) * 0.8, 70)),
            tint(colour, -0.2),
            1.8,
        )
    c.turned(50, [(24, 5), (28, 8), (33, 15), (37, 15)], colour, sharp=True)
    c.turned(50, [(67, 14), (70, 20), (79, 22), (82, 21)], colour, sharp=True)
    c.block(70, 72, 76, 75, STEEL, 1.4)


def lamp(c: Canvas, colour: Colour, accent: Colour) -> None:
    c.line([(50, 0), (50, 26)], accent or DARK, 0.8)
    c.ellipse(50, 49, 33, 31, tint(c.wall, 0.4))
    c.ball(50, 49, 27, 24, colour)
    for k in (-0.78, -0.4, 0, 0.4, 0.78):
        c.line(curve((50 + 6 * k, 25.6), (50 + 54 * k, 49), (50 + 6 * k, 72.4)), tint(colour, -0.13), 0.45)
    c.block(45.5, 23.4, 54.5, 26.6, accent or DARK, 1)
    c.shadow(50, 86, 22, 2)


WARES: dict[str, Drawing] = {
    drawing.__name__: drawing
    for drawing in (
        mug, cups, bowl, teapot, carafe, spoons, board, knife, pan, pouch, jar, bottle, box, candles, tin, lantern,
        lamp,
    )
}  # fmt: skip
