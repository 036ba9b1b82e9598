import type { HostPatch, RunPatch, StepPatch } from '../contracts/index.js';

type RunChanges = Omit<RunPatch, 'run_id' | 'updated_at' | 'steps'>;
type StepChanges = Omit<StepPatch, 'name' | 'hosts'>;

/** What has changed and is not saved yet. Later changes of the same thing take the place of earlier ones. */
export class PendingPatch {
  #run: RunChanges = {};
  readonly #steps = new Map<string, { changes: StepChanges; hosts: Map<string, HostPatch> }>();

  /** What the status is to become, if it changes. */
  get status(): RunChanges['status'] {
    return this.#run.status;
  }

  run(changes: RunChanges): void {
    this.#run = { ...this.#run, ...changes };
  }

  step(name: string, changes: StepChanges): void {
    const step = this.#step(name);
    step.changes = { ...step.changes, ...changes };
  }

  host(name: { readonly step: string; readonly host: string }, changes: HostPatch): void {
    const { hosts } = this.#step(name.step);
    hosts.set(name.host, { ...hosts.get(name.host), ...changes });
  }

  /** Puts what could not be saved under what has changed since. */
  putBack(older: PendingPatch): void {
    this.#run = { ...older.#run, ...this.#run };
    const newer = new Map(this.#steps);
    this.#steps.clear();
    for (const from of [older.#steps, newer]) {
      for (const [name, { changes, hosts }] of from) {
        this.step(name, changes);
        for (const [host, patch] of hosts) this.host({ step: name, host }, patch);
      }
    }
  }

  patch(runId: string, updatedAt: string): RunPatch {
    return {
      run_id: runId,
      updated_at: updatedAt,
      ...this.#run,
      steps: [...this.#steps].map(([name, { changes, hosts }]) => ({
        name,
        ...changes,
        hosts: Object.fromEntries(hosts),
      })),
    };
  }

  #step(name: string): { changes: StepChanges; hosts: Map<string, HostPatch> } {
    let step = this.#steps.get(name);
    if (step === undefined) this.#steps.set(name, (step = { changes: {}, hosts: new Map() }));
    return step;
  }
}
