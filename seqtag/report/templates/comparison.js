"use strict";
(() => {
  const numeric = /^-?(\d|\.\d)[\d.]*(e[+-]?\d+)?$/i;

  // Cells without a value come last in either direction; equal ones keep their order.
  function sort(table, column, descending) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, key: row.cells[column].dataset.order }));
    const filled = rows.filter(({ key }) => key !== undefined && key !== "");
    const numbers = filled.every(({ key }) => numeric.test(key));
    const compare = numbers
      ? (a, b) => Number(a.key) - Number(b.key)
      : (a, b) => a.key.localeCompare(b.key, undefined, { numeric: true });
    filled.sort((a, b) => (descending ? compare(b, a) : compare(a, b)));
    const empty = rows.filter((entry) => !filled.includes(entry));
    body.append(...[...filled, ...empty].map(({ row }) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table, column, descending);
      });
    });
  }

  // Paper cannot be unfolded.
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = Array.from(document.querySelectorAll("details:not([open])"));
    folded.forEach((part) => { part.open = true; });
  });
  window.addEventListener("afterprint", () => {
    folded.forEach((part) => { part.open = false; });
  });
})();
