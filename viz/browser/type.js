// How large type is.

/** How much larger the page's type is than usual, as for the back row of a lecture. */
function enlargement() {
  return Math.max(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_TYPE);
}

/** Whether the page is shown to a class, as ui/shell/lecture.css says. */
function inLecture() {
  return getComputedStyle(document.documentElement).getPropertyValue("--lecture").trim() === "1";
}

/** Rough width of a text, measured in its font size, as labels.py has it: Hangul is as wide as it is high. */
function ems(text) {
  return [...text].reduce((sum, character) => sum + (character >= "\u1100" ? 1 : NARROW_EM), 0);
}
