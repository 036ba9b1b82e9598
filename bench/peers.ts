/**
 * Pawl beside other job systems, in one run: `npm run bench:peers`, `npm run bench:peers -- --help`. They are installed into
 * .build/peers, as nobody's dependencies, and set up as their documentation advises for load. All run on the same Node.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from './harness/options.js';
import { aboutHere, report } from './harness/report.js';
import { COLLECTOR } from './harness/run-apart.js';
import { runBench, type Ground } from './harness/run-bench.js';
import { runRounds, type Found, type Subject } from './harness/rounds.js';
import { installPeers } from './peers/install-peers.js';
import { FOLDER, peerNamed, versionOf, type Peer } from './peers/peer.js';
import { Servers } from './peers/servers.js';
import { pawlOn } from './subjects.js';

/** Some peers want a newer Node than Pawl does. It comes from npm with them. */
const LEAST_NODE = 22;

function nodeForAll(): string {
  const own = Number(process.versions.node.split('.')[0]) >= LEAST_NODE;
  const fromNpm = join(FOLDER, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  return own || !existsSync(fromNpm) ? process.execPath : fromNpm;
}

async function subjectOf(peer: Peer, servers: Servers, node: string): Promise<Subject> {
  const { name, share = {}, cannot = {} } = peer;
  const place = await servers.placeOf(peer);
  return {
    id: `peer ${name}`,
    on: typeof place === 'object' ? 'memory' : place,
    node,
    share,
    cannot: ({ id }) => (typeof place === 'object' ? place.reason : (cannot[id] ?? null)),
  };
}

async function bench(options: Options, { databases, afterwards }: Ground): Promise<boolean> {
  installPeers();
  const node = nodeForAll();
  const { rounds, scale, stores, profiles } = options;
  const servers = new Servers();
  afterwards(() => servers.stop());
  const about = [
    ...aboutHere(),
    `all subjects on Node ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()} with ${COLLECTOR.join(' ')}`,
    `Postgres: ${await databases.postgresSettings()}`,
  ];
  const durable = stores.filter((store) => store !== 'memory');
  const subjects: Subject[] = durable.map((store) => ({
    id: pawlOn(store),
    on: store,
    node,
    profiles: profiles ?? undefined,
  }));
  for (const name of options.peers) {
    const peer = await peerNamed(name);
    subjects.push(await subjectOf(peer, servers, node));
    about.push(`${name}: ${peer.packages.map(versionOf).join(', ')}${servers.about(peer)}; ${peer.settings}`);
  }
  const found: Found[] = [];
  for (const workload of options.workloads.filter(({ alone }) => !alone)) {
    found.push(...(await runRounds(databases, { workload, subjects, rounds, scale }, console.error)));
  }
  return report({ options, found, about });
}

await runBench(bench);
