// The steps of a run as tabs of one panel: arrow keys, Home and End step; marks beneath say how many calls a step had.
const MAX_MARKS = 12;

const timelineOf = (parent, model, panelId, send) => {
  const list = make("div", parent, { className: "vp-timeline" });
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Timeline: steps of the run");
  let tabs = [];
  const go = (step) => {
    const next = Math.min(Math.max(step, 0), tabs.length - 1);
    tabs[next].focus();
    send({ do: "step", step: next });
  };
  const draw = () => {
    list.replaceChildren();
    let group, name;
    tabs = model.get("steps").map((step, i) => {
      if (!group || step.group !== name) {
        name = step.group;
        group = make("div", list, { className: "vp-timeline-group" });
        group.setAttribute("role", "presentation");
        if (name) make("span", group, { className: "vp-small", textContent: name }).setAttribute("aria-hidden", "true");
        group = make("div", group, { className: "vp-timeline-steps" });
        group.setAttribute("role", "presentation");
      }
      const tab = make("button", group, { type: "button", className: "vp-timeline-step", title: step.title });
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-label", step.title);
      tab.setAttribute("aria-controls", panelId);
      make("span", tab, { textContent: step.mark });
      const marks = make("span", tab, { className: "vp-timeline-calls" });
      marks.setAttribute("aria-hidden", "true");
      const shown = Math.min(step.calls, MAX_MARKS), failed = Math.min(step.failed, shown);
      for (let n = 0; n < shown; n++) make("i", marks, { className: n < failed ? "vp-failed" : "" });
      if (step.calls > shown) make("span", marks, { textContent: `+${step.calls - shown}` });
      tab.addEventListener("click", () => go(i));
      return tab;
    });
    mark();
  };
  const mark = () =>
    tabs.forEach((tab, i) => {
      const chosen = i === model.get("step");
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    });
  list.addEventListener("keydown", (event) => {
    const step = tabs.indexOf(document.activeElement), last = tabs.length - 1; // the model's follows when Python has answered
    const next = { ArrowRight: step + 1, ArrowDown: step + 1, ArrowLeft: step - 1, ArrowUp: step - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    go(next);
  });
  model.on("change:steps", draw);
  model.on("change:step", mark);
  draw();
  return () => { model.off("change:steps", draw); model.off("change:step", mark); };
};
