import {
  cannotTell,
  effect,
  happened,
  notHappened,
  type Clock,
  type Effect,
  type FullRecorder,
} from '../index.js';
import { hostCommand, type Outcome } from './host-command.js';
import type { Command } from './run-command.js';
import type { Host, Step } from './workflow.js';

export type HostAction = {
  readonly step: string;
  readonly host: Host;
  readonly command: Command;
  /** Tells by its exit code whether the action has happened: 0 yes, 1 no. */
  readonly probe: Command | null;
};

type Around = { readonly clock: Clock; readonly recorder: FullRecorder; readonly runId: string };

const PROBE_MS = 30_000;

/**
 * An action on a host as an effect: begun at most once, unless it is known not to have happened. Whoever was at it may be
 * gone, and the command may run on without it; so the probe is asked only once it must have ended.
 */
export function hostEffect(step: Step, { clock, recorder, runId }: Around): Effect<HostAction, Outcome> {
  const { probe, probeAfterMs, action } = step;
  return effect<HostAction, Outcome>({
    name: action,
    // The command has a timeout of its own, and is ended by it: this one would only forget about it.
    timeout: step.timeoutMs + 60_000,
    settle: probe === null ? 0 : probeAfterMs,
    run: ({ step: name, host, command }, { signal }) => {
      const onOutput = (text: string): void => recorder.output({ step: name, host: host.name, text });
      return hostCommand(host, command, { clock, signal, onOutput });
    },
    async reconcile({ step: name, host, probe: asked }, { signal }) {
      const tell = (message: string): void => recorder.progress({ step: name, host: host.name, message });
      const found = asked && (await askProbe(host, asked, { clock, signal }));
      if (found?.exit === 0)
        return happened({ ok: true, changed: true, exit: 0, message: null, stdout: found.stdout });
      if (found?.exit === 1) return notHappened();
      const why = found ? `and its probe cannot tell (${found.message})` : 'and it has no probe';
      tell(
        `it was begun and nobody knows how it ended, ${why}: look at the host, then say ` +
          `pawl effects resolve ${runId} <step> --happened, --not-happened or --fail`,
      );
      return cannotTell();
    },
  });
}

/** What the probe says, also where it could not be asked. */
function askProbe(
  host: Host,
  probe: Command,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Pick<Outcome, 'exit' | 'message' | 'stdout'>> {
  return hostCommand(host, probe, { clock, signal, onOutput: () => undefined }).catch((error: unknown) => {
    // One who is stopped has not been told anything.
    if (signal.aborted) throw error;
    return { exit: null, message: error instanceof Error ? error.message : String(error), stdout: '' };
  });
}

export function probeCommand(argv: readonly string[], command: Command): Command {
  return { argv, cwd: command.cwd, env: command.env, stdin: null, timeoutMs: PROBE_MS };
}

/** An operator who says that it happened need not know with what result. */
export function outcomeOrHappened(outcome: Outcome | null): Outcome {
  return outcome?.ok === undefined
    ? { ok: true, changed: true, exit: 0, message: null, stdout: '' }
    : outcome;
}
