import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { OpenSystem } from '../workloads/system.js';
import type { WorkloadId } from '../workloads/workload.js';

/** A job system that Pawl is compared with. Its packages are there only once `npm run bench:peers` has installed them. */
export type Peer = {
  readonly name: string;
  readonly packages: readonly string[];
  /** In words: what it was set to, as its documentation advises for load. */
  readonly settings: string;
  readonly on: 'postgres' | 'sqlite' | 'redis' | 'restate';
  /** Why it does not do a workload. */
  readonly cannot?: Readonly<Partial<Record<WorkloadId, string>>>;
  /** A slow one is asked for less, or a run would take hours. */
  readonly share?: Readonly<Partial<Record<WorkloadId, number>>>;
  readonly open: OpenSystem;
};

export const NO_STEPS = 'it has no durable steps';

/** In the order of the table. */
export const PEER_NAMES = [
  'graphile-worker',
  'pg-boss',
  'bullmq',
  'dbos',
  'restate',
  'openworkflow',
  'openworkflow-sqlite',
  'absurd',
] as const;

export async function peerNamed(name: string): Promise<Peer> {
  const { peer } = (await import(`./${name}.js`)) as { peer: Peer };
  return peer;
}

/** Where they are installed: beside this file, which runs from `.build`. */
export const FOLDER = fileURLToPath(new URL('../../peers/', import.meta.url));

const require = createRequire(`${FOLDER}package.json`);

export const resolved = (id: string): string => require.resolve(id);

/** Loads a package of a peer. Its types are not there when this is compiled: each peer says what it uses. */
export async function load<T>(id: string): Promise<T> {
  return (await import(pathToFileURL(resolved(id)).href)) as T;
}

/** Loads a package that is CommonJS, so that its classes are those that other packages there use. */
export const loadHere = <T>(id: string): T => require(id) as T;

export function versionOf(id: string): string {
  const { version } = JSON.parse(readFileSync(`${FOLDER}node_modules/${id}/package.json`, 'utf8')) as {
    version: string;
  };
  return `${id} ${version}`;
}
