import type { Logger } from '../ports/logger.js';
import type { Recorder } from '../ports/recorder.js';

const EVENTS = [
  'stepStart',
  'hostStart',
  'output',
  'progress',
  'hostResult',
  'stepFinish',
  'runFinish',
] as const;

/** Every event, so that whoever executes need not ask what a recorder cares for. */
export type FullRecorder = Required<Recorder>;

/**
 * Several recorders as one, told in this order. What one of them throws is logged, and keeps neither the others nor the run
 * from going on. None at all is a recorder too: one that nobody hears.
 */
export function composeRecorders(
  recorders: readonly Recorder[],
  { log }: { log: Pick<Logger, 'error'> },
): FullRecorder {
  const tell =
    (name: (typeof EVENTS)[number]) =>
    (event: unknown): void => {
      for (const recorder of recorders) {
        try {
          (recorder[name] as ((event: unknown) => void) | undefined)?.call(recorder, event);
        } catch (error) {
          log.error('a recorder failed', { event: name, error });
        }
      }
    };
  return Object.fromEntries(EVENTS.map((name) => [name, tell(name)])) as unknown as FullRecorder;
}
