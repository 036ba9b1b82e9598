/** What becomes of what a job has done when its work is done once more: it is asked about, kept, or done again. */
export type Repeating = 'ask' | 'keep' | 'repeat';

/** As the server is told. */
export const repeatingBody = (repeating: Repeating): object => ({
  keep_recorded: repeating === 'keep',
  repeat_effects: repeating === 'repeat',
});
