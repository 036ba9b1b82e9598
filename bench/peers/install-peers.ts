import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FOLDER } from './peer.js';

const MANIFESTS = fileURLToPath(new URL('../../../bench/peers/', import.meta.url));
const [WANTED, LOCK] = ['package.json', 'package-lock.json'];

/** Installs the peers in their exact versions, unless they are there. No package's own scripts are run: none needs them here. */
export function installPeers(): void {
  const isThere = existsSync(join(FOLDER, 'node_modules/.package-lock.json'));
  if (isThere && read(FOLDER, WANTED) === read(MANIFESTS, WANTED)) return;
  console.error(`installing peers into ${FOLDER}`);
  mkdirSync(FOLDER, { recursive: true });
  for (const name of [WANTED, LOCK, '.npmrc']) cpSync(join(MANIFESTS, name), join(FOLDER, name));
  execFileSync('npm', ['install', '--ignore-scripts', '--loglevel=error'], { cwd: FOLDER, stdio: 'inherit' });
}

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');
