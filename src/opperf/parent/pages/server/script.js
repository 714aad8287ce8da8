// What all pages of the server have: "/" goes to the search, a choice shows its page, a command can be taken.
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
