// Rows to sort and to choose from: native buttons in the heads, native radio or check boxes in the rows.
// Cells are set as text, never as markup: whatever a plan or an agent wrote stays words.
function render({ model, el }) {
  const group = `vp-table-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const frame = document.createElement("div");
  frame.className = "vp-table";
  frame.tabIndex = 0; // so that keys can scroll it
  frame.setAttribute("role", "region");
  const note = document.createElement("p");
  note.className = "vp-table-note";
  el.append(frame, note);

  const make = (tag, text, parent) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const choose = (key, on) => {
    const others = model.get("multiple") ? model.get("selected").filter((one) => one !== key) : [];
    model.set("selected", on ? [...others, key] : others);
    model.save_changes();
  };
  const sortBy = (name) => {
    const { column, descending } = model.get("sort");
    model.set("sort", { column: name, descending: column === name ? !descending : false });
    model.save_changes();
  };
  const head = (row) => {
    const { column, descending } = model.get("sort");
    make("th", "", row).innerHTML = '<span class="vp-hidden">Chosen</span>';
    for (const one of model.get("columns")) {
      const th = make("th", undefined, row);
      th.scope = "col";
      if (one.numeric) th.className = "vp-numeric";
      const sorted = one.name === column;
      if (sorted) th.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const button = make("button", `${one.title}${sorted ? (descending ? " ▾" : " ▴") : ""}`, th);
      button.type = "button";
      button.dataset.column = one.name;
      button.setAttribute("aria-label", `Sort by ${one.title}`);
      button.addEventListener("click", () => sortBy(one.name));
    }
  };
  const draw = () => {
    const active = document.activeElement;
    const held = frame.contains(active) ? [active.dataset.key, active.dataset.column] : null;
    frame.replaceChildren();
    frame.setAttribute("aria-label", model.get("label"));
    const table = make("table", undefined, frame);
    make("caption", model.get("label"), table).className = "vp-hidden";
    head(make("tr", undefined, make("thead", undefined, table)));
    const body = make("tbody", undefined, table);
    const kind = model.get("multiple") ? "checkbox" : "radio";
    const columns = model.get("columns");
    model.get("rows").forEach((cells, i) => {
      const key = model.get("row_keys")[i];
      const row = make("tr", undefined, body);
      const box = make("input", undefined, make("td", undefined, row));
      box.type = kind;
      box.name = group;
      box.dataset.key = key;
      box.setAttribute("aria-label", `Choose ${key.slice(0, 80)}`);
      box.addEventListener("change", () => choose(key, box.checked));
      cells.forEach((cell, j) => {
        const td = make("td", cell, row);
        if (columns[j] && columns[j].numeric) td.className = "vp-numeric";
        else if (cell.length <= 40 && !/\s/.test(cell)) td.className = "vp-word"; // not parted at a hyphen
      });
      row.addEventListener("click", (event) => event.target !== box && box.click());
    });
    note.textContent = model.get("note");
    mark();
    if (held) {
      const same = [...frame.querySelectorAll("input, button")].find(
        (one) => (held[0] !== undefined && one.dataset.key === held[0]) || (held[1] !== undefined && one.dataset.column === held[1]));
      if (same) same.focus();
    }
  };
  const mark = () => {
    const chosen = new Set(model.get("selected"));
    for (const box of frame.querySelectorAll("input")) {
      box.checked = chosen.has(box.dataset.key);
      box.closest("tr").classList.toggle("vp-chosen", box.checked);
    }
  };
  const drawn = "change:rows change:columns change:sort change:label change:multiple";
  const noted = () => (note.textContent = model.get("note"));
  model.on(drawn, draw);
  model.on("change:selected", mark);
  model.on("change:note", noted);
  draw();
  return () => {
    model.off(drawn, draw);
    model.off("change:selected", mark);
    model.off("change:note", noted);
  };
}
export default { render };
