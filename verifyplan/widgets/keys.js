// Keys pressed within a widget are the widget's: JupyterLab, which listens on the document, would take arrows and letters.
function initialize() {
  if (window.verifyplanKeys) return;
  window.verifyplanKeys = true;
  document.body.addEventListener("keydown", (event) => {
    if (event.target.closest && event.target.closest(".vp-panel")) event.stopPropagation();
  });
}
function render({ el }) {
  el.hidden = true;
}
export default { initialize, render };
