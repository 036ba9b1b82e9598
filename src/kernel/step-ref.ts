/** Which step of a job: its name, and the how-manieth use of that name this is, from 1. */
export type StepRef = { readonly step: string; readonly occurrence: number };

/** A step's identity within its job. Step names hold no `#`, so two refs never share a key. */
export function stepKey({ step, occurrence }: StepRef): string {
  return `${step}#${occurrence}`;
}
