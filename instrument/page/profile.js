// The profile of a run of the model that the passes made, as `baton-run
// --profile=json` writes it: steps and nodes by the milliseconds that they lose
// against the machine's limit.

const MOST_ROWS = 200;

const lostOf = (row) => row.us - row.limit_us;

function profileTable(id, title, rows, nameOf) {
  const sorted = rows.slice().sort((a, b) => lostOf(b) - lostOf(a));
  const cell = (text) => make('td', {class: 'number'}, text);
  const heads = ['ms lost', 'ms', 'of the limit'].map(
      (text) => make('th', {scope: 'col', class: 'number'}, text));
  const body = sorted.slice(0, MOST_ROWS)
                   .map(
                       (row) => make(
                           'tr', {}, cell((lostOf(row) / 1e3).toFixed(3)),
                           cell((row.us / 1e3).toFixed(3)),
                           cell(`${Math.round(100 * row.share)} %`),
                           make('td', {}, bdi(nameOf(row)))));
  return [
    make('h3', {}, title),
    make(
        'table', {id},
        make(
            'thead', {},
            make('tr', {}, ...heads, make('th', {scope: 'col'}, 'what'))),
        make('tbody', {}, ...body)),
    sorted.length > MOST_ROWS ?
        make('p', {class: 'empty'}, `and ${sorted.length - MOST_ROWS} more`) :
        null,
  ];
}

// Without a profile the page has no tab for it.
function showProfile(profile) {
  if (profile === null) return;
  $('tab-profile').hidden = false;
  const steps = profile.calls;
  const total = steps.reduce((sum, step) => sum + step.us, 0);
  const limit = steps.reduce((sum, step) => sum + step.limit_us, 0);
  // A node in the step of another one has no time of its own.
  const nodes = profile.nodes.filter((node) => node.in === undefined);
  const elements = [
    make(
        'p', {},
        `${steps.length} steps, ${(total / 1e3).toFixed(3)} ms, of which ${
            (limit / 1e3).toFixed(3)} ms is the machine's limit.`),
    ...profileTable(
        'profile-nodes', 'Nodes of the model', nodes, (node) => node.name),
    ...profileTable(
        'profile-steps', 'Steps of the plan', steps,
        (step) => step.nodes.length === 0 ?
            step.kernel :
            `${step.kernel} of ${step.nodes.join(', ')}`),
  ];
  $('profile-panel').append(...elements.filter((element) => element !== null));
}
