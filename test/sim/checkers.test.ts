import { describe, expect, test } from 'vitest';
import { Acknowledged } from '../../src/sim/check/acknowledged.js';
import { EffectWatch } from '../../src/sim/check/effect-watch.js';
import { StoreWatch } from '../../src/sim/check/store-watch.js';
import { Hits } from '../../src/sim/hits.js';
import { Host } from '../../src/sim/host.js';
import { Verdict } from '../../src/sim/verdict.js';
import { World } from '../../src/sim/world.js';
import { memoryStore } from '../../src/stores/memory/memory-store.js';
import { Tables } from '../../src/stores/memory/tables.js';
import { command, event, Rig, T0 } from '../../src/testkit/index.js';

const newVerdict = () => new Verdict({ decisions: () => 0, onBreach: () => undefined });
const found = ({ breaches }: Verdict) => breaches.map(({ invariant }) => invariant);

describe('effects, watched from outside', () => {
  const REF = { step: 'charge', occurrence: 1 };

  function watched({ holdsLease = true }: { holdsLease?: boolean } = {}) {
    const world = new World(1);
    const holder = new Host(world, { index: 0, name: 'worker 0' });
    const stranger = new Host(world, { index: 1, name: 'worker 1' });
    const verdict = newVerdict();
    const watch = new EffectWatch({
      verdict,
      hostOf: () => holder,
      holderOf: () => holder,
      holdsLease: () => holdsLease,
    });
    const intend = (entry: number): void =>
      watch.intended('job', event('effect.intended', { ...REF, entry, effectKey: 'key' }), 'w.1');
    const deny = (entry: number): void =>
      watch.closed(
        'job',
        event('effect.reconciled', { ...REF, entry, verdict: 'notHappened', result: null }),
      );
    return { verdict, watch, holder, stranger, intend, deny };
  }

  test('GUA-4 invariant 8: a denial lets the entry be followed that it was given of, and no later one', () => {
    const { verdict, watch, holder, intend, deny } = watched();
    intend(1);
    watch.entered(holder, 'key');
    watch.asked(holder, 'key')();
    deny(1);
    intend(2);
    watch.entered(holder, 'key');
    expect(found(verdict)).toEqual([]);
    deny(2);
    expect(found(verdict)).toEqual([8]);
  });

  test('invariant 8: what somebody is told who asked before, or does not hold the job, says nothing of an entry', () => {
    const { verdict, watch, holder, stranger, intend, deny } = watched();
    intend(1);
    const early = watch.asked(holder, 'key');
    watch.asked(holder, 'key')();
    deny(1);
    intend(2);
    early();
    watch.asked(stranger, 'key')();
    deny(2);
    expect(found(verdict)).toEqual([8]);
  });

  test('invariant 8: a refusal closes the entry of its own body', () => {
    const { verdict, watch, holder, intend, deny } = watched();
    intend(1);
    const refused = watch.entered(holder, 'key');
    watch.asked(null, 'key')();
    deny(1);
    intend(2);
    watch.entered(holder, 'key');
    refused();
    watch.closed('job', event('effect.closed', { ...REF, entry: 2 }));
    expect(found(verdict)).toEqual([8]);
  });

  test('invariant 8: a body is entered under a lease that stands, by whose intent it is, once', () => {
    const { verdict, watch, holder, stranger, intend } = watched();
    watch.entered(holder, 'key');
    expect(found(verdict)).toEqual([8]);
    intend(1);
    watch.entered(holder, 'key');
    expect(found(verdict)).toEqual([8]);
    watch.entered(stranger, 'key');
    expect(found(verdict)).toEqual([8, 8, 8]);
    const late = watched({ holdsLease: false });
    late.intend(1);
    late.watch.entered(late.holder, 'key');
    expect(found(late.verdict)).toEqual([8]);
  });

  test('invariants 7 and 8: at the end, what happened outside is what the log says, and as often', () => {
    const { verdict, watch, intend } = watched();
    intend(1);
    watch.check(
      () => ['done'],
      () => undefined,
    );
    expect(found(verdict)).toEqual([]);
    watch.check(
      () => ['done', 'done again'],
      () => undefined,
    );
    expect(found(verdict)).toEqual([8]);
  });
});

describe('what clients were told', () => {
  async function told() {
    const world = new World(1);
    const verdict = newVerdict();
    const tables = new Tables();
    const host = new Host(world, { index: 0, name: 'client 0' });
    const parts = { world, tables, hits: new Hits(), verdict, now: () => T0, keepMs: null };
    const watch = new StoreWatch(parts);
    const rig = await Rig.start(async ({ clock }) => memoryStore({ clock, tables }));
    const acknowledged = new Acknowledged(watch, verdict);
    const look = (): void => watch.look({ host, name: 'commit', asked: [] });
    const { spec, input } = await rig.create('job_told');
    look();
    const { tenantId, task } = spec;
    acknowledged.started('job_told', { tenantId, scope: null, key: null, task, idempotentHit: false, input });
    return { rig, tables, verdict, acknowledged, look };
  }

  test('invariant 1: a start whose job the store no longer has', async () => {
    const { tables, verdict, acknowledged } = await told();
    acknowledged.check();
    expect(found(verdict)).toEqual([]);
    tables.jobs.delete('job_told');
    acknowledged.check();
    expect(found(verdict)).toEqual([1]);
  });

  test('invariant 1: a cancel that the store no longer has', async () => {
    const { rig, tables, verdict, acknowledged, look } = await told();
    const { row } = tables.jobs.get('job_told') ?? {};
    await rig.give('job_told', command('cancel'));
    look();
    acknowledged.cancelled('job_told');
    acknowledged.check();
    expect(found(verdict)).toEqual([]);
    Object.assign(tables.jobs.get('job_told') ?? {}, { row });
    acknowledged.check();
    expect(found(verdict)).toEqual([1]);
  });

  test('DEC-7 invariant 4: of two cancels at once no more than one is told that it ended the job', async () => {
    const { verdict, acknowledged } = await told();
    acknowledged.endedTwice('job_told', 1);
    expect(found(verdict)).toEqual([]);
    acknowledged.endedTwice('job_told', 2);
    expect(found(verdict)).toEqual([4]);
  });
});
