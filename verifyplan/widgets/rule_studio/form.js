// Two settings of rules side by side, field by field: native lists, fields and boxes, each with a name of its own.
// Names of workers are set as text, never as markup.
const SIDES = ["left", "right"];

const make = (tag, parent, props = {}) => {
  const element = Object.assign(document.createElement(tag), props);
  parent.append(element);
  return element;
};
// Words with `code` between backticks, set as text.
const words = (parent, text) =>
  text.split("`").forEach((part, i) => make(i % 2 ? "code" : "span", parent, { textContent: part }));
const same = (value, other) => JSON.stringify(value) === JSON.stringify(other);
const list = (parent, options, name) => {
  const select = make("select", parent);
  select.setAttribute("aria-label", name);
  options.forEach((option, i) => make("option", select, { value: String(i), textContent: option.label }));
  return select;
};
const written = (parent, name) => {
  const input = make("input", parent, { type: "text", size: 8, autocomplete: "off", spellcheck: false });
  input.setAttribute("aria-label", name);
  return input;
};

// Each kind makes its inputs in a cell and returns them with `show(value)`; `send(value)` takes undefined for neutral.
const KINDS = {
  choice(cell, field, name, send) {
    const select = list(cell, field.options, name);
    select.addEventListener("change", () => send(Number(select.value) ? field.options[select.value].value : undefined));
    const show = (value) => {
      const known = value === undefined || field.options.some((option) => same(option.value, value));
      if (!known) field.options.push({ value, label: String(value) });
      for (const option of field.options.slice(select.length))
        make("option", select, { value: String(select.length), textContent: option.label });
      select.value = String(value === undefined ? 0 : field.options.findIndex((option) => same(option.value, value)));
    };
    return { inputs: [select], show };
  },
  number(cell, field, name, send, id) {
    const input = written(cell, name);
    const offered = make("datalist", cell, { id: `${id}-offered` });
    for (const value of field.suggested) make("option", offered, { value });
    input.setAttribute("list", offered.id);
    input.placeholder = field.neutral;
    input.addEventListener("change", () => send(input.value.trim() || undefined));
    return { inputs: [input], show: (value) => (input.value = value === undefined ? field.neutral : String(value)) };
  },
  workers(cell, field, name, send) {
    const rows = field.workers.map((worker) => {
      const row = make("label", make("div", cell));
      const box = make("input", row, { type: "checkbox" });
      box.setAttribute("aria-label", `${name}: ${worker}`);
      make("span", row, { textContent: worker });
      return box;
    });
    const chosen = () => {
      const named = field.workers.filter((_, i) => rows[i].checked);
      send(named.length === rows.length ? undefined : named);
    };
    for (const box of rows) box.addEventListener("change", chosen);
    const show = (value) => rows.forEach((box, i) => (box.checked = !value || value.includes(field.workers[i])));
    return { inputs: rows, show };
  },
  weights(cell, field, name, send) {
    let kept = {};
    const rows = field.workers.map((worker) => {
      const row = make("label", make("div", cell));
      const input = written(row, `${name}: ${worker}`);
      input.size = 4;
      input.placeholder = "1";
      make("span", row, { textContent: worker });
      input.addEventListener("change", () => {
        const weights = { ...kept };
        if (input.value.trim()) weights[worker] = input.value.trim();
        else delete weights[worker];
        send(Object.keys(weights).length ? weights : undefined);
      });
      return input;
    });
    const show = (value) => {
      kept = value || {};
      rows.forEach((input, i) => (input.value = kept[field.workers[i]] ?? ""));
    };
    return { inputs: rows, show };
  },
  stop(cell, field, name, send) {
    const kinds = [{ value: "round", parts: [] }, ...field.stops];
    const select = list(cell, kinds.map(({ value }) => ({ label: value })), name);
    const blocks = kinds.map(({ parts }) => {
      const block = make("div", cell);
      const inputs = parts.map((part) => {
        const row = make("label", make("div", block), { title: part.help });
        const input = written(row, `${part.label}, ${name}`);
        make("span", row, { textContent: part.label });
        input.value = part.start;
        return input;
      });
      return { block, inputs, parts };
    });
    const changed = () => {
      const { inputs, parts } = blocks[select.value];
      const value = {};
      parts.forEach((part, i) => {
        const text = inputs[i].value.trim();
        value[part.name] = part.whole && /^\d+$/.test(text) ? Number(text) : text;
      });
      send(parts.length ? value : undefined);
    };
    select.addEventListener("change", changed);
    for (const { inputs } of blocks) for (const input of inputs) input.addEventListener("change", changed);
    const show = (value) => {
      const known = value && typeof value === "object";
      const at = known ? kinds.findIndex(({ parts }) => parts.length && parts[0].name in value) : 0;
      select.value = String(Math.max(at, 0));
      blocks.forEach(({ block, inputs, parts }, i) => {
        block.hidden = i !== at || !parts.length;
        if (i === at) parts.forEach((part, j) => (inputs[j].value = String(value?.[part.name] ?? part.start)));
      });
    };
    return { inputs: [select, ...blocks.flatMap(({ inputs }) => inputs)], show };
  },
};

function render({ model, el }) {
  const own = `vp-rules-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  const form = make("div", el, { className: "vp-rules" });
  form.setAttribute("role", "group");
  form.setAttribute("aria-label", "Rules, left and right");
  const head = make("div", form, { className: "vp-rule vp-rules-head" });
  make("div", head, { textContent: "Two settings of the rules; what differs is marked ≠." });
  const names = Object.keys(model.get("presets"));
  const starts = SIDES.map((side) => {
    const cell = make("div", head);
    make("b", cell, { textContent: side === "left" ? "Left" : "Right" });
    const select = list(cell, [{ label: "changed" }, ...names.map((label) => ({ label }))], `Preset, ${side}`);
    select.addEventListener("change", () => Number(select.value) && set(side, model.get("presets")[names[select.value - 1]]));
    return select;
  });
  const set = (side, rules) => {
    model.set(side, rules);
    model.save_changes();
  };
  const groups = model.get("schema").map((group, g) => {
    const changed = group.fields.some(({ name }) => model.get("differing").includes(name));
    const details = make("details", form, { open: g < 2 || changed });
    const summary = make("summary", details);
    make("b", summary, { textContent: group.title });
    const count = make("span", summary);
    const rows = group.fields.map((field) => {
      const row = make("div", details, { className: "vp-rule" });
      const about = make("div", row);
      const title = make("div", about);
      const mark = make("span", title, { className: "vp-rule-mark", textContent: "≠ " });
      make("b", title, { textContent: field.label });
      const help = make("div", about, { className: "vp-rule-help", id: `${own}-${field.name}` });
      words(help, field.help);
      const why = make("div", about, { className: "vp-rule-why", id: `${own}-${field.name}-why` });
      const cells = SIDES.map((side) => {
        const cell = make("div", row, { className: "vp-rule-cell" });
        const send = (value) => {
          const rules = { ...model.get(side) };
          if (value === undefined) delete rules[field.name];
          else rules[field.name] = value;
          set(side, rules);
        };
        const id = `${own}-${field.name}-${side}`;
        const made = KINDS[field.kind](cell, field, `${field.label}, ${side}`, send, id);
        const problem = make("div", cell, { className: "vp-rule-problem", id: `${id}-problem` });
        for (const input of made.inputs) input.setAttribute("aria-describedby", `${help.id} ${why.id} ${problem.id}`);
        return { ...made, problem };
      });
      return { field, mark, why, row, cells };
    });
    return { count, rows };
  });

  const place = () => {
    const presets = model.get("preset");
    SIDES.forEach((side, i) => (starts[i].value = String(1 + names.indexOf(presets[side]))));
    const differing = new Set(model.get("differing"));
    const [reasons, problems] = [model.get("reasons"), model.get("problems")];
    for (const { count, rows } of groups) {
      let n = 0;
      for (const { field, mark, why, row, cells } of rows) {
        const differs = differing.has(field.name);
        n += differs;
        mark.hidden = !differs;
        row.classList.toggle("vp-rule-differs", differs);
        const off = SIDES.map((side) => reasons[side]?.[field.name] ?? "");
        why.textContent = off[0] === off[1] ? off[0] && `Cannot matter here: ${off[0]}.`
          : SIDES.map((side, i) => off[i] && `Cannot matter on the ${side}: ${off[i]}.`).filter(Boolean).join(" ");
        SIDES.forEach((side, i) => {
          cells[i].show(model.get(side)[field.name]);
          const problem = problems[side]?.[field.name] ?? "";
          cells[i].problem.textContent = problem;
          for (const input of cells[i].inputs) {
            input.disabled = Boolean(off[i]);
            if (problem) input.setAttribute("aria-invalid", "true");
            else input.removeAttribute("aria-invalid");
          }
        });
      }
      count.textContent = n ? ` (≠ ${n} ${n === 1 ? "differs" : "differ"})` : "";
    }
  };
  const events = "change:left change:right change:preset change:differing change:reasons change:problems";
  model.on(events, place);
  place();
  return () => model.off(events, place);
}
export default { render };
