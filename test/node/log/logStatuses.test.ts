import { describe, expect, test } from '@jest/globals';
import pino from 'pino';
import { involvedPod, recordedEvent } from '../../../kubernetes/events/recordedEvent.ts';
import { logStatuses } from '../../../node/log/logStatuses.ts';
import { type FakeAgent, fakeAgent } from '../../fakes/agent.ts';
import { NOW, podView, type ShownPod, waiting } from '../../kubernetes/views.ts';

/** Returns the messages that are logged for a pod that has these views one after the other. */
function logOf(...views: ShownPod[]): string[] {
  return logWhile((agent) => {
    for (const view of views) agent.show(view);
  });
}

const logWhile = (happens: (agent: FakeAgent) => void): string[] => linesWhile(happens).map(({ msg }) => String(msg));

function linesWhile(happens: (agent: FakeAgent) => void): Record<string, unknown>[] {
  const agent = fakeAgent({ now: NOW });
  const lines: Record<string, unknown>[] = [];
  logStatuses(agent, pino({ base: {} }, { write: (line) => lines.push(JSON.parse(line)) }));
  happens(agent);
  return lines;
}

test('a rejected pod is logged with the reason and its namespace', () => {
  const refused = { reason: 'OutOfcpu', message: 'too few cores' } as const;
  const view = { state: 'terminated', hasEnded: true, refusal: refused };
  expect(logOf(podView({ main: {}, meta: { name: 'web-host', namespace: 'shop' }, view }))).toEqual([
    expect.stringMatching(/^pod shop\/web-host: Failed \(OutOfcpu: .*too few cores\)$/),
  ]);
});

test('a failure of an actor is logged once', () => {
  const lastFailure = { reason: 'ErrImagePull', message: 'no such host', at: NOW } as const;
  const failing = podView({ main: { app: waiting('ErrImagePull', { lastFailure }) } });
  expect(logOf(failing, failing)).toEqual(['pod web, container app: ErrImagePull: no such host', 'pod web: Pending']);
});

test('an unavailable runtime is not reported again for each pod', () => {
  const lastFailure = { reason: 'RuntimeUnavailable', message: 'nobody listens', at: NOW } as const;
  const failing = (uid: string) =>
    podView({
      main: { app: waiting('ContainerCreating', { lastFailure }) },
      meta: { uid, name: uid },
      view: { lastFailure },
    });
  expect(logOf(failing('one'), failing('two'))).toEqual(['pod one: Pending', 'pod two: Pending']);
});

test('a hanging call is reported for its pod while the runtime is ready, but not while it is unavailable', () => {
  const message = 'RunPodSandbox: the runtime did not answer within 240000 ms';
  const lastFailure = { reason: 'RuntimeUnavailable', message, at: NOW } as const;
  const failing = podView({ main: { app: waiting('ContainerCreating', { lastFailure }) } });
  const logWith = (state: string) =>
    logWhile((agent) => {
      agent.become({ runtime: { name: 'containerd', version: '2.1', state, since: NOW } });
      agent.show(failing);
    });
  expect(logWith('ready')).toEqual([`pod web, container app: RuntimeUnavailable: ${message}`, 'pod web: Pending']);
  expect(logWith('not ready')).toEqual(['pod web: Pending']);
});

test('the logged state of a pod is dropped when the pod is removed, but not that of a pod whose UID starts the same', () => {
  const lastFailure = { reason: 'ErrImagePull', message: 'no such host', at: NOW } as const;
  const failing = (uid: string): ShownPod => {
    const view = podView({ main: { app: waiting('ErrImagePull', { lastFailure }) }, meta: { uid, name: uid } });
    const path = `pod/${uid}`;
    return { ...view, path, containers: view.containers.map((each) => ({ ...each, path: `${path}/container/app` })) };
  };
  const lines = logWhile((agent) => {
    agent.show(failing('web-1'));
    agent.show(failing('web-10'));
    agent.remove(failing('web-1'));
    agent.show(failing('web-10'));
  });
  expect(lines.filter((line) => line.includes('web-10'))).toEqual([
    'pod web-10, container app: ErrImagePull: no such host',
    'pod web-10: Pending',
  ]);
});

describe('events', () => {
  test('are logged with the objects that they concern', () => {
    const odd = { eventType: 'Warning', reason: 'Odd', message: 'odd' } as const;
    const pod = involvedPod(podView({ main: {}, meta: { name: 'web', namespace: 'shop' } }).pod);
    const lines = linesWhile((agent) => {
      for (const about of [pod, { kind: 'Node', name: 'host', uid: 'host' } as const])
        agent.record({ ...recordedEvent(about, odd), at: NOW });
    });
    expect(lines.map(({ object }) => object)).toEqual(['shop/web', 'host']);
  });

  const involved = involvedPod(podView({ main: {} }).pod, { name: 'app', role: 'regular' });
  const failed = (message: string) =>
    ({ ...recordedEvent(involved, { eventType: 'Warning', reason: 'Failed', message }), at: NOW }) as const;

  test('are logged once if they are warnings, and the failures that they report are not logged again', () => {
    const lastFailure = { reason: 'ErrImagePull', message: 'no such host', at: NOW } as const;
    const failing = podView({ main: { app: waiting('ErrImagePull', { lastFailure }) } });
    const lines = logWhile((agent) => {
      agent.record(failed('Failed to pull image "app": no such host'));
      agent.record(failed('Failed to pull image "app": no such host'));
      agent.show(failing);
    });
    expect(lines).toEqual([
      'pod web, container app: Failed: Failed to pull image "app": no such host',
      'pod web: Pending',
    ]);
  });

  test('of type Normal are logged for debugging only', () => {
    expect(logWhile((agent) => agent.record({ ...failed('all is well'), eventType: 'Normal' }))).toEqual([]);
  });

  test('about a missing cluster DNS are logged only for the node', () => {
    const missing = { eventType: 'Warning', reason: 'MissingClusterDNS', message: 'no clusterDNS' } as const;
    const lines = logWhile((agent) => {
      agent.record({ ...recordedEvent(involved, missing), at: NOW });
      agent.record({ ...recordedEvent({ kind: 'Node', name: 'host', uid: 'host' }, missing), at: NOW });
    });
    expect(lines).toEqual(['node host: MissingClusterDNS: no clusterDNS']);
  });
});
