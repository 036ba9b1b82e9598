import { pawl, PawlError, runStates } from '../../src/index.js';
import type { ErrorCode, Hooks, Pawl, RunSnapshot, RunStates, RunSummary, Task } from '../../src/index.js';
import { releaseTask, workflowNameOf, type Approval, type Release } from './release-task.js';

export type ReleasesOptions = {
  /** Where jobs and the states of runs are kept, both. */
  readonly store: string;
  /** What becomes of runs that were under way when the process before this one ended. */
  readonly afterRestart: 'resume' | 'interrupt';
  /** How long a line of output takes. */
  readonly tickMs: number;
};

const RESTARTED = 'the server was restarted';
/** Kept across restarts, so that what the process before left behind is taken up at once. */
const WORKER_ID = 'web-ui';

type Parts = { readonly app: Pawl; readonly runs: RunStates; readonly task: Task<Release, null> };

/** Runs of releases: started, watched, decided on. */
export class Releases {
  readonly #app: Pawl;
  readonly #runs: RunStates;
  readonly #task: Task<Release, null>;

  private constructor({ app, runs, task }: Parts) {
    this.#app = app;
    this.#runs = runs;
    this.#task = task;
  }

  static async open({ store, afterRestart, tickMs }: ReleasesOptions): Promise<Releases> {
    const runs = await runStates({ store });
    const task = releaseTask(runs, { tickMs });
    const app = await pawl({ store, tasks: [task], hooks: endings(runs) });
    const releases = new Releases({ app, runs, task });
    await releases.#settle(afterRestart);
    await app.work({ workerId: WORKER_ID, stopOnSignal: false });
    return releases;
  }

  /** The state is saved first, then the job: a run that anybody was told of can always be asked for. */
  async start(release: Release): Promise<RunSnapshot> {
    const tracker = await this.#runs.track({ workflowName: workflowNameOf(release) });
    const { runId } = tracker;
    try {
      if (!(await tracker.flush())) {
        throw new PawlError('STORE_UNAVAILABLE', { detail: 'the run could not be saved, and was not begun' });
      }
      await this.#app.start(this.#task, release, { jobId: runId });
    } catch (error) {
      void tracker.finish({ status: 'failed', message: 'the run could not be begun' });
      throw error;
    }
    return this.#runs.status(runId);
  }

  status(runId: string): Promise<RunSnapshot> {
    return this.#runs.status(runId);
  }

  list(): Promise<RunSummary[]> {
    return this.#runs.list({ limit: 50 });
  }

  async decide(runId: string, approval: Approval): Promise<void> {
    await this.#app.job(runId).signal('approval', approval);
  }

  async cancel(runId: string): Promise<void> {
    if ((await this.#runs.end(runId, { status: 'canceled', message: 'cancelled on the page' })) === null) {
      throw new PawlError('INVALID_TRANSITION', { detail: `run ${runId} has ended` });
    }
    await this.#cancelJob(runId, 'cancelled on the page');
  }

  async close(): Promise<void> {
    await this.#app.close();
    await this.#runs.close();
  }

  /** Sees to what the process before left behind. Runs whose job lives are resumed by the worker; the others are archived. */
  async #settle(afterRestart: 'resume' | 'interrupt'): Promise<void> {
    const isAlive = async (runId: string): Promise<boolean> => {
      if (afterRestart === 'interrupt') await this.#cancelJob(runId, RESTARTED);
      return this.#isAlive(runId);
    };
    await this.#runs.markInterrupted(RESTARTED, { isAlive });
    // Saved, and not begun: the process ended in between.
    for (const { run_id: runId } of await this.#runs.list({ status: 'queued' })) {
      if (!(await isAlive(runId))) await this.#runs.end(runId, { status: 'canceled', message: RESTARTED });
    }
  }

  async #isAlive(runId: string): Promise<boolean> {
    try {
      return (await this.#app.job(runId).status()).finishedAt === null;
    } catch (error) {
      if (isCode(error, 'JOB_NOT_FOUND')) return false;
      throw error;
    }
  }

  /** A run may have no job yet, or one that has ended: there is nothing to cancel then. */
  async #cancelJob(runId: string, reason: string): Promise<void> {
    try {
      await this.#app.job(runId).cancel({ reason });
    } catch (error) {
      if (!isCode(error, 'JOB_NOT_FOUND', 'INVALID_TRANSITION')) throw error;
    }
  }
}

/** A job that has failed could not tell the state of its run. */
function endings(runs: RunStates): Hooks {
  return {
    attemptEnded({ id }, { status, failure }) {
      if (status !== 'failed' || failure === null) return;
      const { code, message } = failure;
      runs
        .end(id, { status: 'failed', message, error: { code, message } })
        .catch((error: unknown) => console.error(`The state of run ${id} could not be saved:`, error));
    },
  };
}

function isCode(error: unknown, ...codes: readonly ErrorCode[]): boolean {
  return error instanceof PawlError && codes.includes(error.code);
}
