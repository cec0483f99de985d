"use strict";
const field = document.getElementById("filter");
if (field) {
  const rows = [...document.querySelectorAll("table.entries tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, n) => {
      row.hidden = !words.every((word) => texts[n].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    document.getElementById("shown").textContent = words.length ? `${shown} of ${rows.length} entries` : "";
  });
}
