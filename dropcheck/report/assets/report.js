"use strict";
(() => {
  const form = document.getElementById("filters");
  const status = document.getElementById("status");
  const claims = Array.from(document.querySelectorAll(".claim"), (claim) => ({
    claim, cases: Array.from(claim.querySelectorAll(".case"), (one) => ({one})),
  }));
  const total = claims.reduce((sum, {cases}) => sum + cases.length, 0);
  const read = (cases, claim) => {  // the words of each case, with those of its claim, once
    const about = claim.querySelector("summary").textContent + claim.querySelector("dl").textContent;
    for (const row of cases) row.text ??= `${about} ${row.one.textContent}`.toLowerCase();
  };
  const filter = () => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const result = form.elements.result.value;
    let shown = 0;
    for (const {claim, cases} of claims) {
      if (words.length) read(cases, claim);
      let left = 0;
      for (const {one, text} of cases) {
        one.hidden = Boolean(result && !one.classList.contains(result))
          || !words.every((word) => text.includes(word));
        left += !one.hidden;
      }
      claim.hidden = !left;
      if (left && (words.length || result)) claim.open = true;
      shown += left;
    }
    status.textContent = shown
      ? `${shown} of ${total} cases shown` : "No case fits. Change or reset the filters.";
  };
  form.addEventListener("input", filter);
  form.addEventListener("change", filter);  // not every browser sends the other for a choice
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  window.addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details")) one.open = true;
  });
  form.hidden = false;
  filter();
})();
