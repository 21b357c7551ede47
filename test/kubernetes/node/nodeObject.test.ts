import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { NodeState } from '../../../kubernetes/node/nodeObject.ts';
import { nodeTable } from '../../../kubernetes/node/nodeTable.ts';
import { nodeUse } from '../../../kubernetes/node/nodeUse.ts';
import { explainNode } from '../../../show/explain/explainNode.ts';
import { withResourceUse } from '../../../show/explain/explainNodeUse.ts';
import { formatNodeExplanation } from '../../../show/explain/formatExplanation.ts';
import { aPod } from '../fixtures.ts';
import { aNode, healthy, STARTED } from '../nodes.ts';
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

describe('the Node object', () => {
  test("has capacity, allocatable resources, addresses and host information in the API's format", () => {
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

  test('is ready, with a transition time', () => {
    expect(aNode().status.conditions.at(-1)).toEqual({
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      message: 'kubelet is posting ready status',
      lastHeartbeatTime: '2026-01-01T00:01:00Z',
      lastTransitionTime: '2026-01-01T00:00:01Z',
    });
  });

  test('is not ready for several reasons, joined in one message', () => {
    const waiting = healthy({ isInitialized: false });
    const readyOf = (health: NodeState['health']) => aNode({ health }).status.conditions.at(-1);
    expect(readyOf(waiting)).toMatchObject({ reason: 'KubeletNotReady', message: 'CSINode is not yet initialized' });
    expect(readyOf({ ...waiting, isDraining: true })).toMatchObject({
      status: 'False',
      message: '[CSINode is not yet initialized, node is shutting down]',
    });
  });

  test('has no pressure except as reported, and determines Ready itself', () => {
    const lastTransitionTime = '2026-01-01T00:00:07Z';
    const common = { status: 'True' as const, lastHeartbeatTime: lastTransitionTime, lastTransitionTime, message: '' };
    const pressure = { ...common, type: 'DiskPressure', reason: 'KubeletHasDiskPressure' };
    const frequent = { ...common, type: 'FrequentReboots', reason: 'Elsewhere' };
    const ready = { ...common, type: 'Ready', status: 'False' as const, reason: 'Elsewhere' };
    const { conditions } = aNode({ conditions: [frequent, pressure, ready] }).status;
    const none = { status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
    expect(conditions).toEqual([
      expect.objectContaining({
        ...none,
        type: 'MemoryPressure',
        reason: 'KubeletHasSufficientMemory',
        message: 'kubelet has sufficient memory available',
      }),
      { ...pressure, lastHeartbeatTime: conditions[0]?.lastHeartbeatTime },
      expect.objectContaining({
        ...none,
        type: 'PIDPressure',
        reason: 'KubeletHasSufficientPID',
        message: 'kubelet has sufficient PID available',
      }),
      frequent,
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    ]);
    expect(aNode().status.conditions[1]).toMatchObject({
      type: 'DiskPressure',
      reason: 'KubeletHasNoDiskPressure',
      message: 'kubelet has no disk pressure',
    });
  });

  test('has the version of a runtime only while it responds, and no name before the first response', () => {
    const versionOf = (runtime: Partial<NodeState['health']['runtime']>) =>
      aNode({ health: healthy({ runtime: { ...healthy().runtime, ...runtime } }) }).status.nodeInfo
        .containerRuntimeVersion;
    expect(versionOf({ isSilent: true })).toBe('containerd://Unknown');
    expect(versionOf({ isSilent: true, name: '', version: '' })).toBe('');
  });

  test('lists images and features of the runtime and the node, if known', () => {
    expect(Object.keys(aNode().status)).not.toContain('images');
    const features = { recursiveReadOnlyMounts: true, userNamespaces: false };
    const runtime = { handlers: [{ name: 'runc', features }], features: { supplementalGroupsPolicy: true } };
    const images = [{ names: ['box@sha256:1', 'box:1'], sizeBytes: 12 }];
    const health = healthy({ runtime: { ...healthy().runtime, ...runtime } });
    expect(aNode({ images, health }).status).toMatchObject({
      images,
      runtimeHandlers: [{ name: 'runc', features }],
      features: runtime.features,
      declaredFeatures: [
        'ExtendWebSocketsToKubelet',
        'InPlacePodLevelResourcesVerticalScaling',
        'InPlacePodVerticalScalingInitContainers',
        'RestartAllContainersOnContainerExits',
      ],
    });
  });
});

test('a node is shown with the columns of kubectl in the narrow and wide tables', () => {
  const away = aNode({ name: 'away', labels: {}, health: healthy({ isInitialized: false }) });
  const now = STARTED + 3_600_000;
  expect(nodeTable([aNode(), away], { wide: false, now })).toEqual([
    ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION'],
    ['host', 'Ready', 'edge', '60m', 'v1.36.0+statelet.0.1.0'],
    ['away', 'NotReady', '<none>', '60m', 'v1.36.0+statelet.0.1.0'],
  ]);
  expect(nodeTable([aNode()], { wide: true, now })[1]?.slice(5)).toEqual([
    '192.0.2.1',
    '<none>',
    'Debian GNU/Linux 12 (bookworm)',
    '6.1.0',
    'containerd://1.6.20',
  ]);
});

test('the requests of non-terminated pods are summed up', () => {
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

test('the explanation of a node contains its addresses and requested resources', () => {
  const text = formatNodeExplanation(withResourceUse(explainNode(nodeView('host'), STARTED), aNode(), pods));
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
