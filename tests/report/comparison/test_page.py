"""The page of a comparison in a browser without a window."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqtag.report.attention_maps import AttentionMap, Layer
from seqtag.report.comparison.attention import AttentionPicture
from seqtag.report.comparison.page import write_report
from seqtag.report.heatmap import draw, render

from .made_comparison import made

pytestmark = pytest.mark.slow

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
HOW = "needs a browser: apt-get install chromium chromium-driver, and pip install selenium"
WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"]
NARROW, WIDE = 360, 1280


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium that keeps what is said on its console and asked of the network."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip(HOW)
    webdriver = pytest.importorskip("selenium.webdriver", reason=HOW)
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # With the path given, selenium looks for no driver on the network.
    service = webdriver.ChromeService(executable_path=DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="module", params=["5 runs", "50 runs", "5 contenders of 10 seeds"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    comparison = {
        "5 runs": lambda: made(5, seeds=1, evil=True),
        "50 runs": lambda: made(50, seeds=1),
        "5 contenders of 10 seeds": lambda: made(5, seeds=10, evil=True),
    }[request.param]()
    grids = np.random.default_rng(0).dirichlet(np.ones(9), size=(2, 4, 9))
    chart = AttentionMap("encoder", WORDS, WORDS, [Layer("module", grid) for grid in grids])
    png = render(draw(chart, title="encoder", longest=26).figure, "png")
    picture = AttentionPicture("What attention attends to", " ".join(WORDS), png)
    return write_report(comparison, tmp_path_factory.mktemp("page"), picture)


def visit(browser: Any, page: Path, width: int) -> None:
    """Open the page on a screen of this width, everything unfolded; forget what was logged."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == NARROW},
    )
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(page.as_uri())
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")


def column(browser: Any, table: int, title: str) -> list[str]:
    """What stands in a column of a table that sorts, from top to bottom."""
    found: list[str] = browser.execute_script(
        """
        const table = document.querySelectorAll("table.sortable")[arguments[0]];
        const titles = [...table.tHead.rows[0].cells].map(cell => cell.textContent.trim());
        const column = titles.indexOf(arguments[1]);
        return [...table.tBodies[0].rows].map(row => row.cells[column].textContent.trim());
        """,
        table,
        title,
    )
    return found


def head(browser: Any, table: int, title: str) -> Any:
    """The button in a column's head."""
    tables = browser.find_elements("css selector", "table.sortable")
    buttons = tables[table].find_elements("css selector", "thead button")
    return next(button for button in buttons if button.text.strip() == title)


def press(browser: Any, table: int, title: str) -> str | None:
    button = head(browser, table, title)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    sort: str | None = button.find_element("xpath", "..").get_attribute("aria-sort")
    return sort


def test_the_console_is_silent_and_only_the_file_is_asked_for(browser: Any, page: Path) -> None:
    visit(browser, page, WIDE)
    press(browser, 0, "parameters")
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert page.as_uri() in asked
    # A picture inside the page is asked for as well, of the page.
    assert {url for url in asked if not url.startswith("data:")} == {page.as_uri()}
    assert browser.switch_to.active_element.tag_name == "button", "no alert stands before it"


def test_a_foreign_script_would_not_run(browser: Any, page: Path) -> None:
    visit(browser, page, WIDE)
    ran = browser.execute_script(
        """
        const script = document.createElement("script");
        script.textContent = "window.foreign = true";
        document.body.append(script);
        return window.foreign === true;
        """
    )
    assert not ran
    assert any("Content Security Policy" in e["message"] for e in browser.get_log("browser"))


def test_every_picture_is_there(browser: Any, page: Path) -> None:
    visit(browser, page, WIDE)
    images = browser.execute_script("return [...document.images].map(i => i.naturalWidth)")
    assert len(images) == 1
    assert images[0] > 500
    drawings = browser.execute_script(
        """
        return [...document.querySelectorAll("svg")].map(svg => {
          const box = svg.getBoundingClientRect();
          const marks = [...svg.querySelectorAll("path, use")].map(m => m.getBoundingClientRect());
          const seen = marks.filter(m => m.width + m.height > 0);
          return [box.width, box.height, seen.length, svg.querySelectorAll("text").length];
        })
        """
    )
    assert len(drawings) == 4
    for width, height, marks, texts in drawings:
        assert min(width, height) > 100
        assert marks > 10
        assert texts > 5


def test_a_click_sorts_numbers_as_numbers_and_another_turns_them_round(
    browser: Any, page: Path
) -> None:
    visit(browser, page, WIDE)
    first = column(browser, 0, "contender")
    assert press(browser, 0, "parameters") == "ascending"
    shown = column(browser, 0, "parameters")
    numbers = [int(text.replace(",", "")) for text in shown if text != "-"]
    assert numbers == sorted(numbers)
    assert [f"{n:,}" for n in numbers] != sorted(f"{n:,}" for n in numbers), "not as texts"
    assert shown[-2:] == ["-", "-"], "floors have none, and come last"
    assert press(browser, 0, "parameters") == "descending"
    assert column(browser, 0, "parameters") == [f"{n:,}" for n in reversed(numbers)] + ["-", "-"]

    # By score, floors stand among the others; one column at a time is said to be sorted.
    assert press(browser, 0, "accuracy") == "ascending"
    scores = list(map(float, column(browser, 0, "accuracy")))
    assert scores == sorted(scores)
    assert scores[0] == 0.1307
    sorted_heads = browser.find_elements("css selector", "table.sortable:first-of-type [aria-sort]")
    assert len(sorted_heads) == 1

    # Durations are in several units; the better of these contenders took the longer.
    press(browser, 0, "training")
    runs = [name for name in first if "(floor)" not in name]
    assert column(browser, 0, "contender")[:-2] == runs[::-1]
    press(browser, 0, "#")
    assert column(browser, 0, "contender") == first


def test_the_keyboard_sorts_too(browser: Any, page: Path) -> None:
    visit(browser, page, WIDE)
    button = head(browser, 0, "accuracy")
    browser.execute_script("arguments[0].focus()", button)
    button.send_keys("\ue007")  # Enter
    scores = list(map(float, column(browser, 0, "accuracy")))
    assert scores == sorted(scores)
    button.send_keys(" ")
    assert list(map(float, column(browser, 0, "accuracy"))) == scores[::-1]


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_the_page_never_scrolls_sideways_and_its_tables_do(
    browser: Any, page: Path, width: int
) -> None:
    visit(browser, page, width)
    wide, room, scrolled = browser.execute_script(
        """
        window.scrollTo(500, 0);
        const {scrollWidth, clientWidth} = document.documentElement;
        return [scrollWidth, clientWidth, window.scrollX];
        """
    )
    assert wide == room <= width  # a scroll bar may take some
    assert scrolled == 0
    if width == NARROW:
        boxes = browser.execute_script(
            "const boxes = [...document.querySelectorAll('.scroll')];"
            "return boxes.map(box => [box.scrollWidth, box.clientWidth])"
        )
        assert all(shown <= width for _, shown in boxes)
        assert boxes[0][0] > boxes[0][1], "the table of scores is wider than the screen"
        # Words of a plot are no smaller than a reader can do with.
        smallest = browser.execute_script(
            """
            return Math.min(...[...document.querySelectorAll("svg text")].map(
              text => text.getBoundingClientRect().height))
            """
        )
        assert smallest > 7


def test_it_prints_unfolded(browser: Any, page: Path) -> None:
    visit(browser, page, WIDE)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = false)")
    count = "return document.querySelectorAll('details[open]').length"
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script(count) > 3
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert browser.execute_script(count) == 0
