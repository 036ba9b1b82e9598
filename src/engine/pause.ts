import { PawlError } from '../errors.js';
import type { Engine } from './engine.js';

/** So long. Throws APP_CLOSED if the application is closed first: nobody is left then to wake whoever waits. */
export function pause({ alarms }: Pick<Engine, 'alarms'>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void =>
      reject(new PawlError('APP_CLOSED', { detail: 'it cannot wait until it may ask again' }));
    if (alarms.isStopped) giveUp();
    else alarms.set(ms, resolve, giveUp);
  });
}
