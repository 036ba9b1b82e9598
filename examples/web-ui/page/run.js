import { element, keyed, setStatus, setText, timeOf } from './elements.js';

const at = (id) => document.getElementById(id);

/** Shows a run as the server has it. What is on the page is changed only where something is new. */
export function showRun(run) {
  at('run').hidden = false;
  document.title = `${run.workflow_name}: ${run.status}`;
  setText(at('run-name'), run.workflow_name);
  setStatus(at('run-status'), run.status);
  setText(at('run-id'), run.run_id);
  const ended = run.finished_at === null ? '' : `, ended ${timeOf(run.finished_at)}`;
  setText(at('run-times'), `Began ${timeOf(run.started_at)}${ended}`);
  const message = run.interrupted_reason ?? run.last_error?.message ?? run.message ?? '';
  at('run-message').hidden = message === '';
  setText(at('run-message'), message);
  showActions(run);
  showSteps(run.steps);
}

function showActions(run) {
  const isOver = run.finished_at !== null;
  const waits = run.steps.some(({ name, status }) => name === 'approval' && status === 'running');
  at('actions').hidden = isOver;
  for (const button of at('actions').children) {
    button.hidden = button.dataset.action !== 'cancel' && !waits;
  }
}

function showSteps(steps) {
  const items = keyed(
    at('steps'),
    steps.map((step) => step.name),
    () => {
      const item = newLine('li');
      item.append(element('ul', 'hosts'));
      return item;
    },
  );
  for (const [n, item] of items.entries()) {
    const step = steps[n];
    showLine(item, step.name, step);
    showHosts(item.querySelector('.hosts'), step.hosts);
  }
}

function showHosts(list, hosts) {
  const names = Object.keys(hosts);
  const items = keyed(list, names, () => {
    const item = newLine('li');
    item.append(element('pre', ''));
    return item;
  });
  for (const [n, item] of items.entries()) {
    const name = names[n];
    const { output } = hosts[name];
    showLine(item, name, hosts[name]);
    const text = item.querySelector('pre');
    text.hidden = output === null;
    setText(text, output ?? '');
  }
}

function newLine(tag) {
  const item = element(tag, '');
  const line = element('div', 'line');
  line.append(element('span', 'name'), element('span', 'status'));
  item.append(line, element('p', 'facts'));
  return item;
}

function showLine(item, name, { status, message }) {
  setText(item.querySelector('.name'), name);
  setStatus(item.querySelector('.status'), status);
  const facts = item.querySelector('.facts');
  facts.hidden = message === null;
  setText(facts, message ?? '');
}
