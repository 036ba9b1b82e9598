import { parseArgs } from 'node:util';
import { PEER_NAMES } from '../peers/peer.js';
import { WORKLOADS, type Scale, type Workload } from '../workloads/workload.js';
import type { StoreKind } from './databases.js';

const STORES: readonly StoreKind[] = ['memory', 'sqlite', 'postgres'];
const SCALES: readonly Scale[] = ['tiny', 'small', 'full'];

export type Options = {
  readonly stores: readonly StoreKind[];
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly scale: Scale;
  readonly json: string | null;
  readonly svg: string | null;
  readonly profiles: string | null;
  readonly peers: readonly string[];
};

export const HELP = `Measures Pawl on its stores, beside the raw database doing the least SQL for the same work.

  --store memory,sqlite,postgres   where jobs live; all three unless told otherwise
  --only drain,step                some workloads only: ${WORKLOADS.map(({ id }) => id).join(', ')}
  --rounds 3                       how often; the middle is shown, and how far rounds lie apart
  --scale tiny | small | full      how much; full is what the bars are for
  --json FILE                      everything that was found
  --svg FILE                       a chart
  --profile FOLDER                 a CPU profile of every process of Pawl's
  --peers pg-boss,restate          with bench:peers, some only: ${PEER_NAMES.join(', ')}
  --help`;

/** Throws an error whose message is for people. */
export function readOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: text,
      only: text,
      rounds: text,
      scale: text,
      json: text,
      svg: text,
      profile: text,
      peers: text,
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return 'help';
  const rounds = Number(values.rounds ?? 3);
  if (!(Number.isInteger(rounds) && rounds > 0))
    throw new Error(`--rounds ${values.rounds} is no whole number above 0`);
  const ids = WORKLOADS.map(({ id }) => id);
  const wanted = some('only', values.only, ids);
  return {
    stores: some('store', values.store, STORES),
    workloads: WORKLOADS.filter(({ id }) => wanted.includes(id)),
    rounds,
    scale: some('scale', values.scale ?? 'full', SCALES)[0] ?? 'full',
    json: values.json ?? null,
    svg: values.svg ?? null,
    profiles: values.profile ?? null,
    peers: some('peers', values.peers, PEER_NAMES),
  };
}

function some<T extends string>(
  option: string,
  given: string | undefined,
  known: readonly T[],
): readonly T[] {
  if (given === undefined) return known;
  const names = given.split(',');
  const unknown = names.find((name) => !known.some((one) => one === name));
  if (unknown !== undefined) throw new Error(`--${option} ${unknown}: there are ${known.join(', ')}`);
  return known.filter((one) => names.includes(one));
}
