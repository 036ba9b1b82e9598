import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compiled } from '../compiled.js';
import { LONG } from '../long-mode.js';
import { runChaos } from './chaos.js';
import { plantIn } from './plant-in.js';

// Without a bug it is run by `npm test`, on both stores; and that its checkers fail where they must, by checkers.test.ts.
test.runIf(LONG)(
  'invariant 30: chaos notices an effect that is entered again although nobody refused it',
  async () => {
    const build = await compiled();
    const planted = plantIn(build, 'any throw closes an effect');
    const { breaches, kept, jobs } = await runChaos({
      store: 'sqlite',
      minutes: 0.1,
      workers: 2,
      kills: 1,
      seed: 30,
      perSecond: 40,
      build: planted.build,
      print: () => undefined,
    });
    planted.uproot();
    expect(jobs).toBeGreaterThan(20);
    expect(new Set(breaches.map(({ invariant }) => invariant))).toContain(8);
    expect(breaches[0]?.problem).toMatch(/was closed, and nobody had refused it/);
    // What there is to look at stays.
    expect(kept !== null && existsSync(join(kept, 'chaos.db'))).toBe(true);
    rmSync(kept ?? '', { recursive: true });
  },
);
