import { isDeepStrictEqual } from 'node:util';
import type { Event } from '../kernel/index.js';
import type { Aftermath, Remains } from './aftermath.js';
import type { Guarantee } from './cells.js';
import { LATE_RESULT } from './late-task.js';
import { ORDER_RESULT } from './order-task.js';

/** What a check looked at, by name and number, and what it found wrong. */
export type Found = {
  readonly problems: readonly string[];
  readonly counted: Readonly<Record<string, number>>;
};

export type Check = (after: Aftermath) => Found;

type Expected = {
  readonly result: unknown;
  readonly bodies: readonly string[];
  readonly effects: readonly string[];
};

const EXPECTED: Readonly<Record<Aftermath['started']['kind'], Expected>> = {
  order: {
    result: ORDER_RESULT,
    bodies: ['quote', 'charge', 'mail', 'parcel'],
    effects: ['charge', 'mail', 'parcel'],
  },
  late: { result: LATE_RESULT, bodies: ['fetch', 'charge'], effects: ['charge'] },
};

const times = ({ sightings }: Aftermath, body: string): number =>
  sightings.filter(({ what }) => what === body).length;
const family = ({ own, child }: Aftermath): Remains[] => (child === null ? [own] : [own, child]);
const eventsOf = ({ commits }: Remains): Event[] => commits.flatMap(({ events }) => events);

/** Every body was entered, and the job came to its end with the result of all of them. */
const everyStepRan: Check = (after) => {
  const { result, bodies } = EXPECTED[after.started.kind];
  const { job } = after.own;
  const never = bodies.filter((body) => times(after, body) === 0);
  const problems = never.map((body) => `${body} was never entered`);
  if (job === null) problems.push('the job is not there');
  else if (job.status !== 'succeeded') {
    const lost = eventsOf(after.own).filter(({ type }) => type === 'attempt.interrupted').length;
    const why = job.failure ? `: ${job.failure.message}` : '';
    problems.push(`the job is ${job.status}${why} (interrupted ${lost} times)`);
  } else if (!isDeepStrictEqual(JSON.parse(job.result ?? 'null'), result)) {
    problems.push(`the result is ${job.result}`);
  }
  return { problems, counted: { 'bodies seen by the witness': bodies.length - never.length } };
};

/** Nobody answered for an effect that it had not happened, once it had: so each may be seen once, and no more. */
const effectsAtMostOnce: Check = (after) => {
  const { effects } = EXPECTED[after.started.kind];
  const entries = effects.map((effect) => [effect, times(after, effect)] as const);
  return {
    problems: entries
      .filter(([, seen]) => seen > 1)
      .map(([effect, seen]) => `${effect} was entered ${seen} times`),
    counted: {
      effects: effects.length,
      'entries seen by the witness': entries.reduce((n, [, k]) => n + k, 0),
    },
  };
};

/** A body is not entered in a later claim than the one under which its result was recorded; ids stay what they were. */
const replayRunsNothing: Check = (after) => {
  const { bodies } = EXPECTED[after.started.kind];
  const problems: string[] = [];
  let claims = 0;
  let recorded = 0;
  for (const remains of family(after)) {
    const order: string[] = [];
    const recordedIn = new Map<string, number>();
    for (const event of eventsOf(remains)) {
      if (event.type === 'attempt.started') order.push(event.attemptId);
      if (isResult(event)) recordedIn.set(event.step, order.length - 1);
    }
    claims += order.length;
    recorded += recordedIn.size;
    for (const { what, attemptId } of after.sightings.filter((one) => bodies.includes(one.what))) {
      const [claim, result] = [order.indexOf(attemptId), recordedIn.get(what)];
      if (result !== undefined && claim > result) problems.push(`${what} was entered again, though recorded`);
    }
  }
  const ids = new Set(after.sightings.filter(({ what }) => what === 'id').map(({ key }) => key));
  if (ids.size > 1) problems.push(`replays saw ${ids.size} ids where one was recorded`);
  return { problems, counted: { claims, 'recorded results': recorded } };
};

/** Each accepted signal completed one wait, with its payload, and was read; then the job went on. */
const signalsArrive: Check = ({ started, own }) => {
  const completed = eventsOf(own).flatMap((event) => (event.type === 'wait.completed' ? [event] : []));
  const problems = own.unread.map((key) => `nobody has read '${key}'`);
  for (const [key, payload] of started.signals) {
    const waits = completed.filter(({ wait }) => wait.key === key);
    if (waits.length !== 1) problems.push(`'${key}' completed ${waits.length} waits`);
    for (const { payload: got } of waits) {
      if (got !== JSON.stringify(payload)) problems.push(`'${key}' brought ${got}`);
    }
  }
  if (problems.length === 0 && started.signals.size > 0 && own.job?.finishedAt === null) {
    problems.push(`the job was not scheduled again: it is ${own.job.status}`);
  }
  return { problems, counted: { 'signals accepted': started.signals.size } };
};

/** What was acknowledged is there, has ended, and was not forgotten anywhere on the way. */
const noJobLost: Check = (after) => {
  const problems: string[] = [];
  for (const { job, jobId } of family(after)) {
    if (job === null) problems.push(`job ${jobId} is lost`);
    else if (job.finishedAt === null) problems.push(`job ${jobId} is left behind as ${job.status}`);
  }
  return { problems, counted: { 'jobs acknowledged': family(after).length } };
};

/** Chain, order and fold of every log, and each commit by whoever held the job just then. */
const streamIsClean: Check = (after) => {
  const commits = family(after).reduce((sum, { commits: own }) => sum + own.length, 0);
  return {
    problems: family(after).flatMap(({ problems }) => problems),
    counted: { 'commits checked': commits },
  };
};

/** One result is committed for each effect, under one key: the one that the witness was given. */
const oneCommitPerKey: Check = (after) => {
  const { effects } = EXPECTED[after.started.kind];
  const events = family(after).flatMap(eventsOf);
  const problems: string[] = [];
  let commits = 0;
  for (const effect of effects) {
    const results = events.filter((event) => isResult(event) && event.step === effect).length;
    commits += results;
    if (results > 1 || (results === 0 && after.own.job?.status === 'succeeded')) {
      problems.push(`${effect} was committed ${results} times`);
    }
    const keys = new Set([
      ...events.flatMap((event) =>
        event.type === 'effect.intended' && event.step === effect ? [event.effectKey] : [],
      ),
      ...after.sightings.filter(({ what }) => what === effect).map(({ key }) => key),
    ]);
    if (keys.size > 1) problems.push(`${effect} has ${keys.size} keys`);
  }
  return { problems, counted: { 'tool commits': commits } };
};

export const CHECKS: Readonly<Record<Guarantee, Check>> = {
  G1: everyStepRan,
  G2: effectsAtMostOnce,
  G3: replayRunsNothing,
  G4: signalsArrive,
  G5: noJobLost,
  G6: streamIsClean,
  G7: oneCommitPerKey,
};

type Result = Extract<Event, { type: 'step.recorded' | 'effect.recorded' | 'effect.reconciled' }>;

/** An event that says what came of a body. */
function isResult(event: Event): event is Result {
  if (event.type === 'effect.reconciled') return event.verdict === 'happened';
  return event.type === 'step.recorded' || event.type === 'effect.recorded';
}
