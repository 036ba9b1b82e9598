/** Again and again until it has run for so long, once at least. `run` says how many seconds it took. */
export async function warmUp(ms: number, run: () => Promise<number>): Promise<void> {
  for (let leftMs = ms; ;) {
    leftMs -= (await run()) * 1_000;
    if (leftMs <= 0) return;
  }
}

/** How much is run unmeasured at a time. */
export const WARM_UP = 0.5;
