// A list of any length: the page has a slice of rows, and asks for another as it is scrolled or gone through by keys.
const ROW_PIXELS = 46;
const STEP_ROWS = 8; // of Page Up and Page Down

const make = (tag, parent, props = {}) => {
  const element = Object.assign(document.createElement(tag), props);
  parent.append(element);
  return element;
};

const choice = (parent, control, send) => {
  const label = make("label", parent, { className: "vp-choice" });
  make("span", label, { textContent: control.label });
  const select = make("select", label, { name: control.name, disabled: Boolean(control.disabled) });
  for (const [value, words] of control.options) make("option", select, { value, textContent: words });
  select.value = control.value;
  select.addEventListener("change", () => send(control.name, select.value));
};

// Draws controls anew only where they differ, and gives the focus back to the one that had it.
const choices = (parent, controls, send) => {
  const drawn = JSON.stringify(controls);
  if (parent.dataset.drawn === drawn) return;
  parent.dataset.drawn = drawn;
  const focused = parent.contains(document.activeElement) ? document.activeElement.name : null;
  parent.replaceChildren();
  for (const control of controls) choice(parent, control, send);
  if (focused) parent.querySelector(`select[name="${CSS.escape(focused)}"]`)?.focus();
};

const rowList = (parent, model, name, title, send) => {
  const id = `vp-list-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const section = make("section", parent, { className: `vp-list vp-list-${name}` });
  const head = make("header", section);
  const heading = make("h4", head, { id: `${id}-title` });
  const note = make("span", head, { className: "vp-small" });
  const tools = make("div", section, { className: "vp-tools" });
  const search = make("input", tools, { type: "search", placeholder: "Search (/)", autocomplete: "off", spellcheck: false });
  search.setAttribute("aria-label", `Search ${title}`);
  const more = make("details", tools, { className: "vp-more" });
  make("summary", more, { textContent: "Filter and sort" });
  const controls = make("div", more, { className: "vp-choices" });
  const frame = make("div", section, { className: "vp-rows" });
  const box = make("div", frame);
  box.setAttribute("role", "listbox");
  box.setAttribute("aria-labelledby", `${id}-title`);

  let active = 0; // the rank of the row that Tab comes to
  let wanted = null; // a rank that gets the focus once its slice is here
  let lastChosen = null;
  let timer = 0;
  const view = () => model.get(name);
  const set = (what, value) => send({ do: "list", list: name, name: what, value });
  const ask = (rank) => send({ do: "rows", list: name, first: Math.max(rank - 60, 0) });
  const here = (rank) => rank >= view().first && rank < view().first + view().rows.length;
  const option = (rank) => box.querySelector(`[data-rank="${rank}"]`);
  const show = (rank) => {
    const top = rank * ROW_PIXELS;
    if (top < frame.scrollTop) frame.scrollTop = top;
    else if (top + ROW_PIXELS > frame.scrollTop + frame.clientHeight) frame.scrollTop = top + ROW_PIXELS - frame.clientHeight;
  };
  const go = (rank) => {
    const next = Math.min(Math.max(rank, 0), view().total - 1);
    if (next < 0) return;
    active = next;
    wanted = null;
    show(next);
    if (here(next)) focus();
    else { wanted = next; ask(next); }
  };
  const focus = () => {
    for (const row of box.children) row.tabIndex = Number(row.dataset.rank) === active ? 0 : -1;
    option(active)?.focus({ preventScroll: true });
  };
  const choose = (rank) => here(rank) && send({ do: "choose", list: name, key: view().keys[rank - view().first] });
  const row = (cells, rank, chosen) => {
    const [words, label, color, beside, second] = cells;
    const element = make("div", box, { className: "vp-entry", id: `${id}-${rank}`, tabIndex: rank === active ? 0 : -1 });
    element.setAttribute("role", "option");
    element.setAttribute("aria-selected", String(chosen));
    element.setAttribute("aria-setsize", String(view().total));
    element.setAttribute("aria-posinset", String(rank + 1));
    element.dataset.rank = rank;
    element.style.top = `${rank * ROW_PIXELS}px`;
    const first = make("div", element, { className: "vp-entry-first" });
    make("b", first, { textContent: words, title: words });
    if (label) {
      const chip = make("span", first, { className: "vp-chip", textContent: label });
      if (color) chip.style.setProperty("--vp-chip", color);
      else chip.classList.add("vp-plain");
    }
    if (beside) make("span", first, { className: "vp-entry-beside vp-small", textContent: beside, title: beside });
    make("div", element, { className: "vp-entry-second", textContent: second || "\u00a0", title: second });
  };
  const draw = () => {
    const { label, total, first, rows, chosen, note: words, search: searched, controls: offered } = view();
    heading.textContent = label ?? title;
    note.textContent = words ?? "";
    if (document.activeElement !== search) search.value = searched ?? "";
    choices(controls, offered ?? [], set);
    const focused = box.contains(document.activeElement);
    if (chosen !== lastChosen && chosen >= 0) active = chosen;
    active = Math.min(Math.max(active, 0), Math.max((total ?? 0) - 1, 0));
    if (wanted >= (total ?? 0)) wanted = null;
    if (rows?.length && !here(active) && wanted === null) active = first;
    box.replaceChildren();
    box.style.height = `${(total ?? 0) * ROW_PIXELS}px`;
    (rows ?? []).forEach((cells, i) => row(cells, first + i, first + i === chosen));
    if (chosen !== lastChosen) {
      lastChosen = chosen;
      if (chosen >= 0) requestAnimationFrame(() => show(chosen));
    }
    if (wanted !== null && here(wanted)) { active = wanted; wanted = null; focus(); }
    else if (focused) focus();
    scrolled();
  };
  const scrolled = () => {
    clearTimeout(timer);
    const { total, first, rows } = view();
    if (!rows || rows.length >= total) return;
    const top = Math.floor(frame.scrollTop / ROW_PIXELS);
    const bottom = Math.min(top + Math.ceil(frame.clientHeight / ROW_PIXELS), total);
    if (frame.clientHeight && (top < first || bottom > first + rows.length)) timer = setTimeout(() => ask(top), 60);
  };
  frame.addEventListener("scroll", scrolled);
  box.addEventListener("click", (event) => {
    const chosen = event.target.closest(".vp-entry");
    if (!chosen) return;
    active = Number(chosen.dataset.rank);
    focus();
    choose(active);
  });
  const KEYS = {
    ArrowDown: () => go(active + 1),
    ArrowUp: () => go(active - 1),
    PageDown: () => go(active + STEP_ROWS),
    PageUp: () => go(active - STEP_ROWS),
    Home: () => go(0),
    End: () => go(view().total - 1),
    Enter: () => choose(active),
    " ": () => choose(active),
    Escape: () => search.focus(),
  };
  box.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  let typed = 0;
  search.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(() => set("search", search.value), 150);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "Enter") go(active);
    else if (event.key === "Escape" && search.value) { search.value = ""; set("search", ""); }
    else if (event.key === "Escape") go(active);
    else return;
    event.preventDefault();
  });
  const resized = new ResizeObserver(() => {
    if (lastChosen >= 0) show(lastChosen);
    scrolled();
  });
  resized.observe(frame);
  model.on(`change:${name}`, draw);
  draw();
  const stop = () => {
    resized.disconnect();
    model.off(`change:${name}`, draw);
  };
  return { section, search, stop };
};
