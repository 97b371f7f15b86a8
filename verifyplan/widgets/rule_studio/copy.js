// A text to copy: lines that can be selected by keys, and a button that puts them on the clipboard.
function render({ model, el }) {
  const box = document.createElement("div");
  box.className = "vp-copy";
  const [head, name, button, said, text] = ["div", "b", "button", "span", "pre"].map((tag) => document.createElement(tag));
  button.type = "button";
  button.className = "vp-button";
  said.setAttribute("role", "status");
  text.tabIndex = 0; // so that keys can scroll it
  text.setAttribute("role", "region");
  head.append(name, button, said);
  box.append(head, text);
  el.append(box);
  const copied = async () => {
    try {
      await navigator.clipboard.writeText(model.get("text"));
      said.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(text); // where the page may not write to the clipboard
      said.textContent = "Selected: copy it by Ctrl+C.";
    }
  };
  button.addEventListener("click", copied);
  const show = () => {
    name.textContent = model.get("label");
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy: ${model.get("label")}`);
    text.setAttribute("aria-label", model.get("label"));
    text.textContent = model.get("text");
    said.textContent = "";
  };
  model.on("change:text change:label", show);
  show();
  return () => model.off("change:text change:label", show);
}
export default { render };
