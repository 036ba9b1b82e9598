import { onTestFinished } from 'vitest';
import { Cluster } from '../src/testkit/index.js';

/** Several applications on one store in memory. They end with the test. */
export function newCluster(): Cluster {
  const cluster = new Cluster();
  onTestFinished(() => cluster.stop());
  return cluster;
}
