// The charts: what is drawn follows the controls, which can be set by the address: #x=epsilon&y=loss&panel=1.
(() => {
  'use strict';

  const holder = document.getElementById('curve-data');
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const kDashes = [[], [9, 5], [2, 4], [9, 4, 2, 4]];
  // As gnuplot has them: filled disc, square, triangle up, diamond, triangle down, then empty ones.
  const kMarks = [['circle', 0, true], ['rect', 0, true], ['triangle', 0, true], ['rectRot', 0, true],
    ['triangle', 180, true], ['circle', 0, false], ['rect', 0, false], ['triangle', 0, false]];
  const kMostAtFirst = 10;
  const kLatest = 2;  // of the significant digits of a spread

  // What algorithms observe of themselves is drawn as measures are.
  const observed = new Set(data.rows.flatMap(({series}) => Object.keys(series.positions.observed ?? {})));
  [...observed].sort().forEach((name) => {
    const index = data.measures.push({name, heading: name, share: false}) - 1;
    for (const {series: {positions}} of data.rows) {
      if (positions.observed?.[name]) positions.y[index] = positions.observed[name];
    }
  });

  const byId = (id) => document.getElementById(id);
  const add = (parent, name, properties = {}) => parent.appendChild(Object.assign(document.createElement(name), properties));
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Lists are arrays, or lines that are told by their first number and their step.
  const decoded = (list) => Array.isArray(list)
    ? list : Array.from({length: list.count}, (_, i) => list.from + i * list.step);

  const state = {x: 0, y: 0, panel: 0, logX: false, logY: false};
  const hidden = new Set();
  let chart = null;
  let points = [];  // of each curve that is shown
  let cursor = null;

  const has = (kind, index) => data.rows.some((row) => row.series.positions[kind][index] !== undefined);
  const axes = data.axes.map((axis, index) => ({...axis, index})).filter(({index}) => has('x', index));
  const measures = data.measures.map((measure, index) => ({...measure, index})).filter(({index}) => has('y', index));
  if (axes.length === 0 || measures.length === 0) return;
  state.x = axes[0].index;
  state.y = measures[0].index;

  const share = () => data.measures[state.y].share;
  const format = (number, digits = 5) => Number(number.toPrecision(digits)).toLocaleString('en', {maximumSignificantDigits: digits, useGrouping: number >= 1e5});
  // As tables have it: halves away from zero, also where binary is a little below them.
  const percent = (number) => {
    const steps = Math.abs(number) * 100, isHalf = Math.abs(steps - Math.floor(steps) - 0.5) < 1e-5;
    return (isHalf ? Math.sign(number) * Math.ceil(steps) / 100 : number).toFixed(2);
  };
  const value = (point) => (share() ? percent(point.y) : format(point.y, 4)) +
    (point.std === null ? '' : ' ± ' + (share() ? percent(point.std) : format(point.std, kLatest)));

  function look(row) {
    const colour = data.colours[row.look % data.colours.length];
    return {
      colour: colour === '#000000' ? variable('--text') : colour,
      dash: kDashes[row.look % data.dashes],
      mark: kMarks[row.look % data.marks],
    };
  }

  function pointsOf(row) {
    const {lists, positions} = row.series, x = positions.x[state.x], y = positions.y[state.y];
    if (x === undefined || y === undefined) return [];
    const [rounds, over, mean] = [positions.rounds, x, y.mean].map((position) => decoded(lists[position]));
    const std = y.std === undefined ? null : decoded(lists[y.std]);
    return rounds.map((round, i) => ({round, x: over[i], y: mean[i], std: std ? std[i] : null}))
      .filter((point) => point.x !== null && point.y !== null && (!state.logX || point.x > 0) && (!state.logY || point.y > 0));
  }

  const shownRows = () => data.panels[state.panel].rows.map((index) => data.rows[index]).filter((row) => !hidden.has(row.name));

  // The band of a curve is two lines without a stroke and what lies between them; of a point, a line between the two.
  function bandOf(row, curve) {
    if (!curve.some((point) => point.std !== null)) return [];
    const edge = (sign) => ({
      band: true, pointRadius: 0, pointHoverRadius: 0, borderWidth: 0, order: 2,
      data: curve.map((point) => {
        const bound = point.y + sign * point.std;
        // As far below on a logarithmic axis as the upper edge is above.
        return {x: point.x, y: state.logY && bound <= 0 ? point.y * point.y / (point.y + point.std) : bound};
      }),
    });
    const [low, high] = [edge(-1), edge(1)], {colour} = look(row);
    if (curve.length === 1) return [{...low, data: [...low.data, ...high.data], borderColor: colour, borderWidth: 2.5}];
    return [{...low, fill: false}, {...high, fill: '-1', backgroundColor: colour + '2e'}];
  }

  function lineOf(row, curve) {
    const {colour, dash, mark} = look(row);
    const every = Math.max(1, Math.floor(curve.length / data.marksOfCurve));
    return {
      label: row.name, data: curve, borderColor: colour, borderDash: dash, borderWidth: 2.5, order: 1,
      backgroundColor: colour, pointStyle: mark[0], pointRotation: mark[1],
      pointBackgroundColor: mark[2] ? colour : variable('--page'), pointBorderColor: colour, pointBorderWidth: 1.5,
      pointRadius: curve.map((_, i) => (i + 1) % every === 0 ? 4.5 : 0), pointHoverRadius: 6, pointHitRadius: 8,
    };
  }

  function scale(title, logarithmic, isWhole, extra = {}) {
    return {
      type: logarithmic ? 'logarithmic' : 'linear',
      title: {display: true, text: title, color: variable('--text')},
      ticks: {color: variable('--text'), ...(isWhole ? {precision: 0} : {})}, grid: {color: variable('--line'), borderColor: variable('--text')}, ...extra,
    };
  }

  const describe = (name, point) =>
    `${name}, round ${point.round}: ${data.measures[state.y].heading} ${value(point)}, ${data.axes[state.x].heading} ${format(point.x)}`;

  function drawChart(rows, curves) {
    const datasets = [];
    curves.forEach((curve, i) => datasets.push(...bandOf(rows[i], curve)));
    curves.forEach((curve, i) => datasets.push(lineOf(rows[i], curve)));
    const bands = datasets.length - curves.length;
    const all = curves.flat();
    // Bands may leave what a percentage can be.
    const limits = share() && !state.logY ? {
      suggestedMin: Math.max(0, Math.min(...all.map((point) => point.y - (point.std ?? 0)))), min: undefined,
      max: Math.max(...all.map((point) => point.y + (point.std ?? 0))) > 100 ? 100 : undefined,
    } : {};
    if (share() && !state.logY && all.some((point) => point.y < (point.std ?? 0))) limits.min = 0;
    const config = {
      type: 'line',
      data: {datasets},
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
        interaction: {mode: 'nearest', intersect: false},
        scales: {
          x: scale(data.axes[state.x].heading, state.logX, all.every((point) => Number.isInteger(point.x))),
          y: scale(data.measures[state.y].heading, state.logY, false, limits),
        },
        plugins: {
          legend: {display: false},
          filler: {drawTime: 'beforeDatasetsDraw'},
          tooltip: {
            filter: (item) => !item.dataset.band,
            callbacks: {
              title: (items) => items.length > 0 ? `${items[0].dataset.label}, round ${items[0].raw.round}` : '',
              label: (item) => [`${data.measures[state.y].heading}: ${value(item.raw)}`, `${data.axes[state.x].heading}: ${format(item.raw.x)}`],
            },
          },
        },
      },
    };
    if (chart) chart.destroy();
    chart = new Chart(byId('chart-canvas'), config);
    chart.firstLine = bands;
  }

  // The same as numbers, for those who do not see the chart.
  function drawEnds(rows, curves) {
    const table = document.createElement('table');
    add(table, 'caption', {textContent: 'Where the curves end'});
    const head = add(add(table, 'thead'), 'tr');
    for (const text of ['curve', 'seeds', 'points', 'last round', data.measures[state.y].heading, data.axes[state.x].heading]) {
      add(head, 'th', {scope: 'col', textContent: text, className: text === 'curve' ? '' : 'number'});
    }
    const body = add(table, 'tbody');
    rows.forEach((row, i) => {
      const last = curves[i][curves[i].length - 1];
      const line = add(body, 'tr');
      add(line, 'th', {scope: 'row', textContent: row.name});
      const cells = last ? [row.seeds, curves[i].length, last.round, value(last), format(last.x)] : [row.seeds, 0, '-', '-', '-'];
      for (const text of cells) add(line, 'td', {className: 'number', textContent: text});
    });
    byId('chart-ends').replaceChildren(table);
  }

  // What is chosen, which paper does not tell otherwise.
  function captionOf(title, drawn) {
    const all = data.panels[state.panel].rows.length;
    return [title, drawn < all ? `${drawn} of ${all} curves are drawn` : ''].filter(Boolean).join(': ');
  }

  function draw() {
    const rows = shownRows();
    const curves = rows.map(pointsOf);
    points = curves.map((curve, i) => ({name: rows[i].name, curve, dataset: i}));
    cursor = null;
    byId('chart-point').textContent = '';
    const title = data.panels[state.panel].title;
    byId('chart-canvas').setAttribute('aria-label',
      `${data.measures[state.y].heading} over ${data.axes[state.x].heading}${title ? ', ' + title : ''}: ${rows.map((row) => row.name).join(', ') || 'no curve'}. The table below holds the last points.`);
    byId('chart-caption').textContent = captionOf(title, rows.length);
    drawChart(rows, curves);
    drawEnds(rows, curves);
    document.documentElement.dataset.curves = curves.filter((curve) => curve.length > 0).length;
  }

  function moveCursor(key) {
    const shown = points.filter(({curve}) => curve.length > 0);
    if (shown.length === 0) return;
    if (!cursor) cursor = {line: 0, at: shown[0].curve.length - 1};
    else if (key === 'ArrowUp' || key === 'ArrowDown') {
      const round = shown[cursor.line].curve[cursor.at].round;
      cursor.line = (cursor.line + (key === 'ArrowDown' ? 1 : shown.length - 1)) % shown.length;
      const at = shown[cursor.line].curve.findIndex((point) => point.round >= round);
      cursor.at = at < 0 ? shown[cursor.line].curve.length - 1 : at;
    } else {
      const last = shown[cursor.line].curve.length - 1;
      cursor.at = key === 'Home' ? 0 : key === 'End' ? last : Math.min(last, Math.max(0, cursor.at + (key === 'ArrowRight' ? 1 : -1)));
    }
    const {name, curve, dataset} = shown[cursor.line];
    const active = [{datasetIndex: chart.firstLine + dataset, index: cursor.at}];
    const element = chart.getDatasetMeta(active[0].datasetIndex).data[cursor.at];
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, {x: element.x, y: element.y});
    chart.update();
    byId('chart-point').textContent = describe(name, curve[cursor.at]);
  }

  function svg(parent, name, attributes) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, text] of Object.entries(attributes)) element.setAttribute(key, text);
    return parent.appendChild(element);
  }

  // A piece of the curve with its mark, beside its name.
  function addSwatch(parent, row) {
    const {colour, dash, mark} = look(row);
    const picture = svg(parent, 'svg', {viewBox: '0 0 42 14', class: 'swatch', 'aria-hidden': 'true'});
    svg(picture, 'line', {x1: 0, y1: 7, x2: 42, y2: 7, stroke: colour, 'stroke-width': 2.5, 'stroke-dasharray': dash.join(' ') || 'none'});
    const shape = {circle: 'M21 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z', rect: 'M17 3h8v8h-8z', triangle: 'M21 2l5 9h-10z', rectRot: 'M21 1.5l5.5 5.5l-5.5 5.5l-5.5-5.5z'};
    svg(picture, 'path', {d: shape[mark[0]], fill: mark[2] ? colour : variable('--page'), stroke: colour, 'stroke-width': 1.5, transform: `rotate(${mark[1]} 21 7)`});
  }

  function drawLegend() {
    const box = byId('chart-curves');
    box.replaceChildren(box.firstElementChild);
    for (const index of data.panels[state.panel].rows) {
      const row = data.rows[index];
      const label = add(box, 'label');
      const input = add(label, 'input', {type: 'checkbox', checked: !hidden.has(row.name)});
      addSwatch(label, row);
      add(label, 'span', {textContent: row.name});
      input.addEventListener('change', () => {
        if (input.checked) hidden.delete(row.name); else hidden.add(row.name);
        draw();
      });
    }
  }

  const controls = {};
  function addSelect(key, title, options) {
    const select = add(add(byId('chart-controls'), 'label', {textContent: title}), 'select');
    for (const {index, heading} of options) add(select, 'option', {value: index, textContent: heading});
    select.addEventListener('change', () => change({[key]: Number(select.value)}));
    controls[key] = select;
  }
  function addCheck(key, title) {
    const label = add(byId('chart-controls'), 'label', {className: 'check'});
    const input = add(label, 'input', {type: 'checkbox'});
    add(label, 'span', {textContent: title});
    input.addEventListener('change', () => change({[key]: input.checked}));
    controls[key] = input;
  }

  function change(changes) {
    const panel = state.panel;
    Object.assign(state, changes);
    for (const key of ['x', 'y', 'panel']) if (controls[key]) controls[key].value = String(state[key]);
    for (const key of ['logX', 'logY']) controls[key].checked = state[key];
    if (state.panel !== panel) chooseRows();
    draw();
  }

  // Of many curves the first ones, and that of the best row.
  function chooseRows() {
    const {rows} = data.panels[state.panel];
    const first = [...new Set([...rows.filter((index) => data.rows[index].best), ...rows])].slice(0, kMostAtFirst);
    hidden.clear();
    rows.filter((index) => !first.includes(index)).forEach((index) => hidden.add(data.rows[index].name));
    drawLegend();
  }

  // What is not there is left as it is.
  function readAddress() {
    if (!location.hash.includes('=')) return;
    const asked = new URLSearchParams(location.hash.slice(1));
    const changes = {};
    const axis = axes.find(({name}) => name === asked.get('x')), measure = measures.find(({name}) => name === asked.get('y'));
    const panel = Number(asked.get('panel') ?? '') - 1;
    if (axis) changes.x = axis.index;
    if (measure) changes.y = measure.index;
    if (data.panels[panel]) changes.panel = panel;
    if (asked.has('log')) Object.assign(changes, {logX: asked.get('log').includes('x'), logY: asked.get('log').includes('y')});
    change(changes);
  }

  const recolour = () => { drawLegend(); draw(); };

  byId('chart').hidden = false;
  if (data.panels.length > 1) {
    addSelect('panel', 'Setting', data.panels.map(({title}, index) => ({index, heading: `${index + 1}: ${title}`})));
  }
  addSelect('x', 'Horizontal axis', axes);
  addSelect('y', 'Vertical axis', measures);
  addCheck('logX', 'logarithmic horizontal axis');
  addCheck('logY', 'logarithmic vertical axis');
  chooseRows();
  change({});
  readAddress();
  addEventListener('hashchange', readAddress);
  byId('chart-canvas').addEventListener('keydown', (event) => {
    if (!['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key)) return;
    event.preventDefault();
    moveCursor(event.key);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
  // Paper is white.
  matchMedia('print').addEventListener('change', recolour);
})();
