// What the theme leaves to pages: boxes that scroll can be reached by keyboard, and signatures are no lists of definitions.
function reachable() {
  for (const box of document.querySelectorAll(".bd-article table, .cell_output, .cell_output div, .bd-article pre")) {
    if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible") box.tabIndex = 0;
  }
}

addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll("dt.sig > dl, dt.sig > dl > dd")) part.setAttribute("role", "none");
  reachable();
});
addEventListener("load", reachable);
addEventListener("resize", reachable);
