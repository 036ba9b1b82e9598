import { element, keyed, setStatus, setText, timeOf } from './elements.js';

const at = (id) => document.getElementById(id);

/** The runs, newest first. Each has an address of its own. */
export function showHistory(runs, shown) {
  at('no-history').hidden = runs.length > 0;
  const items = keyed(
    at('history'),
    runs.map((run) => run.run_id),
    newItem,
  );
  for (const [n, item] of items.entries()) {
    const run = runs[n];
    const link = item.querySelector('a');
    setText(link, run.workflow_name);
    if (run.run_id === shown) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
    setStatus(item.querySelector('.status'), run.status);
    setText(item.querySelector('.facts'), timeOf(run.started_at));
  }
}

function newItem(runId) {
  const item = element('li', '');
  const line = element('div', 'line');
  const link = element('a', 'name');
  link.href = `?run=${encodeURIComponent(runId)}`;
  line.append(link, element('span', 'status'));
  item.append(line, element('p', 'facts'));
  return item;
}
