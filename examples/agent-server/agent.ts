import { join } from 'node:path';
import { pawl, PawlError, runStates } from '../../src/index.js';
import type { ErrorCode, Pawl, RunSnapshot, RunState, RunStates, RunSummary } from '../../src/index.js';
import { loadWorkflow, type Loaded } from '../../src/runner/index.js';
import { carryOut } from './carry-out.js';

export type AgentOptions = {
  /** Where jobs and the states of runs are kept, both. */
  readonly store: string;
  /** Only workflows of this folder are run: `deploy` is `deploy.yaml` there, and says so in its `name`. */
  readonly folder: string;
  /** What becomes of runs that were under way when the process before this one ended. */
  readonly afterRestart: 'resume' | 'interrupt';
  readonly leaseMs: number;
};

export type Heartbeat = {
  readonly alive: boolean;
  readonly running: readonly {
    readonly run_id: string;
    /** Since the lease was renewed; null while nobody holds one, as before the first step and in a durable wait. */
    readonly lease_age_ms: number | null;
    readonly doing: string;
  }[];
};

const RESTARTED = 'the agent was restarted';

/** Runs workflows on this machine. The state of a run is saved before the run is begun, so that none is ever lost. */
export class Agent {
  readonly #options: AgentOptions;
  /** Never works: it looks at jobs and cancels them. */
  readonly #app: Pawl;
  readonly #runs: RunStates;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  private constructor(options: AgentOptions, { app, runs }: { app: Pawl; runs: RunStates }) {
    this.#options = options;
    this.#app = app;
    this.#runs = runs;
  }

  /** Opens the store, and sees to what the process before left behind. */
  static async open(options: AgentOptions): Promise<Agent> {
    const { store } = options;
    const agent = new Agent(options, { app: await pawl({ store }), runs: await runStates({ store }) });
    const unfinished = [...(await agent.#all('queued')), ...(await agent.#all('running'))];
    if (options.afterRestart === 'interrupt') await agent.#interrupt(unfinished);
    else for (const run of unfinished) await agent.#resume(run);
    return agent;
  }

  /** Starts a run, and answers once it is there to stay. */
  async run({ workflow, runId }: { workflow: string; runId?: string }): Promise<RunSnapshot> {
    const loaded = await this.#load(workflow);
    const tracker = await this.#runs.track({ workflowName: workflow, ...(runId && { runId }) });
    if (!(await tracker.flush())) {
      // Once the store is back, it is told: nothing was begun.
      void tracker.finish({ status: 'failed', message: 'the run could not be saved' });
      throw new PawlError('STORE_UNAVAILABLE', { detail: 'the run could not be saved, and was not begun' });
    }
    await this.#begin(tracker.runId, loaded, { isNew: true });
    const run = await this.#runs.status(tracker.runId);
    // Cancelled before its job was there to be cancelled.
    if (run.status === 'canceled') await this.#cancelJob(run.run_id, run.message ?? '');
    return run;
  }

  status(runId: string): Promise<RunSnapshot> {
    return this.#runs.status(runId);
  }

  list(): Promise<RunSummary[]> {
    return this.#runs.list();
  }

  /** Gives up on a run. Commands that are under way are ended when the worker hears of it: within a third of its lease. */
  async cancel(runId: string, reason: string): Promise<RunSnapshot> {
    const ended = await this.#runs.end(runId, { status: 'canceled', message: reason });
    if (ended === null) {
      const { status } = await this.#runs.status(runId);
      throw new PawlError('INVALID_TRANSITION', { detail: `run ${runId} has ended as ${status}` });
    }
    await this.#cancelJob(runId, reason);
    return ended;
  }

  async heartbeat(): Promise<Heartbeat> {
    const running = await Promise.all([...this.#underWay.keys()].map((runId) => this.#pulse(runId)));
    return { alive: !this.#stopping.signal.aborted, running };
  }

  /** Throws if the store does not answer. */
  async health(): Promise<void> {
    await this.#app.counts();
  }

  /** Stops working. What is under way gets a moment to end; the rest is seen to by the next process. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#underWay.values());
    await this.#app.close();
    await this.#runs.close();
  }

  /** Everything that could be wrong with the workflow is found here, before anything is begun. */
  async #load(name: string): Promise<Loaded> {
    const loaded = await loadWorkflow(join(this.#options.folder, `${name}.yaml`));
    if (loaded.workflow.name === name) return loaded;
    throw new PawlError('WORKFLOW_INVALID', {
      detail: `${name}.yaml has the name '${loaded.workflow.name}'`,
    });
  }

  /** Resolves once the job of the run has been started, or found. It is carried out beside whoever waits for that. */
  async #begin(runId: string, loaded: Loaded, { isNew }: { isNew: boolean }): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const { store, leaseMs: lease } = this.#options;
      const { signal } = this.#stopping;
      const ended = carryOut(loaded, { store, runId, lease, signal, isNew, onStarted: () => resolve() })
        .catch(async (error: unknown) => {
          await this.#giveUp(runId, error).finally(() => reject(error));
        })
        .catch((error: unknown) => console.error(`The state of run ${runId} could not be saved:`, error))
        .finally(() => this.#underWay.delete(runId));
      this.#underWay.set(runId, ended);
    });
  }

  /**
   * Goes on with a run, once the store answers. Its workflow may have changed since, or be gone: then it will not go on, and its
   * state says why.
   */
  async #resume({ run_id: runId, workflow_name: workflow }: RunSummary): Promise<void> {
    try {
      const loaded = await this.#load(workflow);
      await this.#begin(runId, loaded, { isNew: false });
    } catch (error) {
      console.error(`Run ${runId} does not go on:`, error);
      await this.#giveUp(runId, error);
    }
  }

  /** Harmless where somebody else has done it. */
  async #giveUp(runId: string, error: unknown): Promise<void> {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof PawlError ? error.code : 'INTERNAL';
    await this.#cancelJob(runId, message);
    await this.#runs.end(runId, { status: 'failed', message, error: { code, message } });
  }

  async #pulse(runId: string): Promise<Heartbeat['running'][number]> {
    try {
      const { code, sentence, until } = await this.#app.why(runId);
      const age = code === 'running' && until !== null ? this.#options.leaseMs - (until - Date.now()) : null;
      return { run_id: runId, lease_age_ms: age && Math.max(0, age), doing: sentence };
    } catch (error) {
      if (!isCode(error, 'JOB_NOT_FOUND')) throw error;
      return { run_id: runId, lease_age_ms: null, doing: 'It is about to begin.' };
    }
  }

  /** Archives what the process before left behind, and ends the jobs of it. What had not begun is cancelled. */
  async #interrupt(unfinished: readonly RunSummary[]): Promise<void> {
    for (const { run_id: runId, status } of unfinished) {
      await this.#cancelJob(runId, RESTARTED);
      if (status === 'queued') await this.#runs.end(runId, { status: 'canceled', message: RESTARTED });
    }
    await this.#runs.markInterrupted(RESTARTED);
  }

  /** A run may have no job yet, or one that has ended: there is nothing to cancel then. */
  async #cancelJob(runId: string, reason: string): Promise<void> {
    await this.#app
      .job(runId)
      .cancel({ reason })
      .catch((error: unknown) => {
        if (!isCode(error, 'JOB_NOT_FOUND', 'INVALID_TRANSITION')) throw error;
      });
  }

  async #all(status: RunState): Promise<RunSummary[]> {
    const found: RunSummary[] = [];
    for (let page = await this.#runs.list({ status }); page.length > 0;) {
      found.push(...page);
      page = await this.#runs.list({ status, before: page.at(-1)?.run_id ?? '' });
    }
    return found;
  }
}

function isCode(error: unknown, ...codes: readonly ErrorCode[]): boolean {
  return error instanceof PawlError && codes.includes(error.code);
}
