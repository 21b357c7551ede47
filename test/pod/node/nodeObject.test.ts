import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../pod/api/schema/pod.ts';
import { nodeTable } from '../../../pod/node/nodeTable.ts';
import { nodeUse } from '../../../pod/node/nodeUse.ts';
import { explainNode } from '../../../pod/show/explainNode.ts';
import { withUse } from '../../../pod/show/explainNodeUse.ts';
import { formatNodeExplanation } from '../../../pod/show/formatExplanation.ts';
import { aPod } from '../fixtures.ts';
import { aNode, STARTED } from '../nodes.ts';
import { nodeView } from '../views.ts';

const asking = (name: string, cpu: string, memory: string, phase = 'Running'): Pod => {
  const pod = aPod();
  const resources = { requests: { cpu, memory }, limits: { memory } };
  return {
    ...pod,
    metadata: { ...pod.metadata, name },
    spec: { ...pod.spec, containers: [{ name: 'main', image: 'box', resources }] },
    status: { phase: phase as 'Running' },
  };
};
const pods = [asking('web', '500m', '512Mi'), asking('db', '250m', '512Mi'), asking('done', '1', '1Gi', 'Succeeded')];

describe('the object', () => {
  test('tells capacity, allocatable, addresses and the host as the API has them', () => {
    expect(aNode()).toMatchObject({
      kind: 'Node',
      metadata: { name: 'host', uid: 'host', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] },
      status: {
        capacity: { cpu: '2', 'ephemeral-storage': '100Gi', memory: '4Gi', pods: '110' },
        allocatable: { cpu: '1500m', 'ephemeral-storage': '90Gi', memory: '2Gi', pods: '110' },
        addresses: [
          { type: 'InternalIP', address: '192.0.2.1' },
          { type: 'InternalIP', address: '2001:db8::1' },
          { type: 'Hostname', address: 'host' },
        ],
        nodeInfo: { containerRuntimeVersion: 'containerd://1.6.20', operatingSystem: 'linux' },
      },
    });
  });

  test('is ready as long as its runtime is, and says why it is not', () => {
    const [ready] = aNode().status.conditions;
    expect(ready).toMatchObject({ type: 'Ready', status: 'True', reason: 'KubeletReady' });
    const runtime = { name: '', version: '', ready: false, since: STARTED + 5_000, message: 'nobody listens' };
    const [away] = aNode({ runtime }).status.conditions;
    expect(away).toMatchObject({
      ...{ status: 'False', reason: 'KubeletNotReady', message: 'nobody listens' },
      lastTransitionTime: '2026-01-01T00:00:05Z',
    });
  });

  test('has the conditions that were found beside Ready, which follows from its runtime alone', () => {
    const lastTransitionTime = '2026-01-01T00:00:07Z';
    const told = { status: 'True' as const, lastHeartbeatTime: lastTransitionTime, lastTransitionTime, message: '' };
    const pressure = { ...told, type: 'MemoryPressure', reason: 'KubeletHasInsufficientMemory' };
    const ready = { ...told, type: 'Ready', status: 'False' as const, reason: 'Elsewhere' };
    expect(aNode({ conditions: [pressure, ready] }).status.conditions).toEqual([
      pressure,
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    ]);
  });

  test('is not ready before its runtime has answered, in the words of a kubelet', () => {
    const runtime = { name: '', version: '', ready: false, message: 'not asked yet' };
    expect(aNode({ runtime }).status.conditions).toMatchObject([
      {
        ...{ status: 'False', message: 'container runtime status check may not have completed yet' },
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ]);
  });

  test('is not ready while it drains', () => {
    expect(aNode({ drainsSince: STARTED + 30_000 }).status.conditions).toMatchObject([
      {
        ...{ status: 'False', reason: 'KubeletNotReady', message: 'node is shutting down' },
        lastTransitionTime: '2026-01-01T00:00:30Z',
      },
    ]);
  });
});

test('the table has the columns of kubectl, narrow and wide', () => {
  const away = aNode({ name: 'away', labels: {}, runtime: { name: '', version: '', ready: false } });
  const now = STARTED + 3_600_000;
  expect(nodeTable([aNode(), away], { wide: false, now })).toEqual([
    ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION'],
    ['host', 'Ready', 'edge', '60m', 'v1.36.0+statelet.0.1.0'],
    ['away', 'NotReady', '<none>', '60m', 'v1.36.0+statelet.0.1.0'],
  ]);
  expect(nodeTable([aNode()], { wide: true, now })[1]?.slice(5)).toEqual([
    ...['192.0.2.1', '<none>', 'Debian GNU/Linux 12 (bookworm)', '6.1.0', 'containerd://1.6.20'],
  ]);
});

test('its use is what pods that have not ended ask for together', () => {
  expect(nodeUse(aNode(), pods)).toEqual([
    {
      resource: 'cpu',
      requests: { amount: '750m', percent: 50 },
      limits: { amount: '0', percent: 0 },
      allocatable: '1500m',
    },
    {
      resource: 'ephemeral-storage',
      requests: { amount: '0', percent: 0 },
      limits: { amount: '0', percent: 0 },
      allocatable: '90Gi',
    },
    {
      resource: 'memory',
      requests: { amount: '1Gi', percent: 50 },
      limits: { amount: '1Gi', percent: 50 },
      allocatable: '2Gi',
    },
  ]);
});

test('an explanation has its addresses, and how much of it is asked for', () => {
  const text = formatNodeExplanation(withUse(explainNode(nodeView('host'), STARTED), aNode(), pods));
  expect(text).toContain('  addresses:\n    192.0.2.1\n    2001:db8::1\n');
  expect(text).toContain(
    [
      '  allocated resources:',
      '    pods: 2 of 110',
      '    cpu: 750m (50%) of 1500m requested',
      '    ephemeral-storage: 0 (0%) of 90Gi requested',
      '    memory: 1Gi (50%) of 2Gi requested',
    ].join('\n'),
  );
});
