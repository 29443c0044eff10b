"""Bounding boxes of page elements: their places, overlaps and parts outside the window."""

from itertools import combinations
from typing import NamedTuple

from playwright.sync_api import Locator, Page

from tests.browser.visit import wait_for

# elements -> [left, top, right, bottom] of the text in each, without spaces, or else of the element.
WRITTEN = """all => all.map(each => {
  const boxes = [], walk = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
  while (walk.nextNode())
    for (let i = 0; i < walk.currentNode.data.length; i += 1) {
      const range = document.createRange();
      range.setStart(walk.currentNode, i);
      range.setEnd(walk.currentNode, i + 1);
      if (range.toString().trim()) boxes.push(range.getBoundingClientRect());
    }
  if (!boxes.length) boxes.push(each.getBoundingClientRect());
  return [["left", Math.min], ["top", Math.min], ["right", Math.max], ["bottom", Math.max]]
    .map(([side, end]) => end(...boxes.map(box => box[side])));
})"""


class Box(NamedTuple):
    """Pixels from the upper left corner of the window."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def moved(self, down: float) -> "Box":
        return Box(self.left, self.top + down, self.right, self.bottom + down)

    def across(self, other: "Box") -> float:
        """How far the two reach into each other sideways; below 0 the room between them."""
        return min(self.right, other.right) - max(self.left, other.left)

    def down(self, other: "Box") -> float:
        return min(self.bottom, other.bottom) - max(self.top, other.top)


def boxes(page: Page, selector: str) -> list[Box]:
    """The boxes of all visible elements: of the text in each, or else of the element itself."""

    def read() -> list[Box]:
        found = [Box(*each) for each in page.locator(selector).evaluate_all(WRITTEN)]
        return [box for box in found if box.width > 0]

    return wait_for(page, read)


def box(page: Page, place: str | Locator) -> Box:
    """The box of one element, with or without text."""
    element = (page.locator(place) if isinstance(place, str) else place).first
    found = wait_for(page, element.bounding_box)  # None while it is drawn anew
    return Box(found["x"], found["y"], found["x"] + found["width"], found["y"] + found["height"])


def outside(page: Page, *selectors: str) -> list[tuple[str, Box]]:
    """Which elements are not wholly inside the window before any scrolling."""
    scrolled, window = page.locator(".stMain").evaluate("main => main.scrollTop"), page.viewport_size
    found = [(selector, box(page, selector)) for selector in selectors]
    return [
        (name, at)
        for name, at in found
        if min(at.left, at.top + scrolled) < 0
        or at.right > window["width"]
        or at.bottom + scrolled > window["height"]
    ]


def overlapping(found: dict[str, Box]) -> list[tuple[str, str]]:
    """The names of parts that lie over one another."""
    pairs = combinations(found.items(), 2)
    return [(one, other) for (one, at), (other, there) in pairs if min(at.across(there), at.down(there)) > 1]


def colliding(labels: list[Box]) -> list[tuple[Box, Box]]:
    """Labels in one line of type that run into one another."""
    pairs = combinations(labels, 2)
    return [(a, b) for a, b in pairs if a.down(b) > 0.3 * a.height and a.across(b) > 0.5]
