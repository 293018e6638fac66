"use strict";
(() => {
  const spots = Array.from(document.querySelectorAll(".spot"));
  const open = (spot) => spot.matches(":hover") || spot.contains(document.activeElement);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const spot of spots) if (open(spot)) spot.classList.add("closed");
  });
  const reset = (event) => event.currentTarget.classList.remove("closed");
  for (const spot of spots) {
    spot.addEventListener("mouseleave", reset);
    spot.addEventListener("focusout", reset);
  }
})();
