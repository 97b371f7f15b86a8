// One line that a screen reader says when it changes; the element stays, only its text is replaced.
export default {
  render({ model, el }) {
    const line = document.createElement("div");
    line.setAttribute("role", "status");
    line.setAttribute("aria-live", "polite");
    line.className = "vp-status";
    el.append(line);
    const show = () => { line.textContent = model.get("text"); };
    model.on("change:text", show);
    show();
  },
};
