// A figure's cells as a table, for people who cannot see it. The keyboard reaches its button first.

/** The button, which is seen only while it has the focus. `plot.table()` gives {label, head, rows}. */
function tableButton(plot) {
  return button("", () => openTable(plot.root, plot.data.words, plot.table()), { className: "as-table" });
}

/** Over the page, so that nothing moves; Escape closes it. `head`: of columns; `rows`: [name, ...cells]. */
function openTable(place, words, found) {
  const dialog = Object.assign(node("dialog", ""), { ariaLabel: found.label });
  const cell = (tag, text, scope) => Object.assign(node(tag, "", text), scope && { scope });
  const head = node("tr", "", node("td", ""), ...found.head.map((name) => cell("th", name, "col")));
  const rows = found.rows.map(([name, ...cells]) =>
    node("tr", "", cell("th", name, "row"), ...cells.map((text) => cell("td", text))),
  );
  const caption = node("caption", "", found.label);
  const table = node("table", "", caption, node("thead", "", head), node("tbody", "", ...rows));
  const region = { tabIndex: 0, role: "region", ariaLabel: found.label };
  const scrolled = Object.assign(node("div", "", table), region);
  const close = button(words.close, () => dialog.close());
  dialog.append(close, scrolled);
  dialog.onkeydown = (event) => event.stopPropagation(); // arrows scroll the table
  dialog.onclose = () => dialog.remove();
  place.append(dialog);
  dialog.showModal();
}
