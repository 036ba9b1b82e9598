import { onTestFinished } from 'vitest';
import { ApiRig, type RigOptions } from './api-rig.js';
import { EventReader, type StreamEvent } from './event-reader.js';

export const EVENTS = '/api/v1/events';

export async function rigOf(options: RigOptions = {}): Promise<ApiRig> {
  const rig = await ApiRig.start(options);
  onTestFinished(() => rig.stop());
  return rig;
}

export async function start(rig: ApiRig, body: object = {}, key = 'operator'): Promise<string> {
  const { data } = await rig.post('/api/v1/jobs', { job_type: 'w', payload: { n: 'ü\n' }, ...body }, { key });
  return String(data['job_id']);
}

export const streamOf = (id: string) => `/api/v1/jobs/${id}/stream`;
export const namesOf = (events: readonly StreamEvent[]) =>
  events.map(({ data }) => (data as { event_id: string }).event_id);
export const resumed = (rig: ApiRig, path: string, id: string) =>
  EventReader.open(rig, path, { headers: { 'last-event-id': id } });
