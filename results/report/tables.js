// Sorting and filters of every table of the class "sortable". Without this script the tables are plain.
(() => {
  'use strict';

  const kMostChoices = 12;

  const add = (parent, name, properties = {}) => parent.appendChild(Object.assign(document.createElement(name), properties));

  // Numbers before what is no number, and both before words; words as people order them.
  function compare(left, right) {
    const first = left.dataset.key, second = right.dataset.key;
    if (first !== undefined && second !== undefined) {
      const from = Number(first.replace('inf', 'Infinity')), to = Number(second.replace('inf', 'Infinity'));
      if (Number.isNaN(from) || Number.isNaN(to)) return Number.isNaN(from) - Number.isNaN(to);
      return from < to ? -1 : from > to ? 1 : 0;
    }
    if (first !== undefined || second !== undefined) return first !== undefined ? -1 : 1;
    const from = Number(left.textContent), to = Number(right.textContent);  // such as swept 1e-05 and 0.1
    if (Number.isFinite(from) && Number.isFinite(to)) return from - to;
    return left.textContent.localeCompare(right.textContent, 'en', {numeric: true});
  }

  function sort(table, column, direction) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const sign = direction === 'descending' ? -1 : 1;
    rows.sort((left, right) => sign * compare(left.cells[column], right.cells[column]));
    body.append(...rows);
    for (const cell of table.tHead.rows[0].cells) cell.removeAttribute('aria-sort');
    table.tHead.rows[0].cells[column].setAttribute('aria-sort', direction);
  }

  function makeSortable(table) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = cell.textContent;
      cell.replaceChildren(button);
      button.addEventListener('click', () => {
        sort(table, column, cell.getAttribute('aria-sort') === 'ascending' ? 'descending' : 'ascending');
      });
    });
  }

  // The different texts of a column; none where there are too few to choose from, or too many.
  function choices(table, column) {
    if (table.tHead.rows[0].cells[column].classList.contains('number')) return [];
    const texts = [...new Set([...table.tBodies[0].rows].map((row) => row.cells[column].textContent))];
    return texts.length >= 2 && texts.length <= kMostChoices ? texts : [];
  }

  function makeFilters(table) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 3) return;
    const controls = document.createElement('div');
    controls.className = 'controls';
    const search = add(add(controls, 'label', {textContent: 'Rows that hold'}), 'input', {type: 'search'});
    const selects = [...table.tHead.rows[0].cells].flatMap((cell, column) => {
      const texts = choices(table, column);
      if (texts.length === 0) return [];
      const select = add(add(controls, 'label', {textContent: cell.textContent}), 'select');
      add(select, 'option', {value: '', textContent: 'all'});
      for (const text of texts) add(select, 'option', {value: '=' + text, textContent: text});
      return [{column, select}];
    });
    const count = add(controls, 'output');
    const apply = () => {
      const wanted = search.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const fits = row.textContent.toLowerCase().includes(wanted) &&
          selects.every(({column, select}) => select.value === '' || '=' + row.cells[column].textContent === select.value);
        row.hidden = !fits;
        shown += fits;
      }
      count.textContent = `${shown} of ${rows.length} rows`;
    };
    controls.addEventListener('input', apply);
    apply();
    table.parentElement.before(controls);
  }

  for (const table of document.querySelectorAll('table.sortable')) {
    makeFilters(table);
    makeSortable(table);
  }
  document.documentElement.dataset.tables = 'ready';
})();
