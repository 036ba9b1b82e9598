export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Between two looks at how far a store has come: seldom enough that looking is no part of the work that is measured. */
export const LOOK_EVERY_MS = 25;
