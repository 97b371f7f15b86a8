// Runs in the page: drives JupyterLab's own commands, and tells what changed last and what is shown to have gone wrong.
(() => {
  const watch = { changed: performance.now() };
  new MutationObserver(() => { watch.changed = performance.now(); }).observe(document.documentElement, {
    childList: true, subtree: true, characterData: true, attributes: true,
  });
  const panel = () => window.jupyterapp?.shell.currentWidget;
  const command = (name, args) => window.jupyterapp.commands.execute(name, args);

  watch.open = (path) => command("docmanager:open", { path }).then(() => null);
  watch.ready = () => {
    if (document.body.dataset.voila) return document.querySelector("#rendered_cells").offsetParent !== null;
    const session = panel()?.sessionContext;
    return !!session?.isReady && session.session?.kernel?.status === "idle" && !!panel().content.widgets?.length;
  };
  watch.close = async () => {
    const last = panel();
    if (!last?.sessionContext) return;
    await last.sessionContext.shutdown();
    last.dispose(); // to close it would ask whether to save
    await new Promise((later) => setTimeout(later, 50)); // what its end brings about is told before the next one opens
  };
  watch.loading = () => [...document.querySelectorAll(".jp-OutputArea-output")]
    .filter((area) => area.textContent.includes("Loading widget...")).map(() => "the model of a widget");
  // whether from now on nothing changed for so long, told as soon as that is known, and what is loaded even then
  watch.rest = (quiet, seconds) => new Promise((tell) => {
    const end = performance.now() + 1000 * seconds;
    watch.changed = performance.now();
    const look = () => {
      const left = watch.changed + 1000 * quiet - performance.now();
      if (left > 0 && performance.now() < end) setTimeout(look, left);
      else tell([left <= 0, watch.loading()]);
    };
    look();
  });
  watch.runAll = (seconds) => Promise.race([
    command("notebook:run-all-cells"),
    new Promise((_, late) => setTimeout(() => late(new Error(`cells still run after ${seconds} s`)), seconds * 1000)),
  ]).then(() => null);
  watch.useTheme = async (theme) => {
    if (document.body.dataset.jpThemeName !== theme) await command("apputils:change-theme", { theme });
    while (document.body.dataset.jpThemeName !== theme) await new Promise(requestAnimationFrame);
  };
  watch.height = () => {
    const inner = document.querySelector(".jp-WindowedPanel-outer, #rendered_cells");
    return inner.scrollHeight + inner.getBoundingClientRect().top + 60;
  };

  const FAILED = new RegExp(
    "^(Java[sS]cript Error:|Error loading script:|Error displaying (widget|output)|Error rendering|Error creating widget"
    + "|Failed to load model class|\\[Open Browser Console|There was an error when executing cell)"
  );
  const ownText = (element) => [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join("");
  const failures = (area) => [area, ...area.querySelectorAll("*")].flatMap((element) => {
    if (element.tagName === "PRE" && /Traceback \(most recent call last\)/.test(element.textContent))
      return [`traceback: ${element.textContent.trim().split("\n").pop().slice(0, 300)}`];
    const text = ownText(element).trim();
    return FAILED.test(text) ? [`page: ${text.slice(0, 300)}`] : [];
  });
  // a chart of width "container" where the container has none
  const flat = (area) => [...area.querySelectorAll("svg.marks, canvas.marks")].flatMap((chart) => {
    const { width, height } = chart.getBoundingClientRect();
    const shown = chart.parentElement.offsetParent !== null;
    return shown && (width < 2 || height < 2) ? [`chart: drawn ${width} x ${height}`] : [];
  });
  watch.errors = () => {
    const areas = [...document.querySelectorAll(".jp-OutputArea-output")];
    return [...new Set(areas.flatMap((area) => [...failures(area), ...flat(area)]))];
  };
  window.verifyplanWatch = watch;
})();
