import { describe, expect, test } from '@jest/globals';
import { shouldRestart } from '../../../kubernetes/lifecycle/restart.ts';
import { aContainer, aPod } from '../fixtures.ts';

const container = aContainer();

describe('C5: the decision to start a container', () => {
  test.each([
    ['Always', 0, true],
    ['Always', 1, true],
    ['OnFailure', 0, false],
    ['OnFailure', 1, true],
    ['Never', 0, false],
    ['Never', 1, false],
  ] as const)('with policy %s after exit code %i is %s', (restartPolicy, exitCode, expected) => {
    const pod = aPod({ restartPolicy });
    expect(shouldRestart({ pod, container, role: 'regular', run: { exitCode }, isPodTerminating: false })).toBe(
      expected,
    );
  });

  test('starts nothing in a terminating pod, not even a container that never ran', () => {
    for (const role of ['regular', 'init', 'sidecar', 'ephemeral'] as const) {
      expect(shouldRestart({ pod: aPod(), container, role, run: { exitCode: 1 }, isPodTerminating: true })).toBe(false);
      expect(shouldRestart({ pod: aPod(), container, role, isPodTerminating: true })).toBe(false);
    }
  });

  test('starts a container that never ran or whose exit is unknown, under every policy', () => {
    const pod = aPod({ restartPolicy: 'Never' });
    expect(shouldRestart({ pod, container, role: 'regular', isPodTerminating: false })).toBe(true);
    expect(shouldRestart({ pod, container, role: 'regular', run: {}, isPodTerminating: false })).toBe(true);
  });

  test.each([
    ['init', 'Always', 0, false],
    ['init', 'Always', 1, true],
    ['init', 'Never', 1, false],
    ['sidecar', 'Never', 0, true],
    ['sidecar', 'Never', 1, true],
    ['ephemeral', 'Always', 1, false],
  ] as const)('with role %s and policy %s after exit code %i is %s', (role, restartPolicy, exitCode, expected) => {
    const pod = aPod({ restartPolicy });
    expect(shouldRestart({ pod, container, role, run: { exitCode }, isPodTerminating: false })).toBe(expected);
  });

  test('follows the policy of the container rather than that of the pod', () => {
    const decide = (own: 'Always' | 'Never', pod: 'Always' | 'Never') =>
      shouldRestart({
        pod: aPod({ restartPolicy: pod }),
        container: aContainer({ restartPolicy: own }),
        role: 'regular',
        run: { exitCode: 1 },
        isPodTerminating: false,
      });
    expect(decide('Always', 'Never')).toBe(true);
    expect(decide('Never', 'Always')).toBe(false);
  });

  test.each([
    ['In', [42], 42, true],
    ['In', [42], 1, false],
    ['NotIn', [42], 1, true],
    ['NotIn', [42], 42, false],
  ] as const)('with a rule %s %j after exit code %i is %s', (operator, values, exitCode, expected) => {
    const ruled = aContainer({
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator, values: [...values] } }],
    });
    expect(
      shouldRestart({ pod: aPod(), container: ruled, role: 'regular', run: { exitCode }, isPodTerminating: false }),
    ).toBe(expected);
  });
});
