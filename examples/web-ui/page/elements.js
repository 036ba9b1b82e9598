/** Whatever comes from a run is put in as text, never as HTML. */
export function element(name, className, text = '') {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

/** Left alone if it says so already: a selection in it stays, and nothing is read out twice. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const SIGNS = {
  queued: '○',
  running: '…',
  success: '✓',
  failed: '✗',
  canceled: '–',
  interrupted: '!',
  skipped: '–',
};

/** A sign, a word and a colour: none of them alone. */
export function setStatus(node, status) {
  node.dataset.status = status;
  setText(node, `${SIGNS[status] ?? ''} ${status}`);
}

export function timeOf(text) {
  return text === null
    ? ''
    : new Date(text).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** The child of a list for each key, made where it is missing; those of other keys go. */
export function keyed(list, keys, make) {
  const old = new Map([...list.children].map((child) => [child.dataset.key, child]));
  const children = keys.map((key) => {
    const child = old.get(key) ?? make(key);
    child.dataset.key = key;
    return child;
  });
  if (children.length !== old.size || children.some((child, n) => list.children[n] !== child)) {
    list.replaceChildren(...children);
  }
  return children;
}
