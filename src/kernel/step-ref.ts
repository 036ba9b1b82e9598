/** Which step of a job: its name, and the how-manieth use of that name this is, from 1. */
export type StepRef = { readonly step: string; readonly occurrence: number };

/** What a step may be called, within 200 characters: anything readable without a `#`. A leading `$` is the engine's own. */
export const STEP_NAME = /^[^#\u0000-\u001f\u007f\ud800-\udfff]+$/u;

/** A step's identity within its job. Step names hold no `#`, so two refs never share a key. */
export function stepKey({ step, occurrence }: StepRef): string {
  return `${step}#${occurrence}`;
}
