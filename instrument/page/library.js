// The library of the model that the passes made, as `baton-compile` reports it
// (NAME.report.json): bytes by node and by step, the plan with its layouts, and
// the files.

function sizeTable(id, title, heads, rows) {
  const cells = (row) => row.map(
      (value) => typeof value === 'number' ?
          make('td', {class: 'number'}, String(value)) :
          make('td', {}, bdi(value)));
  return [
    make('h3', {}, title),
    make(
        'table', {id},
        make(
            'thead', {},
            make(
                'tr', {},
                ...heads.map((head, i) => make('th', {
                                scope: 'col',
                                class: rows.length > 0 &&
                                        typeof rows[0][i] === 'number' ?
                                    'number' :
                                    '',
                              }, head)))),
        make(
            'tbody', {},
            ...rows.slice(0, MOST_ROWS)
                .map((row) => make('tr', {}, ...cells(row))))),
    rows.length > MOST_ROWS ?
        make('p', {class: 'empty'}, `and ${rows.length - MOST_ROWS} more`) :
        null,
  ];
}

const linesOf = (text) => text.split('\n').join('; ');

// `arena 128..256`: the places of a step's values.
function placeOf(value) {
  const index = value.index === undefined ? '' : ` ${value.index}`;
  return `${value.space}${index} ${value.offset}..${
      value.offset + value.bytes}`;
}

// Without a report the page has no tab for it.
function showLibrary(library) {
  if (library === null) return;
  $('tab-library').hidden = false;
  // Of the machine if the report has objects, else of the sources.
  const isCompiled = library.objects !== undefined;
  const code = isCompiled ? 'code' : 'source';
  const codeOf = (node) => isCompiled ? node.code : node.text;
  const nodes = library.nodes.slice().sort(
      (a, b) => codeOf(b) + b.weights - codeOf(a) - a.weights);
  const elements = [
    make(
        'p', {},
        `${library.steps.length} steps, ${library.weight_bytes} bytes of weights, ${
            library.arena_bytes} bytes of arena (lower bound ${
            library.arena_lower_bound}).`),
    ...sizeTable(
        'library-nodes', 'Nodes of the model',
        [code, 'weights', 'arena', 'what'],
        nodes.map(
            (node) =>
                [codeOf(node), node.weights, node.arena,
                 linesOf(node.origin)])),
    ...sizeTable(
        'library-steps', 'Steps of the plan', ['step', 'what', 'places', 'why'],
        library.steps.map(
            (step, i) =>
                [i, step.kernel, step.values.map(placeOf).join(', '),
                 step.reason])),
    ...sizeTable(
        'library-files', 'Files', ['bytes', 'of steps', 'what'],
        [...library.files, ...(library.objects || [])].map(
            (file) => [file.bytes, file.of_steps || 0, file.name])),
  ];
  $('library-panel').append(...elements.filter((element) => element !== null));
}
