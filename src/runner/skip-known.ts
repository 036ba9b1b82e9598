import type { FullRecorder, RunSnapshot } from '../index.js';

/**
 * A handler that is run again tells again what it told before. What the state of the run has as ended already is not told a
 * second time: it would get other times, and look as if it had been done twice.
 */
export function skipKnown(recorder: FullRecorder, before: RunSnapshot | null): FullRecorder {
  const ended = new Set<string>();
  for (const { name, status, hosts } of before?.steps ?? []) {
    if (status !== 'running') ended.add(keyOf(name, null));
    for (const [host, { status: of }] of Object.entries(hosts))
      if (of !== 'running') ended.add(keyOf(name, host));
  }
  if (ended.size === 0) return recorder;
  const unless =
    <E extends { readonly step: string; readonly host?: string | null }>(tell: (event: E) => void) =>
    (event: E): void => {
      if (!ended.has(keyOf(event.step, event.host ?? null))) tell(event);
    };
  return {
    stepStart: unless(recorder.stepStart),
    hostStart: unless(recorder.hostStart),
    output: recorder.output,
    progress: unless(recorder.progress),
    hostResult: unless(recorder.hostResult),
    stepFinish: unless(recorder.stepFinish),
    runFinish: recorder.runFinish,
  };
}

function keyOf(step: string, host: string | null): string {
  return JSON.stringify([step, host]);
}
