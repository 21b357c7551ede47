import { expect, test } from '@jest/globals';
import pino from 'pino';
import { logStatuses } from '../../cli/statusLog.ts';
import type { PodView } from '../../pod/view.ts';
import { fakeAgent } from '../fakes/agent.ts';
import { NOW, podView, waiting } from '../pod/views.ts';

/** The messages that are logged while a pod goes through these views. */
function logOf(...views: PodView[]): string[] {
  const agent = fakeAgent({ now: NOW });
  const lines: string[] = [];
  logStatuses(agent, pino({ base: {} }, { write: (line) => lines.push(String(JSON.parse(line).msg)) }));
  for (const view of views) agent.show(view);
  return lines;
}

test('a refused pod is logged with why, and with its namespace', () => {
  const refused = { reason: 'OutOfcpu', message: 'too few cores' };
  const view = { state: 'terminated', ended: true, refused };
  expect(logOf(podView({ main: {}, meta: { name: 'web-host', namespace: 'shop' }, view }))).toEqual([
    expect.stringMatching(/^pod shop\/web-host: Failed \(OutOfcpu: .*too few cores\)$/),
  ]);
});

test('a failure of an actor is logged once', () => {
  const lastFailure = { reason: 'ErrImagePull', message: 'no such host', retryable: true, at: NOW };
  const failing = podView({ main: { app: waiting('ErrImagePull', { lastFailure }) } });
  expect(logOf(failing, failing)).toEqual(['pod web, container app: ErrImagePull: no such host', 'pod web: Pending']);
});
