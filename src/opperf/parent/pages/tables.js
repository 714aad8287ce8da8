"use strict";
// Tables sort by the buttons in their headers and filter by words, without a reload. Without this script they are whole.
// What a cell sorts by is its `data-key`, its `title` (which holds the exact number) or its text. A row of the class
// `more` belongs to the row above it, and goes where that goes.
{
  // No filter for fewer rows than one sees at a glance.
  const few = 9;
  const texts = new Intl.Collator(undefined, {numeric: true, sensitivity: "base"});
  const element = (tag, facts) => Object.assign(document.createElement(tag), facts);

  function key(row, place) {
    const cell = row.cells[place];
    return cell ? cell.dataset.key ?? (cell.title || cell.textContent.trim()) : "";
  }

  // Numbers stand before texts.
  function order(one, other) {
    const [a, b] = [Number(one), Number(other)];
    if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b) || texts.compare(one, other);
    return a - b;
  }

  // The rows of a table, each with those that belong to it.
  function groups(table) {
    const rows = [];
    for (const row of table.tBodies[0].rows)
      if (row.classList.contains("more") && rows.length) rows.at(-1).push(row);
      else rows.push([row]);
    return rows;
  }

  function sorted(rows, place, down) {
    return rows.map(group => [key(group[0], place), group]).sort(([one], [other]) => {
      if (one === "" || other === "") return (one === "") - (other === "");  // what is not known stands last
      return down ? order(other, one) : order(one, other);
    }).map(([, group]) => group);
  }

  // Numbers sort from the largest, texts from the first; the third press restores the order of the report.
  function addSort(table, rows) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const button = head.querySelector("button") ?? element("button", {type: "button"});
      if (!button.isConnected) {
        button.append(...head.childNodes);
        head.append(button);
      }
      // On paper a head is repeated on each page, but no button in it: the style writes its text instead.
      head.dataset.text = button.textContent;
      button.addEventListener("click", () => {
        const keys = rows.map(group => key(group[0], place)).filter(Boolean);
        const ways = ["ascending", "descending"];
        if (keys.length && keys.every(text => !isNaN(text))) ways.reverse();
        const way = ways[ways.indexOf(head.getAttribute("aria-sort")) + 1];
        for (const one of heads) one.removeAttribute("aria-sort");
        if (way) head.setAttribute("aria-sort", way);
        const now = way ? sorted(rows, place, way === "descending") : rows;
        table.tBodies[0].append(...now.flat());
      });
    });
  }

  function addFilter(frame, rows, name) {
    const input = element("input", {type: "search", autocomplete: "off", spellcheck: false});
    const label = element("label", {className: "filter"});
    const count = element("output");
    input.setAttribute("aria-label", `Filter ${name}`.trim());
    label.append("Filter ", input, " ", count);
    frame.before(label);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let seen = 0;
      for (const group of rows) {
        const text = group.map(row => (row.querySelector("summary") ?? row).textContent).join(" ").toLowerCase();
        const hidden = !words.every(word => text.includes(word));
        for (const row of group) row.hidden = hidden;
        seen += !hidden;
      }
      count.textContent = words.length ? `${seen} of ${rows.length} rows` : "";
    });
  }

  // A table wider than its place says so, and is scrolled by keys.
  function addNote(frame) {
    const note = element("p", {className: "sideways", textContent: "This table goes on to the right \u2192", hidden: true});
    frame.before(note);
    new ResizeObserver(() => {
      const isWide = frame.scrollWidth > frame.clientWidth + 1;
      note.hidden = !isWide;
      frame.toggleAttribute("tabindex", false);
      if (isWide) frame.tabIndex = 0;
    }).observe(frame);
  }

  for (const table of document.querySelectorAll("table")) {
    if (!table.tHead || !table.tBodies.length) continue;
    const rows = groups(table), frame = table.closest(".scroll");
    if (rows.length > 1) addSort(table, rows);
    if (rows.length >= few && !("unfiltered" in table.dataset))
      addFilter(frame ?? table, rows, table.caption?.textContent.trim() ?? "");
    if (frame) addNote(frame);
  }
}
