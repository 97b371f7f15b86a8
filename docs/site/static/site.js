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

// Let long names of tests and long code in a cell break, else they push the last column out of sight.
function letBreak(cell) {
  for (const code of cell.querySelectorAll("code")) code.classList.toggle("vp-breaks", code.textContent.length > 40);
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const long = [];
  while (texts.nextNode()) if (/\S{40}/.test(texts.currentNode.data)) long.push(texts.currentNode);
  for (const text of long) {
    const parts = text.data.split(/(?<=[/:_])(?=[^/:_])/);
    text.replaceWith(...parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])));
  }
}

addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("table.dataframe").forEach(describeCells);
  for (const cell of document.querySelectorAll(".bd-article table:not(.dataframe) td")) {
    cell.classList.toggle("vp-long", cell.textContent.trim().length > 60);
    letBreak(cell);
  }
  for (const part of document.querySelectorAll("dt.sig > dl, dt.sig > dl > dd")) part.setAttribute("role", "none");
  reachable();
});
addEventListener("load", reachable);
addEventListener("resize", reachable);
