"""Every pair of colours that is used together can be told apart, in both themes: WCAG 2 AA, computed from the tokens."""

import re

import pytest

from awa.web.assets import FOLDER

TEXT = 4.5
SHAPE = 3.0
THEMES = ("light", "dark")
LEVELS = ("ok", "warn", "bad", "info")
STATES = (
    "scheduled",
    "available",
    "running",
    "completed",
    "retryable",
    "failed",
    "cancelled",
    "waiting",
)
SURFACES = ("bg", "surface", "raised", "sunken", "hover")
TEXTS = [
    *((text, on) for text in ("text", "text-2", "muted") for on in SURFACES),
    *(("accent", on) for on in ("bg", "surface", "raised", "hover", "accent-bg")),
    *(("accent-strong", on) for on in ("surface", "hover", "accent-bg")),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("on-bad", "bad"),
    *((level, on) for level in LEVELS for on in ("surface", "hover", f"{level}-bg")),
    *((text, f"{level}-bg") for text in ("text", "text-2", "accent") for level in LEVELS),
    *((f"s-{state}", f"s-{state}-bg") for state in STATES),
    # What is chosen has another ground below the same words.
    *((text, "accent-bg") for text in ("text", "text-2", "muted")),
]
SHAPES = [
    *(("field-line", on) for on in ("bg", "surface")),
    *(("focus", on) for on in ("bg", "surface", "raised", "hover", "accent-bg")),
    *((chart, "surface") for chart in ("chart-1", "chart-2", "chart-3", "chart-bad")),
]


def tokens() -> dict[str, tuple[str, str]]:
    """Each colour's name with its value in light and in dark."""
    sheet = (FOLDER / "css/tokens.css").read_text()
    found = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", sheet)
    return {name: (light, dark) for name, light, dark in found}


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_contrast_is_computed_as_wcag_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("pairs", "wanted"), [(TEXTS, TEXT), (SHAPES, SHAPE)])
def test_pairs_can_be_told_apart(pairs: list[tuple[str, str]], wanted: float, theme: str) -> None:
    index = THEMES.index(theme)
    colours = {name: values[index] for name, values in tokens().items()}
    poor = {
        f"{one} on {other}": round(ratio, 2)
        for one, other in pairs
        if (ratio := contrast(colours[one], colours[other])) < wanted
    }
    assert poor == {}


def test_no_sheet_has_a_colour_of_its_own() -> None:
    """A colour outside the tokens would have one value in both themes and no contrast that is checked."""
    for sheet in (FOLDER / "css").glob("*.css"):
        if sheet.name == "tokens.css":
            continue
        found = re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(", sheet.read_text())
        # A mask is no colour: only its opacity counts.
        assert [one for one in found if one != "#000"] == [], sheet.name


def test_every_colour_that_a_sheet_names_is_there() -> None:
    everything = "\n".join(sheet.read_text() for sheet in (FOLDER / "css").glob("*.css"))
    declared = set(re.findall(r"(--[\w-]+):", everything))
    assert set(re.findall(r"var\((--[\w-]+)", everything)) - declared == set()
