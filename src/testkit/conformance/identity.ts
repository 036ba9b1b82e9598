import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import type { Identity } from '../../ports/store.js';
import type { Topic } from './rig.js';

const keyOf = (value: string, tenantId = 'acme'): Identity => ({ tenantId, kind: 'key', value });

export const identity: Topic = {
  name: 'identity',
  cases: {
    'DEC-6 a key belongs to one job; a second start learns whose it is and creates nothing': async (rig) => {
      await rig.create(
        'job_key_1',
        {},
        { identities: [keyOf('k'), { tenantId: 'acme', kind: 'task_id', value: 't' }] },
      );
      const second = await rig.prepare('job_key_2', rig.createCommand('job_key_2'), {
        identities: [keyOf('other'), keyOf('k')],
      });
      deepStrictEqual((await rig.store.commit([second])).replies, [
        { ok: false, code: 'IDENTITY_TAKEN', owners: [null, 'job_key_1'] },
      ]);
      equal((await rig.store.load('job_key_2')).found, null);
      deepStrictEqual((await rig.store.resolve([keyOf('k'), keyOf('other')])).jobIds, ['job_key_1', null]);
    },
    'DEC-6 tenants and kinds do not share keys': async (rig) => {
      await rig.create('job_key_3', {}, { identities: [keyOf('k')] });
      await rig.create('job_key_4', {}, { identities: [keyOf('k', 'globex')] });
      await rig.create('job_key_5', {}, { identities: [{ tenantId: 'acme', kind: 'task_id', value: 'k' }] });
      deepStrictEqual((await rig.store.resolve([keyOf('k'), keyOf('k', 'globex')])).jobIds, [
        'job_key_3',
        'job_key_4',
      ]);
    },
    'RUN-2 an identity passes from the job that it names, once': async (rig) => {
      const latest = (replaces?: string): Identity => ({
        tenantId: 'acme',
        kind: 'latest_run',
        value: 'work',
        ...(replaces === undefined ? {} : { replaces }),
      });
      const start = async (jobId: string, replaces?: string) => {
        const extras = { identities: [latest(replaces)] };
        const item = await rig.prepare(jobId, rig.createCommand(jobId), extras);
        return (await rig.store.commit([item, item])).replies;
      };
      const taken = (owner: string) => ({ ok: false, code: 'IDENTITY_TAKEN', owners: [owner] });
      await rig.create('job_run_1', {}, { identities: [latest()] });
      deepStrictEqual(await start('job_run_2'), [taken('job_run_1'), taken('job_run_1')]);
      deepStrictEqual(await start('job_run_2', 'job_run_1'), [
        { ok: true, repeated: false },
        { ok: true, repeated: true },
      ]);
      deepStrictEqual(await start('job_run_3', 'job_run_1'), [taken('job_run_2'), taken('job_run_2')]);
      deepStrictEqual((await rig.store.resolve([latest()])).jobIds, ['job_run_2']);
      equal((await rig.store.load('job_run_3')).found, null);
    },
    'DEC-6 sixty-four concurrent starts of one key make one job': async (rig) => {
      const other = await rig.connect();
      const items = await Promise.all(
        Array.from({ length: 64 }, (_, i) =>
          rig.prepare(`job_rush_${i}`, rig.createCommand(`job_rush_${i}`), { identities: [keyOf('rush')] }),
        ),
      );
      const results = await Promise.all(items.map((item, i) => (i % 2 ? other : rig.store).commit([item])));
      const won = results.filter(({ replies }) => replies[0]?.ok);
      equal(won.length, 1);
      const { jobIds } = await rig.store.resolve([keyOf('rush')]);
      ok(jobIds[0]);
      for (const { replies } of results) {
        const [reply] = replies;
        if (reply && !reply.ok) deepStrictEqual(reply, { ok: false, code: 'IDENTITY_TAKEN', owners: jobIds });
      }
      equal((await rig.store.counts({ tenantId: null })).counts.queued, 1);
    },
  },
};
