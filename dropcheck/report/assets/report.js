"use strict";
(() => {
  const form = document.getElementById("filters");
  const status = document.getElementById("status");
  const offerCopies = (within) => {
    for (const button of within.querySelectorAll(".copy")) button.hidden = false;
  };

  // What is long stands in folds, each the markup of a sheaf. A sheaf is drawn when it comes near,
  // when it is asked for, or when there is time, so that the browser's own search finds it too.
  const folded = new Map();
  const parsed = (markup) => new DOMParser().parseFromString(markup, "text/html").body;
  const draw = (sheaf) => {
    if (!folded.has(sheaf)) return;
    const markup = folded.get(sheaf);
    const rows = sheaf.localName === "tbody";
    const holder = rows ? parsed(`<table><tbody>${markup}`).querySelector("tbody") : parsed(markup);
    offerCopies(holder);
    sheaf.append(...holder.childNodes);
    folded.delete(sheaf);
    near.unobserve(sheaf);
  };
  const drawAll = () => {
    for (const sheaf of folded.keys()) draw(sheaf);
  };
  const near = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) draw(one.target);
  }, {rootMargin: "100%"});
  const sheafOf = (name, markup, height) => {
    const sheaf = document.createElement(name);
    sheaf.className = "sheaf";
    sheaf.style.containIntrinsicHeight = `auto ${height}rem`;
    folded.set(sheaf, markup);
    near.observe(sheaf);
    return sheaf;
  };
  let total = null;
  for (const fold of document.querySelectorAll(".fold")) {
    const height = Number(fold.dataset.height);
    if (!("rows" in fold.dataset)) {
      fold.replaceWith(sheafOf("div", fold.textContent, height));
      continue;
    }
    const [head, ...rows] = fold.textContent.split(/(?=<tr role="row" class=)/);
    const table = parsed(head).firstChild;
    table.tBodies[0].remove();
    table.classList.add("many");
    for (let first = 0; first < rows.length; first += 100) {
      const some = rows.slice(first, first + 100);
      const body = sheafOf("tbody", some.join(""), height * some.length);
      body.setAttribute("role", "rowgroup");
      table.append(body);
    }
    fold.replaceWith(table);
    total = rows.length;
  }
  const whenIdle = window.requestIdleCallback ||
    ((work) => setTimeout(() => work({timeRemaining: () => 0}), 50));
  const drawOn = (deadline) => {
    for (const sheaf of folded.keys()) {
      draw(sheaf);
      if (deadline.timeRemaining() < 10) break;
    }
    if (folded.size) whenIdle(drawOn);
  };
  const reach = (hash) => {  // whether what a link leads to was folded
    let id = hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch {}  // a percent sign that stands for itself
    if (!id || document.getElementById(id)) return false;
    for (const [sheaf, markup] of folded) {
      if (markup.includes(` id="${id}"`)) {
        draw(sheaf);
        return true;
      }
    }
    return false;
  };
  const arrive = () => {
    if (reach(location.hash)) location.replace(location.hash);
  };

  const table = document.getElementById("cases");
  const bodies = Array.from(table.tBodies);
  const headers = Array.from(table.tHead.rows[0].cells);
  total = total === null ? bodies[0].rows.length : total;

  let page = null;
  const whole = () => {  // the rows, and the claims by their ids
    if (page) return page;
    drawAll();
    const rows = bodies.flatMap((body) => Array.from(body.rows));
    const claims = new Map(
      Array.from(document.querySelectorAll(".claim"), (one) => [one.dataset.claim, one]));
    page = {rows, claims};
    return page;
  };
  let texts = null;
  const words = () => {  // of each row, with those of its claim
    if (texts) return texts;
    const {rows, claims} = whole();
    const more = new Map(Array.from(claims, ([key, claim]) => [key,
      Array.from(claim.querySelectorAll(".searched"), (one) => one.textContent).join(" ")]));
    texts = new Map(rows.map((row) =>
      [row, `${row.textContent} ${more.get(row.dataset.claim) || ""}`.toLowerCase()]));
    return texts;
  };

  const fits = (row, wanted) =>
    (!wanted.verdict || row.dataset.verdict === wanted.verdict) &&
    (!wanted.result || row.dataset.result === wanted.result) &&
    (!wanted.document || row.dataset.documents.split(" ").includes(wanted.document)) &&
    (!wanted.tag || row.dataset.tags.split(" ").includes(wanted.tag)) &&
    wanted.words.every((word) => words().get(row).includes(word));

  const filter = () => {
    const wanted = Object.fromEntries(new FormData(form));
    wanted.words = (wanted.text || "").toLowerCase().split(/\s+/).filter(Boolean);
    let shown = total;
    if (page || wanted.words.length || wanted.verdict || wanted.result || wanted.document || wanted.tag) {
      shown = 0;
      const {rows, claims} = whole();
      const left = new Set();
      for (const row of rows) {
        row.hidden = !fits(row, wanted);
        if (!row.hidden) {
          shown += 1;
          left.add(row.dataset.claim);
        }
      }
      for (const [key, claim] of claims) claim.hidden = !left.has(key);
      hideEmpty();
    }
    status.textContent = shown
      ? `${shown} of ${total} cases shown`
      : "No case fits. Change or reset the filters.";
  };
  const hideEmpty = () => {  // a sheaf out of sight would keep its room
    for (const sheaf of document.querySelectorAll(".sheaf")) {
      sheaf.hidden = !sheaf.querySelector(":scope > :not([hidden])");
    }
  };

  const key = (row, column) => row.cells[column].dataset.key || "";
  const collator = new Intl.Collator(undefined, {numeric: true});
  const compare = (first, second, column, numeric) => {
    const a = key(first, column), b = key(second, column);
    if (!numeric) return collator.compare(a, b);
    return Number(a) - Number(b);
  };

  const sort = (column, descending) => {
    headers.forEach((one, index) => {
      if (index === column) one.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else one.removeAttribute("aria-sort");
    });
    const order = whole().rows.slice();
    if (column >= 0) {
      const numeric = headers[column].dataset.kind === "number";
      const known = order.filter((row) => key(row, column) !== "");
      const unknown = order.filter((row) => key(row, column) === "");
      known.sort((a, b) => (descending ? -1 : 1) * compare(a, b, column, numeric));
      order.splice(0, order.length, ...known, ...unknown);
    } else if (descending) {
      order.reverse();
    }
    const size = Math.ceil(order.length / bodies.length);
    bodies.forEach((body, place) => body.append(...order.slice(place * size, (place + 1) * size)));
    hideEmpty();
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

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) reach(link.hash);
  });
  window.addEventListener("hashchange", arrive);
  window.addEventListener("beforeprint", drawAll);

  offerCopies(document);
  form.hidden = false;
  filter();
  arrive();
  if (folded.size) whenIdle(drawOn);
})();
