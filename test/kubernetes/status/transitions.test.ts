import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { ContainerState, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { isInitRepeated, isTransitionIllegal } from '../../../kubernetes/status/transitions.ts';
import { exited, podView, run, running, waiting } from '../views.ts';

const ended = (exitCode: number): ContainerState => ({ terminated: { exitCode } });
const lists = {
  init: 'initContainerStatuses',
  regular: 'containerStatuses',
  ephemeral: 'ephemeralContainerStatuses',
} as const;
type Role = keyof typeof lists;

const status = (role: Role, state: ContainerState): PodStatus => ({
  phase: 'Running',
  [lists[role]]: [{ name: 'a', state, restartCount: 0, ready: false, image: '', imageID: '' }],
});

/** Whether a pod of one container may be told to run after it was told to have ended. */
function mayRun(
  role: Role,
  exitCode: number,
  restartPolicy: NonNullable<PodSpec['restartPolicy']>,
  own: Partial<Container> = {},
) {
  const { pod } = podView({ [role === 'regular' ? 'main' : role]: { a: running() } });
  const spec = { ...pod.spec, restartPolicy };
  const container = { name: 'a', image: 'a:1', ...own };
  if (role === 'init') spec.initContainers = [container];
  if (role === 'regular') spec.containers = [container];
  return !isTransitionIllegal({ ...pod, spec }, status(role, ended(exitCode)), status(role, { running: {} }));
}

describe('C5: a container that was told to have ended is told to run again where', () => {
  test.each([
    ['Always', 0, true],
    ['Always', 1, true],
    ['OnFailure', 0, false],
    ['OnFailure', 1, true],
    ['Never', 0, false],
    ['Never', 1, false],
  ] as const)('its pod restarts %s, after exit code %i: %s', (policy, exitCode, expected) => {
    expect(mayRun('regular', exitCode, policy)).toBe(expected);
    expect(mayRun('init', exitCode, policy)).toBe(expected);
    expect(mayRun('ephemeral', exitCode, policy)).toBe(false);
  });

  test('its own policy or a rule says so', () => {
    expect(mayRun('init', 0, 'Never', { restartPolicy: 'Always' })).toBe(true);
    expect(mayRun('regular', 0, 'Always', { restartPolicy: 'Never' })).toBe(false);
    const restartPolicyRules = [{ action: 'Restart' as const, exitCodes: { operator: 'In' as const, values: [42] } }];
    expect(mayRun('regular', 42, 'Never', { restartPolicy: 'Never', restartPolicyRules })).toBe(true);
    expect(mayRun('regular', 41, 'Never', { restartPolicy: 'Never', restartPolicyRules })).toBe(false);
  });

  test('any of its pod may restart all', () => {
    const exitCodes = { operator: 'In' as const, values: [42] };
    const restartPolicyRules = [{ action: 'RestartAllContainers' as const, exitCodes }];
    expect(mayRun('regular', 0, 'Never', { restartPolicy: 'Never', restartPolicyRules })).toBe(true);
  });
});

test('C5: what goes on as it was, or ends another time, is no transition', () => {
  const { pod } = podView({ main: { a: running() }, spec: { restartPolicy: 'Never' } });
  expect(isTransitionIllegal(pod, status('regular', ended(0)), status('regular', ended(1)))).toBe(false);
  expect(isTransitionIllegal(pod, status('regular', { waiting: {} }), status('regular', { running: {} }))).toBe(false);
  expect(isTransitionIllegal(pod, status('regular', ended(0)), { phase: 'Running' })).toBe(false);
});

describe('C3: an init container that had succeeded and runs again', () => {
  const spec = { restartPolicy: 'OnFailure' } as const;

  test('is known by its last run', () => {
    expect(isInitRepeated(podView({ init: { a: running({ last: run(0) }) }, main: { b: waiting() }, spec }))).toBe(
      true,
    );
    expect(isInitRepeated(podView({ init: { a: waiting('ErrImagePull', { last: run(0) }) }, spec }))).toBe(true);
  });

  test('is none where it has ended again, had failed, runs first, may always run, or is a sidecar', () => {
    const others = [
      podView({ init: { a: exited(0, { last: run(0) }) }, spec }),
      podView({ init: { a: running({ last: run(1) }) }, spec }),
      podView({ init: { a: running() }, spec }),
      podView({ init: { a: running({ last: run(0) }) } }),
      podView({ sidecars: { a: running({ last: run(0) }) }, spec }),
      podView({ init: { a: null }, spec }),
    ];
    expect(others.map(isInitRepeated)).toEqual(others.map(() => false));
  });
});
