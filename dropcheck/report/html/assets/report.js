"use strict";
(() => {
  const form = document.getElementById("filters");
  const status = document.getElementById("status");
  const table = document.getElementById("cases");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const headers = Array.from(table.tHead.rows[0].cells);
  const claims = new Map(
    Array.from(document.querySelectorAll(".claim"), (one) => [one.dataset.claim, one]));

  const words = new Map(rows.map((row) => {
    const about = claims.get(row.dataset.claim);
    const more = about ? Array.from(about.querySelectorAll(".searched"), (one) => one.textContent) : [];
    return [row, [row.textContent, ...more].join(" ").toLowerCase()];
  }));

  const fits = (row, wanted) =>
    (!wanted.verdict || row.dataset.verdict === wanted.verdict) &&
    (!wanted.result || row.dataset.result === wanted.result) &&
    (!wanted.document || row.dataset.documents.split(" ").includes(wanted.document)) &&
    (!wanted.tag || row.dataset.tags.split(" ").includes(wanted.tag)) &&
    wanted.words.every((word) => words.get(row).includes(word));

  const filter = () => {
    const wanted = Object.fromEntries(new FormData(form));
    wanted.words = (wanted.text || "").toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    const left = new Set();
    for (const row of rows) {
      row.hidden = !fits(row, wanted);
      if (!row.hidden) {
        shown += 1;
        left.add(row.dataset.claim);
      }
    }
    for (const [key, claim] of claims) claim.hidden = !left.has(key);
    status.textContent = shown
      ? `${shown} of ${rows.length} cases shown`
      : "No case fits. Change or reset the filters.";
  };

  const key = (row, column) => row.cells[column].dataset.key || "";
  const compare = (first, second, column, numeric) => {
    const a = key(first, column), b = key(second, column);
    if (!numeric) return a.localeCompare(b, undefined, {numeric: true});
    return Number(a) - Number(b);
  };

  const sort = (column, descending) => {
    headers.forEach((one, index) => {
      if (index === column) one.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else one.removeAttribute("aria-sort");
    });
    const order = rows.slice();
    if (column >= 0) {
      const numeric = headers[column].dataset.kind === "number";
      const known = order.filter((row) => key(row, column) !== "");
      const unknown = order.filter((row) => key(row, column) === "");
      known.sort((a, b) => (descending ? -1 : 1) * compare(a, b, column, numeric));
      order.splice(0, order.length, ...known, ...unknown);
    } else if (descending) {
      order.reverse();
    }
    body.append(...order);
    form.elements.sort.value = String(column);
    form.elements.order.value = descending ? "descending" : "ascending";
  };

  const sorted = () => sort(Number(form.elements.sort.value), form.elements.order.value === "descending");

  headers.forEach((header, column) => {
    header.querySelector("button").addEventListener("click", () => {
      sort(column, header.getAttribute("aria-sort") === "ascending");
    });
  });
  const changed = (event) => {
    if (event.target.closest(".sorting")) sorted();
    else filter();
  };
  form.addEventListener("input", changed);  // as one types
  form.addEventListener("change", changed);  // not every browser sends the other for a choice
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => {
    filter();
    sorted();
  }));

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    const done = await copy(code.textContent);
    if (!done) getSelection().selectAllChildren(code);
    button.focus();
    button.textContent = done ? "Copied" : "Press Ctrl-C";
    status.textContent = done ? "Command copied" : "The command is selected: press Ctrl-C";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });

  for (const button of document.querySelectorAll(".copy")) button.hidden = false;
  form.hidden = false;
  filter();
})();
