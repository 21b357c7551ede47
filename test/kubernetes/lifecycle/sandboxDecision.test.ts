import { describe, expect, test } from '@jest/globals';
import type { ObservedContainer, ObservedSandbox } from '../../../kubernetes/lifecycle/observed.ts';
import { type SandboxDecisionInput, sandboxDecision } from '../../../kubernetes/lifecycle/sandboxDecision.ts';
import { NOW, podView, sandbox, UID } from '../views.ts';

const box = (attempt: number, more: Partial<ObservedSandbox> = {}): ObservedSandbox => ({
  ...sandbox('10.88.0.5'),
  id: `s${attempt}`,
  attempt,
  ...more,
});

const container = (state: ObservedContainer['state']): ObservedContainer => ({
  id: 'c1',
  sandboxId: 's0',
  podUid: UID,
  name: 'a',
  attempt: 0,
  createdAt: NOW,
  state,
  hash: 'h',
  image: 'a:1',
  imageRef: 'sha256:ab',
});

interface Given extends Partial<Pick<SandboxDecisionInput, 'hasContainersToStart' | 'restartsAll'>> {
  readonly policy?: 'Always' | 'Never' | 'OnFailure';
  readonly hostNetwork?: boolean;
  readonly sandboxes: readonly ObservedSandbox[];
  readonly containers?: readonly ObservedContainer[];
}

function decide({
  policy = 'Always',
  hostNetwork = false,
  sandboxes,
  containers = [],
  hasContainersToStart = true,
  restartsAll: mustRestartAll = false,
}: Given) {
  const { pod } = podView({ main: { a: null }, spec: { restartPolicy: policy, hostNetwork } });
  return sandboxDecision({
    pod,
    observed: { sandboxes, containers },
    hasContainersToStart,
    restartsAll: mustRestartAll,
  });
}

const lost = box(2, { state: 'notReady' });

describe('C8: a sandbox is retained', () => {
  test('if it is ready and has an address', () => expect(decide({ sandboxes: [box(0)] })).toBe('keep'));

  test('if older ones are not ready', () =>
    expect(decide({ sandboxes: [box(1), box(0, { state: 'notReady' })] })).toBe('keep'));

  test('if a list does not contain its address', () => {
    const { ips: _ips, ...listed } = box(0);
    expect(decide({ sandboxes: [listed] })).toBe('keep');
  });

  test('without an address on the host network', () =>
    expect(decide({ hostNetwork: true, sandboxes: [box(0, { ips: [], hostNetwork: true })] })).toBe('keep'));

  test('even if there is nothing left to start', () =>
    expect(decide({ sandboxes: [box(0)], hasContainersToStart: false })).toBe('keep'));
});

describe('C8: a sandbox is created', () => {
  test('as attempt 0 if the runtime has none', () => {
    const { pod } = podView({ main: { a: null } });
    expect(sandboxDecision({ pod, hasContainersToStart: true })).toEqual({
      recreate: 0,
      reason: 'the pod has no sandbox yet',
    });
  });

  test.each<[string, Given]>([
    ['the sandbox is not ready', { sandboxes: [lost] }],
    ['more than one sandbox is ready', { sandboxes: [box(2), box(1)] }],
    ['the sandbox has no address', { sandboxes: [box(2, { ips: [] })] }],
    ['the network mode changed', { sandboxes: [box(2, { hostNetwork: true })] }],
    ['the network mode changed', { hostNetwork: true, sandboxes: [box(2, { hostNetwork: false })] }],
  ])('with the next attempt if %s', (reason, given) => {
    expect(decide(given)).toEqual({ recreate: 3, reason });
  });

  test('C5: if all containers restart, even those that run once', () => {
    const given = { policy: 'Never', sandboxes: [lost], containers: [container('exited')] } as const;
    expect(decide(given)).toBe('none');
    expect(decide({ ...given, restartsAll: true })).toMatchObject({ recreate: 3 });
  });

  test('if the newest one is not ready, although an older one is', () =>
    expect(decide({ sandboxes: [lost, box(1)] })).toEqual({ recreate: 3, reason: 'the sandbox is not ready' }));

  test('after the newest attempt, whatever their order', () =>
    expect(decide({ sandboxes: [box(1, { state: 'notReady' }), lost] })).toMatchObject({ recreate: 3 }));

  test.each(['Always', 'OnFailure'] as const)('for containers that ran under policy %s', (policy) =>
    expect(decide({ policy, sandboxes: [lost], containers: [container('exited')] })).toMatchObject({ recreate: 3 }),
  );

  test('under Never if no container was created', () =>
    expect(decide({ policy: 'Never', sandboxes: [lost], containers: [] })).toMatchObject({ recreate: 3 }));

  test('under Never for a created container that has not run, if there is no sandbox', () =>
    expect(decide({ policy: 'Never', sandboxes: [], containers: [container('created')] })).toMatchObject({
      recreate: 0,
    }));
});

describe('C8: no sandbox is created', () => {
  test.each(['created', 'running', 'exited', 'unknown'] as const)('under Never when a container is %s', (state) =>
    expect(decide({ policy: 'Never', sandboxes: [lost], containers: [container(state)] })).toBe('none'),
  );

  test('if there is nothing left to start', () =>
    expect(decide({ policy: 'OnFailure', sandboxes: [lost], hasContainersToStart: false })).toBe('none'));
});
