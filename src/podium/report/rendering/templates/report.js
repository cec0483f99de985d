"use strict";
(() => {
  const charts = [...document.querySelectorAll("[data-chart]")];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Text and grid take the page's colours, which depend on light, dark and print.
  const colours = () => {
    const ink = colour("--ink"), line = colour("--line"), quiet = colour("--quiet");
    const axis = { color: quiet, gridcolor: line, zerolinecolor: line, linecolor: line };
    const spread = (name) => Object.fromEntries(Object.entries(axis).map(([key, value]) => [`${name}.${key}`, value]));
    return {
      "font.color": ink,
      "font.family": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
      "hoverlabel.bgcolor": colour("--sheet"),
      "hoverlabel.bordercolor": line,
      "hoverlabel.font.color": ink,
      ...spread("xaxis"),
      ...spread("yaxis"),
    };
  };

  const set = (layout, changes) => {
    for (const [path, value] of Object.entries(changes)) {
      const names = path.split(".");
      const last = names.pop();
      names.reduce((at, name) => (at[name] ??= {}), layout)[last] = value;
    }
    return layout;
  };

  const config = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: false };
  for (const chart of charts) {
    const figure = JSON.parse(document.getElementById(`data-${chart.dataset.chart}`).textContent);
    Plotly.newPlot(chart, figure.data, set(figure.layout, colours()), config);
  }

  const repaint = (extra = {}) => charts.forEach((chart) => Plotly.relayout(chart, { ...colours(), ...extra }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => repaint());
  const PAPER_PX = 700; // what A4 and Letter have between their margins
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((part) => (part.open = true));
    repaint({ width: PAPER_PX, autosize: false });
  });
  addEventListener("afterprint", () => repaint({ width: null, autosize: true }));
})();
