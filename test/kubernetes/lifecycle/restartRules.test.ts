import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import { restartsAllContainers, shouldRestart } from '../../../kubernetes/lifecycle/restart.ts';
import { podConditions } from '../../../kubernetes/status/conditions.ts';
import type { PodView } from '../../../kubernetes/status/view.ts';
import { aContainer, aPod, problemsIn } from '../fixtures.ts';
import { podView } from '../views.ts';

type Rules = NonNullable<Container['restartPolicyRules']>;
const ruled = (rules: Rules, restartPolicy?: Container['restartPolicy']) =>
  aContainer({ restartPolicyRules: rules, ...(restartPolicy ? { restartPolicy } : {}) });
const on = (action: 'Restart' | 'RestartAllContainers', operator: 'In' | 'NotIn', values: number[]): Rules[number] => ({
  action,
  exitCodes: { operator, values },
});

describe('C5: restart rules', () => {
  const rules = [on('Restart', 'In', [1, 2]), on('RestartAllContainers', 'NotIn', [0, 1, 3])];
  const container = ruled(rules, 'Never');

  test.each([
    [0, false, false],
    [1, true, false],
    [2, true, false],
    [3, false, false],
    [4, true, true],
  ])('apply the first rule that matches exit code %i: restart: %s, restart all: %s', (exitCode, restarts, all) => {
    const pod = aPod({ containers: [container], restartPolicy: 'Never' });
    expect(shouldRestart({ pod, container, role: 'regular', run: { exitCode }, isPodTerminating: false })).toBe(
      restarts,
    );
    expect(restartsAllContainers(container, exitCode)).toBe(all);
  });

  test.each<[string, Container, string[]]>([
    ['of a container with a policy of its own are taken', container, []],
    [
      'need such a policy',
      ruled(rules),
      ['.restartPolicy: Required value: must specify restartPolicy when restart rules are used'],
    ],
    [
      'need exit codes',
      ruled([{ action: 'Restart' }], 'Never'),
      ['.restartPolicyRules[0].exitCodes: Required value: must be specified'],
    ],
    ['of no exit code never apply', ruled([on('Restart', 'In', [])], 'Never'), []],
    [
      'have at most 255 values',
      ruled(
        [
          on(
            'Restart',
            'In',
            Array.from({ length: 256 }, (_, code) => code),
          ),
        ],
        'Never',
      ),
      ['.restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items'],
    ],
    [
      'are at most 20',
      ruled(
        Array.from({ length: 21 }, () => on('Restart', 'In', [1])),
        'Never',
      ),
      ['.restartPolicyRules: Too many: 21: must have at most 20 items'],
    ],
  ])('%s', (_, each, problems) => {
    const found = problemsIn(aPod({ containers: [each] })).map(({ path, message }) => `${path}: ${message}`);
    expect(found).toEqual(problems.map((problem) => `spec.containers[0]${problem}`));
  });

  test('apply to a sidecar as well', () => {
    const sidecar = { ...ruled([on('RestartAllContainers', 'In', [1])], 'Always'), name: 'proxy' };
    expect(problemsIn(aPod({ initContainers: [sidecar] }))).toEqual([]);
  });
});

describe('C15: AllContainersRestarting', () => {
  const rule = on('RestartAllContainers', 'In', [1]);
  const pod = aPod({ containers: [ruled([rule], 'Never')] });
  const restartCondition = (view: PodView, phase: 'Running' | 'Succeeded' | 'Failed' = 'Running') =>
    podConditions({ view, phase, conditionPhase: phase, statuses: [], now: 0 }).find(
      ({ type }) => type === 'AllContainersRestarting',
    );

  test('is set only on pods with such a rule', () => {
    expect(restartCondition({ ...podView({}), pod: aPod() })).toBeUndefined();
    expect(restartCondition({ ...podView({}), pod })).toMatchObject({ status: 'False' });
  });

  test("has no observedGeneration, like a kubelet's", () => {
    const view = { ...podView({ meta: { generation: 3 } }), pod };
    const input = {
      view,
      phase: 'Running',
      conditionPhase: 'Running',
      statuses: [],
      now: 0,
      observedGeneration: 3,
    } as const;
    const generations = podConditions(input).map(({ type, observedGeneration }) => [type, observedGeneration]);
    expect(generations).toContainEqual(['Ready', 3]);
    expect(generations).toContainEqual(['AllContainersRestarting', undefined]);
  });

  test('is true during the restart', () => {
    const message = 'container exited with restart policy rule';
    const during = { status: 'True', reason: 'RestartAllContainersStarted', message };
    expect(restartCondition({ ...podView({}), pod, isRestartingAll: true })).toMatchObject(during);
  });

  test('shows how the pod terminated', () => {
    expect(restartCondition({ ...podView({}), pod }, 'Succeeded')).toMatchObject({
      status: 'False',
      reason: 'PodCompleted',
    });
    expect(restartCondition({ ...podView({}), pod }, 'Failed')).toMatchObject({ status: 'False', reason: 'PodFailed' });
  });
});
