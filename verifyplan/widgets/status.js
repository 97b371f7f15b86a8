// One line that a screen reader says when it changes; the element stays, only its text is replaced.
export default {
  render({ model, el }) {
    const line = document.createElement("div");
    line.setAttribute("role", "status");
    line.setAttribute("aria-live", "polite");
    line.style.cssText =
      "font: 600 13px/1.5 var(--jp-ui-font-family, sans-serif); color: var(--jp-content-font-color1, #1f2328);" +
      "overflow-wrap: anywhere; border-left: 4px solid var(--jp-brand-color1, #0072b2); padding: 2px 10px";
    el.append(line);
    const show = () => { line.textContent = model.get("text"); };
    model.on("change:text", show);
    show();
  },
};
