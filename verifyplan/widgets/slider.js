// A native range input with a name, a readout and a step by keys: what screen readers and keyboards expect.
function render({ model, el }) {
  const box = document.createElement("label");
  box.className = "vp-slider";
  const name = document.createElement("span");
  const input = document.createElement("input");
  const readout = document.createElement("output");
  input.type = "range";
  box.append(name, input);
  el.append(box, readout);
  readout.className = "vp-slider-readout";

  const bounds = () => {
    name.textContent = model.get("label");
    for (const [attribute, trait] of [["min", "low"], ["max", "high"], ["step", "step"]])
      input.setAttribute(attribute, model.get(trait));
    input.disabled = model.get("disabled");
    place();
  };
  const place = () => {
    const text = model.get("text") || String(model.get("value"));
    if (Number(input.value) !== model.get("value")) input.value = model.get("value");
    input.setAttribute("aria-valuetext", text);
    readout.textContent = text;
  };
  const moved = () => {
    model.set("value", Number(input.value));
    model.save_changes();
  };
  input.addEventListener("input", moved);
  model.on("change:value change:text", place);
  model.on("change:label change:low change:high change:step change:disabled", bounds);
  bounds();
  return () => {
    model.off("change:value change:text", place);
    model.off("change:label change:low change:high change:step change:disabled", bounds);
  };
}
export default { render };
