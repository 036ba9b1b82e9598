import { pawl, type EffectDecision, type Pawl } from '../client/pawl.js';
import { PawlError } from '../errors.js';
import { print, type Console } from './console.js';

type Common = { readonly store: string; readonly json: boolean };

/** Lists the effects that nobody knows the outcome of. */
export async function listEffects(console: Console, { store, json }: Common): Promise<number> {
  return withApp(store, async (app) => {
    const effects = await app.unknownEffects();
    const lines = effects.map(
      ({ jobId, task, step, occurrence, entry }) =>
        `${jobId}  ${task}  ${step}#${occurrence}  entry ${entry}`,
    );
    const text =
      lines.length === 0
        ? 'No job waits for a decision on an effect.'
        : [
            ...lines,
            '',
            'Find out on the other side, then: pawl effects resolve <job> <step> --happened | --not-happened | --fail',
          ].join('\n');
    print(console, { json, data: { effects }, text });
    return 0;
  });
}

export type ResolveOptions = Common & {
  readonly occurrence: string;
  readonly happened?: string | true;
  readonly notHappened?: boolean;
  readonly fail?: boolean;
  readonly by: string;
};

/** Decides on one of them. */
export async function resolveEffect(
  console: Console,
  { jobId, step, ...options }: ResolveOptions & { jobId: string; step: string },
): Promise<number> {
  const decision = readDecision(options);
  const occurrence = Number(options.occurrence);
  if (!Number.isInteger(occurrence) || occurrence < 1)
    throw wrong('--occurrence must be a whole number from 1');
  return withApp(options.store, async (app) => {
    await app.resolveEffect(jobId, { step, occurrence, by: options.by, ...decision });
    const text = `Decided: ${step}#${occurrence} of job ${jobId} ${SAID[decision.verdict]}. The job goes on.`;
    print(console, {
      json: options.json,
      data: { jobId, step, occurrence, verdict: decision.verdict },
      text,
    });
    return 0;
  });
}

const SAID = { happened: 'has happened', notHappened: 'has not happened', fail: 'is given up' } as const;

function readDecision({ happened, notHappened, fail }: ResolveOptions): EffectDecision {
  const given = [happened !== undefined, notHappened === true, fail === true].filter(Boolean).length;
  if (given !== 1) throw wrong('give one of --happened, --not-happened and --fail');
  if (notHappened) return { verdict: 'notHappened' };
  if (fail) return { verdict: 'fail' };
  if (happened === true || happened === undefined) return { verdict: 'happened', result: null };
  try {
    return { verdict: 'happened', result: JSON.parse(happened) as unknown };
  } catch {
    throw wrong(`--happened takes the result as JSON; ${JSON.stringify(happened)} is not`);
  }
}

function wrong(detail: string): PawlError {
  return new PawlError('INVALID_OPTION', { detail });
}

async function withApp(store: string, work: (app: Pawl) => Promise<number>): Promise<number> {
  const app = await pawl({ store });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}
