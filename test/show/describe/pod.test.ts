import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { type CoreEvent, coreEvent } from '../../../kubernetes/events/event.ts';
import { type EventMessage, recordedEvent } from '../../../kubernetes/events/recordedEvent.ts';
import { formatLocalTime } from '../../../show/describe/formatLocalTime.ts';
import { describePod } from '../../../show/describe/pod.ts';
import { aPod } from '../../kubernetes/fixtures.ts';
import { NOW } from '../../kubernetes/views.ts';
import { everything } from './everything.ts';

const involved = { kind: 'Pod' as const, namespace: 'default', name: 'web-host', uid: 'u1' };

function event(note: EventMessage, [firstAgo, lastAgo]: [number, number], count = 1, fieldPath?: string): CoreEvent {
  const about = { ...involved, ...(fieldPath ? { fieldPath } : {}) };
  const times = { firstAt: NOW - firstAgo * 1_000, at: NOW - lastAgo * 1_000 };
  return coreEvent(recordedEvent(about, note), { host: 'host', name: 'e', count, ...times });
}

const main = 'spec.containers{main}';
const events = [
  event({ eventType: 'Warning', reason: 'BackOff', message: 'Back-off restarting' }, [180, 3], 7, main),
  event({ reason: 'Pulled', message: 'Container image "x" already present on machine' }, [200, 200], 1, main),
  event({ eventType: 'Warning', reason: 'FailedMount', message: 'MountVolume.SetUp failed' }, [20, 20]),
];

const golden = fileURLToPath(new URL('everything.txt', import.meta.url));
/** Times are formatted in the local time zone. */
const withoutTimes = (text: string) => text.replace(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} [+-]\d{4}/g, '<time>');

describe('a pod is described as by kubectl', () => {
  test('with all fields', () => {
    expect(withoutTimes(describePod(everything, events, NOW))).toBe(readFileSync(golden, 'utf8'));
  });

  test('without optional fields', () => {
    const text = describePod(aPod(), [], NOW);
    for (const line of ['Node: <none>', 'Labels: <none>', 'Annotations: <none>', 'IPs: <none>', 'Volumes: <none>']) {
      expect(text.replace(/ +/g, ' ').split('\n')).toContain(line);
    }
    expect(text).toMatch(/\n {4}Environment: {2}<none>\n {4}Mounts: {7}<none>\n/);
    expect(text).toMatch(/\nEvents: {2}<none>\n$/);
  });

  test('with the problems of its manifest', () => {
    const told = {
      manifestProblems: ['/a.yaml: spec: wrong'],
      manifestWarnings: ['/a.yaml: x: odd', '/a.yaml: y: odd'],
    };
    expect(describePod(aPod(), [], NOW, told)).toMatch(
      /\nManifest Problems: +\/a.yaml: spec: wrong\nManifest Warnings: +\/a.yaml: x: odd\n +\/a.yaml: y: odd\nEvents/,
    );
  });

  test.each([
    ['ImagePullBackOff', true],
    ['ErrImageNeverPull', true],
    ['ContainerCreating', false],
  ])('with the command that imports an image if it waits for one: %s', (reason, isAdvised) => {
    const container = { name: 'main', image: 'x', imageID: '', ready: false, restartCount: 0, started: false };
    const waiting = { ...container, state: { waiting: { reason } } };
    const pod = aPod();
    const text = describePod({ ...pod, status: { ...pod.status, containerStatuses: [waiting] } }, [], NOW);
    expect(text).toContain(`Reason:       ${reason}\n`);
    expect(text.includes('Advice:       "statelet image import FILE.tar" imports an image')).toBe(isAdvised);
  });

  test('while it is being deleted', () => {
    const metadata = {
      ...everything.metadata,
      deletionTimestamp: new Date(NOW - 5_000).toISOString(),
      deletionGracePeriodSeconds: 30,
    };
    expect(describePod({ ...everything, metadata }, [], NOW)).toMatch(
      /\nStatus: +Terminating \(lasts 5s\)\nTermination Grace Period: {2}30s\n/,
    );
  });
});

test('a time is formatted in the local time zone', () => {
  const text = formatLocalTime('2026-05-04T12:02:56Z');
  expect(text).toMatch(/^\w{3}, \d\d May 2026 \d\d:\d\d:56 [+-]\d{4}$/);
  expect(Date.parse(text)).toBe(NOW);
});
