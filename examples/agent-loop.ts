/**
 * An agent that calls tools, stops when its budget is used up, and goes on once somebody grants it more:
 * `node .build/examples/agent-loop.js`.
 *
 * Every call of the model is a step, so that no replay pays for it twice; a booking is an effect, so that it is entered
 * at most once. The loop's state is a checkpoint: however long it runs, a restart reads the last one and no more.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { effect, pawl, task, type HandlerContext } from '../src/index.js';

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'pawl-agent-'));
const FARES: Record<string, number> = { LIS: 89, OPO: 74, FAO: 112 };

type Action =
  | { do: 'search'; airport: string }
  | { do: 'book'; airport: string }
  | { do: 'answer'; text: string };
type Seen = { airport: string; fare: number; booked: boolean };

/** Stands in for a language model: the same thoughts for the same transcript. */
let modelCalls = 0;
function model(seen: readonly Seen[]): { action: Action; cents: number } {
  modelCalls += 1;
  const cents = 3;
  const airport = Object.keys(FARES)[seen.length];
  if (airport !== undefined) return { action: { do: 'search', airport }, cents };
  const booked = seen.find((one) => one.booked);
  if (booked)
    return { action: { do: 'answer', text: `${booked.airport} for ${booked.fare} €, booked.` }, cents };
  const [cheapest] = seen.toSorted((one, other) => one.fare - other.fare);
  return { action: { do: 'book', airport: cheapest?.airport ?? '' }, cents };
}

const bookings: string[] = [];
const book = effect({
  name: 'airline.book',
  run: ({ airport }: { airport: string }) => {
    bookings.push(airport);
    return { reference: `PAWL-${airport}` };
  },
});

type State = { seen: Seen[]; spent: number; budget: number; grants: number };

const agent = task({ name: 'agent' }, async ({ input, step }: HandlerContext<{ budget: number }>) => {
  const state = step.resume<State>({ seen: [], spent: 0, budget: input.budget, grants: 0 });
  for (;;) {
    if (state.spent >= state.budget) {
      const reason = `${state.spent} of ${state.budget} cents are spent`;
      state.budget += await step.waitFor<number>(`grant-${++state.grants}`, { kind: 'approval', reason });
    }
    const { action, cents } = await step.run('think', () => model(state.seen));
    state.spent += cents;
    switch (action.do) {
      case 'search': {
        const fare = await step.run('search', () => FARES[action.airport] ?? 0);
        state.seen.push({ airport: action.airport, fare, booked: false });
        break;
      }
      case 'book':
        await step.effect('book', book, { airport: action.airport });
        for (const one of state.seen) one.booked = one.airport === action.airport;
        break;
      default:
        return { answer: action.text, spent: state.spent };
    }
    await step.checkpoint(state);
    console.log(`  ${action.do} ${action.airport}: ${state.spent} of ${state.budget} cents spent`);
  }
});

async function boot() {
  const app = await pawl({ store: `sqlite:${join(folder, 'pawl.db')}`, tasks: [agent] });
  await app.work();
  return app;
}

const first = await boot();
console.log('An agent looks for the cheapest flight, with 6 cents to think.');
const { job } = await first.start(agent, { budget: 6 });
while ((await job.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 10));
console.log(`  ${(await job.why()).sentence}`);
await first.close();

console.log('The process ends. Another one starts, and somebody grants 20 cents.');
const second = await boot();
const same = second.job<{ answer: string; spent: number }>(job.id);
await same.signal('grant-1', 20);
const { answer, spent } = await same.result({ timeout: '30s' });
await second.close();
console.log(
  `  ${answer} ${spent} cents were spent on ${modelCalls} calls of the model; bookings: ${bookings.length}.`,
);
