// What charts tell where one points, as soon as one does, by touch and by arrow keys as well; "/" goes to the search.
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
  let current = -1;
  chart.addEventListener("pointerover", event => show(event.target.closest("[data-tip]")));
  chart.addEventListener("pointerleave", () => show(null));
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
// A day that is typed changes with every digit: Enter, or the button, shows it.
for (const form of document.querySelectorAll(".choices")) form.addEventListener("change", event => {
  if (event.target.matches("select")) form.submit();
});
// A URL says what is chosen, and nothing of what is not.
for (const form of document.forms) form.addEventListener("formdata", event => {
  for (const [name, value] of [...event.formData]) if (!value) event.formData.delete(name);
});
document.addEventListener("keydown", event => {
  if (event.key !== "/" || event.target.matches("input, select, textarea")) return;
  event.preventDefault();
  document.querySelector("input[type=search]").focus();
});
// A command can be taken along without marking it.
for (const code of document.querySelectorAll(".opperf code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${code.textContent}`);
  button.addEventListener("click", async () => {
    getSelection().selectAllChildren(code);
    // Without TLS a browser gives the clipboard to nothing but what is marked.
    const done = navigator.clipboard ? await navigator.clipboard.writeText(code.textContent).then(() => true, () => false)
      : document.execCommand("copy");
    button.textContent = done ? "Copied" : "Press Ctrl+C";
  });
  code.after(button);
}
