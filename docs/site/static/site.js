// What the theme leaves to pages: boxes that scroll can be reached by keyboard, and signatures are no lists of definitions.
function reachable() {
  for (const box of document.querySelectorAll(".bd-article table, .cell_output, .cell_output div, .bd-article pre")) {
    if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible") box.tabIndex = 0;
  }
}

// Mark the columns of numbers in tables of pandas, and the cells whose text is to stay on one line.
function describeCells(table) {
  const rows = [...table.querySelectorAll("tbody tr")];
  const number = /^(nan|none|<na>|nat|-|\.\.\.|[-+−]?[\d.,]+(e[-+]?\d+)?)?$/i;
  for (const row of table.rows) {
    [...row.cells].forEach((cell, at) => {
      cell.classList.toggle("vp-short", cell.textContent.trim().length <= 36);
      const below = rows.map(each => each.cells[at]?.textContent.trim() ?? "");
      cell.classList.toggle("vp-number", below.some(text => /\d/.test(text)) && below.every(text => number.test(text)));
    });
  }
}

function textsOf(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  return texts;
}

// Let names of tests and code of more characters than these in a cell break, else they push the last column out of sight.
function letBreak(cell, characters) {
  for (const code of cell.querySelectorAll("code")) {
    if (code.textContent.length > characters) code.classList.add("vp-breaks");
  }
  breakAfterMarks(textsOf(cell).filter(each => each.data.split(/\s/).some(word => word.length >= characters)));
}

function breakAfterMarks(texts) {
  for (const text of texts) {
    const parts = text.data.split(/(?<=[/:_.])(?!(?:py|md|csv|jsonl?|toml)\b)(?=[^/:_.])/);
    text.replaceWith(...parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])));
  }
}

// Keep numbers and their units, and intervals, on one line: "83 %", "12.3 s", "n = 419", "[39.9, 92.3]".
function keepUnits(article) {
  for (const text of textsOf(article)) {
    if (text.parentElement.closest("pre, code, svg, script, style")) continue;
    const kept = text.data
      .replace(/(\d) (?=%|(?:s|ms|min|h|MB|GB|MiB|GiB)\b)/g, "$1\u00a0")
      .replace(/\bn = (?=\d)/g, "n\u00a0=\u00a0")
      .replace(/\[[-+−]?[\d.,]+(?: %)?, [-+−]?[\d.,]+(?: %)?\]/g, interval => interval.replaceAll(" ", "\u00a0"));
    if (kept !== text.data) text.data = kept;
  }
}

addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".bd-article").forEach(keepUnits);
  document.querySelectorAll(".bd-sidebar-secondary .nav-link").forEach(link => breakAfterMarks(textsOf(link)));
  document.querySelectorAll("table.dataframe").forEach(describeCells);
  for (const cell of document.querySelectorAll(".bd-article table:not(.dataframe) td")) {
    const { length } = cell.textContent.trim();
    cell.classList.toggle("vp-long", length > 60);
    cell.classList.toggle("vp-short", length <= 16);
    letBreak(cell, 40);
  }
  for (const table of document.querySelectorAll(".bd-article table:not(.dataframe)")) {
    if (table.scrollWidth > table.clientWidth) for (const cell of table.querySelectorAll("td")) letBreak(cell, 24);
    table.classList.toggle("vp-tight", table.scrollWidth > table.clientWidth);
  }
  for (const part of document.querySelectorAll("dt.sig > dl, dt.sig > dl > dd")) part.setAttribute("role", "none");
  reachable();
});
addEventListener("load", reachable);
addEventListener("resize", reachable);
