/** The page: what is shown follows from the address (`?run=<id>`), and from what the server says of the run. */
import { showHistory } from './history.js';
import { showRun } from './run.js';

const at = (id) => document.getElementById(id);

/** Longer than the browser itself waits, and not so long that somebody would reload. */
const AGAIN_MS = 1_000;

let source = null;
let shown = null;
let version = 0;

async function ask(path, body) {
  const response = await fetch(
    path,
    body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  );
  const answer = await response.json();
  if (!response.ok) {
    const message = answer.error?.message ?? `The server says ${response.status}.`;
    throw Object.assign(new Error(message), { isMissing: response.status === 404 });
  }
  return answer;
}

function tellProblem(problem) {
  at('problem').hidden = problem === null;
  at('problem').textContent = problem ?? '';
}

/** What `fetch` throws says nothing to anybody. */
function wordsFor(error) {
  return error instanceof TypeError ? 'The server cannot be reached.' : error.message;
}

/** Does what somebody asked for, and says so if it cannot be done. */
async function attempt(work) {
  try {
    await work();
    tellProblem(null);
  } catch (error) {
    tellProblem(wordsFor(error));
  }
}

/** An answer may come late: by then the page may show another run, or have heard more of this one. */
function show(run) {
  if (run.run_id !== shown || run.version < version) return;
  version = run.version;
  showRun(run);
}

async function refreshHistory() {
  const { runs } = await ask('/runs');
  showHistory(runs, shown);
}

/**
 * Follows a run. After a break the browser connects again by itself, and says which version it has seen; where it gives up, as
 * after an error of the server, the stream is opened anew, and begins with the whole run.
 */
function follow(runId) {
  source?.close();
  if (runId !== shown) {
    at('run').hidden = true;
    version = 0;
  }
  shown = runId;
  if (runId === null) return;
  source = new EventSource(`/runs/${encodeURIComponent(runId)}/events`);
  const mine = source;
  source.addEventListener('open', () => {
    at('connection').textContent = 'Live.';
    void attempt(refreshHistory);
  });
  source.addEventListener('run', ({ data }) => show(JSON.parse(data)));
  source.addEventListener('end', () => {
    mine.close();
    at('connection').textContent = '';
    void attempt(refreshHistory);
  });
  source.addEventListener('error', () => {
    at('connection').textContent = 'The connection is lost; connecting again …';
    if (mine.readyState === EventSource.CLOSED) void comeBack(runId, mine);
  });
}

async function comeBack(runId, old) {
  try {
    show(await ask(`/runs/${encodeURIComponent(runId)}`));
  } catch (error) {
    tellProblem(wordsFor(error));
    if (error.isMissing) return;
  }
  setTimeout(() => {
    // Somebody may look at another run by now.
    if (source === old) follow(runId);
  }, AGAIN_MS);
}

at('start').addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  void attempt(async () => {
    const run = await ask('/runs', { name: new FormData(form).get('name') });
    form.reset();
    history.pushState(null, '', `?run=${encodeURIComponent(run.run_id)}`);
    follow(run.run_id);
    show(run);
  });
});

at('actions').addEventListener('click', ({ target }) => {
  const action = target.closest('button')?.dataset.action;
  if (action) {
    void attempt(async () => show(await ask(`/runs/${encodeURIComponent(shown)}/${action}`, {})));
  }
});

function followAddress() {
  follow(new URLSearchParams(location.search).get('run'));
  void attempt(refreshHistory);
}

addEventListener('popstate', followAddress);
followAddress();
