"use strict";
// What charts tell where one points, as soon as one does, by touch and by arrow keys as well. Without this script the
// browser tells it after a while, and a row that opens has it in words.
{
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);
  for (const title of document.querySelectorAll(".chart title")) {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }

  function show(place) {
    tip.hidden = !place;
    if (!place) return;
    tip.textContent = place.dataset.tip;
    const box = place.getBoundingClientRect();
    const left = Math.min(box.left + box.width / 2, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${scrollX + Math.max(left, 4)}px`;
    tip.style.top = `${scrollY + box.bottom + 6}px`;
  }

  for (const chart of document.querySelectorAll(".chart")) {
    const places = [...chart.querySelectorAll("[data-tip]")];
    chart.addEventListener("pointerover", event => show(event.target.closest("[data-tip]")));
    chart.addEventListener("pointerleave", () => show(null));
    const row = chart.closest("summary");
    if (row) {
      row.addEventListener("focus", () => chart.checkVisibility() && row.matches(":focus-visible") && show(places.at(-1)));
      row.addEventListener("blur", () => show(null));
      row.addEventListener("click", () => show(null));
      continue;
    }
    let current = -1;
    chart.addEventListener("blur", () => show(null));
    if (places.length) chart.tabIndex = 0;
    chart.addEventListener("keydown", event => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (!step) return;
      event.preventDefault();
      current = Math.min(Math.max(current + step, 0), places.length - 1);
      show(places[current]);
    });
  }
}
