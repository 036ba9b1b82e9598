/** What `npm start` runs: `pawl dev --config examples/first-run/pawl.config.ts`. */
import { defineConfig, schedule } from 'pawl';
import { approval, flaky, order, tidy } from './tasks.js';

export default defineConfig({
  tasks: [order, approval, flaky, tidy],
  schedules: [schedule(tidy, { id: 'tidy', every: '5m', input: null })],
});
