import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { ContainerState, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { isRepeatingInit, isTransitionIllegal } from '../../../kubernetes/status/transitions.ts';
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

/** Whether a pod with one container may be reported as running after it was reported as terminated. */
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

describe('C5: a terminated container may be reported as running again if', () => {
  test.each([
    ['Always', 0, true],
    ['Always', 1, true],
    ['OnFailure', 0, false],
    ['OnFailure', 1, true],
    ['Never', 0, false],
    ['Never', 1, false],
  ] as const)('its pod has the restartPolicy %s, after exit code %i: %s', (policy, exitCode, expected) => {
    expect(mayRun('regular', exitCode, policy)).toBe(expected);
    expect(mayRun('init', exitCode, policy)).toBe(expected);
    expect(mayRun('ephemeral', exitCode, policy)).toBe(false);
  });

  test('its own policy or a rule allows it', () => {
    expect(mayRun('init', 0, 'Never', { restartPolicy: 'Always' })).toBe(true);
    expect(mayRun('regular', 0, 'Always', { restartPolicy: 'Never' })).toBe(false);
    const restartPolicyRules = [{ action: 'Restart' as const, exitCodes: { operator: 'In' as const, values: [42] } }];
    expect(mayRun('regular', 42, 'Never', { restartPolicy: 'Never', restartPolicyRules })).toBe(true);
    expect(mayRun('regular', 41, 'Never', { restartPolicy: 'Never', restartPolicyRules })).toBe(false);
  });

  test('any container of the pod can restart all containers', () => {
    const exitCodes = { operator: 'In' as const, values: [42] };
    const restartPolicyRules = [{ action: 'RestartAllContainers' as const, exitCodes }];
    expect(mayRun('regular', 0, 'Never', { restartPolicy: 'Never', restartPolicyRules })).toBe(true);
  });
});

test('C5: an unchanged container and one that terminates again are ignored', () => {
  const { pod } = podView({ main: { a: running() }, spec: { restartPolicy: 'Never' } });
  expect(isTransitionIllegal(pod, status('regular', ended(0)), status('regular', ended(1)))).toBe(false);
  expect(isTransitionIllegal(pod, status('regular', { waiting: {} }), status('regular', { running: {} }))).toBe(false);
  expect(isTransitionIllegal(pod, status('regular', ended(0)), { phase: 'Running' })).toBe(false);
});

describe('C3: a successful init container that runs again', () => {
  const spec = { restartPolicy: 'OnFailure' } as const;

  test('is recognized by its last run', () => {
    expect(isRepeatingInit(podView({ init: { a: running({ lastRun: run(0) }) }, main: { b: waiting() }, spec }))).toBe(
      true,
    );
    expect(isRepeatingInit(podView({ init: { a: waiting('ErrImagePull', { lastRun: run(0) }) }, spec }))).toBe(true);
  });

  test('is ignored if it has terminated again, had failed, runs first, may always run, or is a sidecar', () => {
    const others = [
      podView({ init: { a: exited(0, { lastRun: run(0) }) }, spec }),
      podView({ init: { a: running({ lastRun: run(1) }) }, spec }),
      podView({ init: { a: running() }, spec }),
      podView({ init: { a: running({ lastRun: run(0) }) } }),
      podView({ sidecars: { a: running({ lastRun: run(0) }) }, spec }),
      podView({ init: { a: null }, spec }),
    ];
    expect(others.map(isRepeatingInit)).toEqual(others.map(() => false));
  });
});
