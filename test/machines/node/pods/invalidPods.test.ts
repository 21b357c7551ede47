import { expect, test } from '@jest/globals';
import { invalidPodEvents } from '../../../../machines/node/pods/invalidPods.ts';
import type { SourceProblem } from '../../../../machines/shared/events/events.ts';

const problem = (uid: string, message: string): SourceProblem => ({
  file: 'pod shop/web',
  pod: 'shop/web',
  path: 'spec.dnsPolicy',
  message,
  uid,
});
const listed = (...problems: readonly SourceProblem[]) =>
  ({ type: 'config.podsListed', source: 'api', pods: [], problems, at: 0 }) as const;
const nothing = { problems: {} };

test('all problems of a pod are one event about the object at the server', () => {
  const events = invalidPodEvents(nothing, listed(problem('1', 'odd'), problem('1', 'odder'), problem('2', 'odd')));
  expect(events.map(({ involved: { uid } }) => uid)).toEqual(['1', '2']);
  expect(events[0]).toMatchObject({
    eventType: 'Warning',
    reason: 'FailedValidation',
    involved: { kind: 'Pod', apiVersion: 'v1', namespace: 'shop', name: 'web' },
    message: 'Error validating pod web_shop(1) from api, ignoring: spec.dnsPolicy: odd; spec.dnsPolicy: odder',
  });
});

test('the same problems are not recorded again, different ones are', () => {
  const known = { problems: { api: [problem('1', 'odd')] } };
  expect(invalidPodEvents(known, listed(problem('1', 'odd')))).toEqual([]);
  expect(invalidPodEvents(known, listed(problem('1', 'odder')))).toHaveLength(1);
});

test('a file has no object for an event', () => {
  expect(invalidPodEvents(nothing, listed({ file: '/etc/web.yaml', path: '', message: 'odd' }))).toEqual([]);
});

test('a long list of reasons is truncated', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => problem('1', `odd ${index}`));
  expect(invalidPodEvents(nothing, listed(...many))[0]?.message.length).toBeLessThan(1_200);
});
