import { describe, expect, test } from '@jest/globals';
import type { NodeState } from '../../../kubernetes/node/nodeObject.ts';
import { changedConditions, nodeStatusChange, nodeStatusPatch } from '../../../kubernetes/node/nodeStatusPatch.ts';
import { aNode, healthy, STARTED } from '../nodes.ts';

/** Fields that Go writes even if they are empty. */
const EMPTY_FIELDS = { daemonEndpoints: { kubeletEndpoint: { Port: 0 } } };

/** Returns the status of a node as an API server stores it. */
function served(node = aNode(), more: object = {}): Record<string, unknown> {
  const { nodeInfo, ...status } = node.status;
  return JSON.parse(
    JSON.stringify({ ...EMPTY_FIELDS, ...status, nodeInfo: { ...nodeInfo, kubeProxyVersion: '' }, ...more }),
  );
}

const later = aNode({ now: STARTED + 70_000 });
const TYPES = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({ type }));
const ORDER = { '$setElementOrder/conditions': TYPES };
const LATER = '2026-01-01T00:01:10Z';
const heartbeats = TYPES.map((each) => ({ ...each, lastHeartbeatTime: LATER }));

describe("the patch of a node's status", () => {
  test('is undefined if nothing differs', () => {
    expect(nodeStatusPatch(served(), aNode())).toBeUndefined();
  });

  test('contains only heartbeats if nothing else has changed', () => {
    expect(nodeStatusPatch(served(), later)).toEqual({ ...ORDER, conditions: heartbeats });
  });

  test('C34: contains the whole status if the server has none, with addresses that replace others', () => {
    const { addresses, ...rest } = served();
    const lastTransitionTime = '2026-01-01T00:01:00Z';
    expect(nodeStatusPatch({}, aNode())).toEqual({
      ...rest,
      conditions: aNode().status.conditions.map((each) => ({ ...each, lastTransitionTime })),
      addresses: [...(Array.isArray(addresses) ? addresses : []), { $patch: 'replace' }],
    });
  });

  test('C34: contains all addresses if any has changed', () => {
    expect(nodeStatusPatch(served(), aNode({ addresses: ['192.0.2.9', '2001:db8::1'] }))).toEqual({
      addresses: [
        { type: 'InternalIP', address: '192.0.2.9' },
        { type: 'InternalIP', address: '2001:db8::1' },
        { type: 'Hostname', address: 'host' },
        { $patch: 'replace' },
      ],
    });
  });

  test('C34: preserves conditions, resources and volumes that other components have set', () => {
    const network = { type: 'NetworkUnavailable', status: 'False' };
    const server = served(aNode(), {
      conditions: [network, ...aNode().status.conditions],
      capacity: { ...aNode().status.capacity, 'example.com/gpu': '2' },
      volumesAttached: [{ name: 'disk', devicePath: '' }],
      volumesInUse: ['disk'],
      phase: 'Running',
      newField: { a: 1 },
      nodeInfo: { ...(served().nodeInfo as object), newInfo: 'x' },
    });
    expect(nodeStatusPatch(server, aNode())).toBeUndefined();
    expect(nodeStatusPatch(server, later)).toEqual({
      '$setElementOrder/conditions': [...TYPES, { type: 'NetworkUnavailable' }],
      conditions: heartbeats,
    });
  });

  test('resets the API port of a previous agent', () => {
    const server = served(aNode(), { daemonEndpoints: { kubeletEndpoint: { Port: 10250 } } });
    expect(nodeStatusPatch(server, aNode())).toEqual({ daemonEndpoints: { kubeletEndpoint: { Port: 0 } } });
  });

  test('removes fields that the node no longer reports', () => {
    const server = served(aNode(), { images: [{ names: ['box:1'] }] });
    expect(nodeStatusPatch(server, aNode())).toEqual({ images: null });
  });

  test('preserves the transition time of an unchanged condition across restarts, and sets it for a changed one', () => {
    const before = aNode({ health: healthy({ isDraining: true }), readySince: STARTED - 60_000 });
    const again = aNode({ health: healthy({ isDraining: true }), readySince: STARTED, startedAt: STARTED + 5_000 });
    expect(nodeStatusPatch(served(before), again)).toBeUndefined();
    expect(nodeStatusChange(served(before), later)).toEqual({
      ...ORDER,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'kubelet is posting ready status',
          lastTransitionTime: LATER,
        },
      ],
    });
  });
});

describe("an urgent change of a node's status", () => {
  test('is not the passing of time', () => {
    expect(nodeStatusChange(served(), later)).toBeUndefined();
  });

  test.each<[string, Partial<NodeState>]>([
    ['a condition', { health: healthy({ isDraining: true }) }],
    ['an address', { addresses: ['192.0.2.9'] }],
    ['a resource', { allocatable: { cpuMillis: 1, memoryBytes: 1, pods: 1 } }],
    ['an image', { images: [{ names: ['box:1'], sizeBytes: 1 }] }],
  ])('includes a change of %s', (_what, known) => {
    expect(nodeStatusChange(served(), aNode({ now: STARTED + 70_000, ...known }))).toBeDefined();
  });
});

test('changed conditions are returned, including those that a controller has set to Unknown', () => {
  const { conditions } = aNode().status;
  const typesOf = (server: Record<string, unknown>) => changedConditions(server, aNode()).map(({ type }) => type);
  expect(typesOf({})).toEqual(['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready']);
  expect(typesOf(served())).toEqual([]);
  const doubted = conditions.map((each) => (each.type === 'Ready' ? { ...each, status: 'Unknown' } : each));
  expect(typesOf(served(aNode(), { conditions: doubted }))).toEqual(['Ready']);
});
