import type { Peer } from './peer.js';

const REASON = 'its npm package has the SDK without the SQL schema that it works on';

export const peer: Peer = {
  name: 'absurd',
  packages: ['absurd-sdk'],
  settings: `not run: ${REASON}`,
  on: 'postgres',
  cannot: {
    'single-starts': REASON,
    'bulk-starts': REASON,
    drain: REASON,
    'five-steps': REASON,
    step: REASON,
    'pick-up': REASON,
  },
  open: () => Promise.reject(new Error(REASON)),
};
