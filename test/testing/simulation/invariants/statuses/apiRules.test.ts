import { describe, expect, test } from '@jest/globals';
import type { PodSpec } from '../../../../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus, PodStatus } from '../../../../../kubernetes/api/schema/status.ts';
import { refusals } from '../../../../../testing/simulation/invariants/statuses/apiRules.ts';

const AT = '2026-01-01T00:00:00Z';
const status = (name: string, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name,
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { running: { startedAt: AT } },
  lastState: {},
  ...more,
});
const sound: PodStatus = {
  phase: 'Running',
  startTime: AT,
  qosClass: 'Burstable',
  hostIP: '192.0.2.1',
  hostIPs: [{ ip: '192.0.2.1' }],
  podIP: '10.0.0.1',
  podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: AT }],
  initContainerStatuses: [status('setup', { state: { terminated: { exitCode: 0, finishedAt: AT } } })],
  containerStatuses: [status('main')],
};
const spec: PodSpec = {
  restartPolicy: 'OnFailure',
  initContainers: [{ name: 'setup', image: 'i' }],
  containers: [{ name: 'main', image: 'i' }],
};

test('a valid status is accepted, first and after itself', () => {
  expect(refusals(sound)).toEqual([]);
  expect(refusals(sound, sound, spec)).toEqual([]);
});

const ready = { type: 'Ready', status: 'True' } as const;
const bad: Readonly<Record<string, Partial<PodStatus>>> = {
  'condition Ready twice': { conditions: [ready, ready] },
  'a b is not a valid condition type': { conditions: [{ type: 'a b', status: 'True' }] },
  'condition Ready: negative observedGeneration': { conditions: [{ ...ready, observedGeneration: -1 }] },
  'negative observedGeneration': { observedGeneration: -1 },
  'podIP is not the first of podIPs': { podIP: '10.0.0.2' },
  'podIPs: more than one address of a family': { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] },
  'hostIPs: host is not an IP address': { hostIP: 'host', hostIPs: [{ ip: 'host' }] },
  '2026-01-01 is not a valid time': { startTime: '2026-01-01' },
  'main does not have exactly one state': { containerStatuses: [status('main', { state: {} })] },
  'main: restartCount -1': { containerStatuses: [status('main', { restartCount: -1 })] },
  'main is ready but not running': { containerStatuses: [status('main', { ready: true, state: { waiting: {} } })] },
  'qosClass Burstable became BestEffort': { qosClass: 'BestEffort' },
  'nominatedNodeName of a pod that is bound to a node': { nominatedNodeName: 'node-2' },
};

test.each(Object.entries(bad))('a status is rejected with the message: %s', (message, over) => {
  expect(refusals({ ...sound, ...over }, sound, spec)).toEqual([message]);
});

describe('a terminated container', () => {
  const rerun = (exitCode: number, own: Partial<PodSpec> = {}) => {
    const before = { ...sound, containerStatuses: [status('main', { state: { terminated: { exitCode } } })] };
    return refusals(sound, before, { ...spec, ...own });
  };
  const left = ['main: left the terminated state'];

  test('runs again only if its restart policy allows it', () => {
    expect([rerun(1), rerun(0)]).toEqual([[], left]);
    expect([rerun(0, { restartPolicy: 'Always' }), rerun(1, { restartPolicy: 'Never' })]).toEqual([[], left]);
    expect(rerun(0, { containers: [{ name: 'main', image: 'i', restartPolicy: 'Always' }] })).toEqual([]);
    expect(rerun(0, { containers: [] })).toEqual(left);
  });

  test('runs again by a rule for its exit code, or if another container may restart all', () => {
    const rule = (action: 'Restart' | 'RestartAllContainers') => ({
      restartPolicyRules: [{ action, exitCodes: { operator: 'In' as const, values: [7] } }],
    });
    expect(
      rerun(7, { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i', ...rule('Restart') }] }),
    ).toEqual([]);
    expect(
      rerun(8, { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i', ...rule('Restart') }] }),
    ).toEqual(left);
    expect(rerun(0, { initContainers: [{ name: 'setup', image: 'i', ...rule('RestartAllContainers') }] })).toEqual([]);
  });

  test('that is an init container runs again in a new sandbox', () => {
    const again = { ...sound, initContainerStatuses: [status('setup')] };
    expect(refusals(again, sound, spec)).toEqual(['setup: left the terminated state']);
    expect(refusals(again, sound, { ...spec, restartPolicy: 'Always' })).toEqual([]);
  });
});
