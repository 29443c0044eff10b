/** How much larger the page's type is than usual, as for the back row of a lecture. */
function enlargement() {
  return Math.max(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_TYPE);
}
