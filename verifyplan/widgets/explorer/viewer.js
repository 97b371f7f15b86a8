// The run viewer: lists on the left, a run step by step on the right. Python makes the HTML of the regions, of escaped
// texts alone; whatever the user does goes to Python as a message, whose answer comes as changed traits.
const region = (parent, model, trait, title) => {
  const node = make("div", parent, { className: `vp-region vp-region-${trait}` });
  if (title) {
    node.setAttribute("role", "region");
    node.setAttribute("aria-label", title);
  }
  const open = new Set(); // what was unfolded stays so when the region is drawn anew
  const keyOf = (details) => details.dataset.call || details.dataset.fold || details.querySelector("summary")?.textContent;
  node.addEventListener("toggle", (event) => {
    const key = keyOf(event.target);
    if (event.target.open) open.add(key);
    else if (event.target.isConnected) open.delete(key);
  }, true);
  const draw = () => {
    node.innerHTML = model.get(trait);
    for (const details of node.querySelectorAll("details")) if (open.has(keyOf(details))) details.open = true;
    const votes = node.querySelectorAll(".vp-matrix .vp-vote");
    votes.forEach((vote, i) => { vote.tabIndex = i ? -1 : 0; });
  };
  model.on(`change:${trait}`, draw);
  draw();
  return { node, stop: () => model.off(`change:${trait}`, draw) };
};

// Votes of a matrix: arrows go from one to the next, Enter or a click shows its words, Escape hides them.
const matrixKeys = (root) => {
  const words = (vote) => {
    const box = vote.closest(".vp-region").querySelector(".vp-vote-words");
    for (const other of root.querySelectorAll(".vp-vote[aria-pressed]")) other.removeAttribute("aria-pressed");
    vote.setAttribute("aria-pressed", "true");
    box.replaceChildren();
    make("b", box, { textContent: vote.dataset.head });
    make("div", box, { className: "vp-words", textContent: vote.dataset.words });
  };
  root.addEventListener("click", (event) => {
    const vote = event.target.closest(".vp-vote");
    if (vote) words(vote);
  });
  root.addEventListener("keydown", (event) => {
    const vote = event.target.closest?.(".vp-vote");
    if (!vote) return;
    const cell = vote.closest("td"), row = cell.parentElement, rows = [...row.parentElement.rows];
    const [x, y] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] ?? [0, 0];
    if (event.key === "Escape") {
      const box = vote.closest(".vp-region").querySelector(".vp-vote-words");
      box.textContent = box.dataset.hint;
      vote.removeAttribute("aria-pressed");
    } else if (x || y) {
      let [i, j, next] = [cell.cellIndex + x, rows.indexOf(row) + y, null];
      for (; !next && rows[j]?.cells[i]; i += x, j += y) next = rows[j].cells[i].querySelector(".vp-vote");
      if (next) {
        vote.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      }
    } else return;
    event.preventDefault();
  });
};

const scopes = (parent, model, send) => {
  const group = make("div", parent, { className: "vp-scope" });
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Items of");
  const buttons = [["run", "This run"], ["all", "All runs"]].map(([value, words]) => {
    const button = make("button", group, { type: "button", className: "vp-button", textContent: words });
    button.addEventListener("click", () => send({ do: "scope", value }));
    return [value, button];
  });
  const mark = () => {
    for (const [value, button] of buttons) button.setAttribute("aria-pressed", String(value === model.get("scope")));
  };
  model.on("change:scope", mark);
  mark();
  return () => model.off("change:scope", mark);
};

const rulesForm = (parent, model, send) => {
  const form = make("div", parent, { className: "vp-choices vp-rules-form" });
  const reset = make("button", parent, { type: "button", className: "vp-button", textContent: "As recorded", title: "Set all replay controls back" });
  reset.addEventListener("click", () => send({ do: "rules", name: "reset" }));
  const draw = () => choices(form, model.get("rules"), (name, value) => send({ do: "rules", name, value }));
  model.on("change:rules", draw);
  draw();
  return () => model.off("change:rules", draw);
};

const section = (parent, words, className) => {
  const box = make("section", parent, { className: `vp-pane ${className}` });
  if (words) make("h4", box, { textContent: words });
  return box;
};

function render({ model, el }) {
  const send = (message) => model.send(message);
  const root = make("div", el, { className: "vp-viewer" });
  const panes = make("div", root, { className: "vp-viewer-panes" });
  const left = make("nav", panes, { className: "vp-left" }), right = make("div", panes, { className: "vp-right" });
  left.setAttribute("aria-label", "Runs and their items");
  const stops = [];
  const runs = rowList(left, model, "runs", "runs", send);
  const items = rowList(left, model, "items", "items", send);
  items.section.querySelector("header").after(make("div", left, { className: "vp-scope-place" }));
  stops.push(runs.stop, items.stop, scopes(items.section.querySelector(".vp-scope-place"), model, send));

  const regions = [region(right, model, "head", "")];
  const panelId = `vp-step-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  stops.push(timelineOf(right, model, panelId, send));
  const columns = make("div", right, { className: "vp-columns" });
  const chosen = section(columns, "Votes and evidence", "vp-item-pane");
  regions.push(region(chosen, model, "item", ""));
  const step = make("div", columns, { className: "vp-step", id: panelId, tabIndex: -1 });
  step.setAttribute("role", "tabpanel");
  step.setAttribute("aria-label", "The chosen step");
  regions.push(region(section(step, "", ""), model, "changed", ""));
  regions.push(region(section(step, "", ""), model, "calls", ""));
  const rules = section(right, "Under other rules", "vp-replay");
  stops.push(rulesForm(rules, model, send));
  regions.push(region(rules, model, "replayed", ""));
  const others = make("details", rules, { className: "vp-others" });
  others.dataset.fold = "others";
  make("summary", others, { textContent: "What presets of the rules would make of these votes" });
  regions.push(region(others, model, "others", ""));
  const status = make("div", root, { className: "vp-hidden" });
  status.setAttribute("role", "status");
  const say = () => { status.textContent = model.get("status"); };
  model.on("change:status", say);

  root.addEventListener("toggle", (event) => {
    if (!event.target.open) return;
    if (event.target.dataset.call) send({ do: "call", call: event.target.dataset.call });
    if (event.target.dataset.ask) send({ do: event.target.dataset.ask });
    if (event.target === others) send({ do: "others" });
  }, true);
  const stepped = () => { if (others.open && !model.get("others")) send({ do: "others" }); };
  model.on("change:others", stepped);
  const filled = (message) => {
    for (const slot of root.querySelectorAll("[data-slot]")) {
      if (slot.dataset.slot !== message.slot) continue;
      slot.innerHTML = message.html;
      for (const words of slot.querySelectorAll(".vp-words")) words.tabIndex = 0; // so that keys can scroll them
    }
  };
  model.on("msg:custom", filled);
  matrixKeys(root);
  root.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    items.search.focus();
  });
  return () => {
    for (const stop of [...stops, ...regions.map((drawn) => drawn.stop)]) stop();
    model.off("change:status", say);
    model.off("change:others", stepped);
    model.off("msg:custom", filled);
  };
}
export default { render };
