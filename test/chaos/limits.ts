/** What tasks under chaos may do at most, for whoever sets it and whoever checks it. */
export const KEY_LIMIT = 2;
export const RATE = { limit: 8, perMs: 1_000 } as const;
/** Every slot of this schedule is to be fired, however late, and once. */
export const SCHEDULE = { id: 'chaos-tick', everyMs: 700 } as const;
