import { describe, expect, test } from '@jest/globals';
import type { NodeKnowledge } from '../../../kubernetes/node/nodeObject.ts';
import { changedConditions, nodeStatusChange, nodeStatusPatch } from '../../../kubernetes/node/nodeStatusPatch.ts';
import { aNode, healthy, STARTED } from '../nodes.ts';

/** What Go writes where nobody has said anything. */
const UNSAID = { daemonEndpoints: { kubeletEndpoint: { Port: 0 } } };

/** The status of a node as an API server has it. */
function served(node = aNode(), more: object = {}): Record<string, unknown> {
  const { nodeInfo, ...status } = node.status;
  return JSON.parse(JSON.stringify({ ...UNSAID, ...status, nodeInfo: { ...nodeInfo, kubeProxyVersion: '' }, ...more }));
}

const later = aNode({ now: STARTED + 70_000 });
const TYPES = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({ type }));
const TOLD = { '$setElementOrder/conditions': TYPES };
const LATER = '2026-01-01T00:01:10Z';
const heartbeats = TYPES.map((each) => ({ ...each, lastHeartbeatTime: LATER }));

describe('the patch of a status', () => {
  test('is none where the server has it', () => {
    expect(nodeStatusPatch(served(), aNode())).toBeUndefined();
  });

  test('is but the heartbeat where nothing else has happened', () => {
    expect(nodeStatusPatch(served(), later)).toEqual({ ...TOLD, conditions: heartbeats });
  });

  test('C34: is all of it where the server has nothing yet, with addresses that replace any others', () => {
    const { addresses, ...rest } = served();
    const lastTransitionTime = '2026-01-01T00:01:00Z';
    expect(nodeStatusPatch({}, aNode())).toEqual({
      ...rest,
      conditions: aNode().status.conditions.map((each) => ({ ...each, lastTransitionTime })),
      addresses: [...(Array.isArray(addresses) ? addresses : []), { $patch: 'replace' }],
    });
  });

  test('C34: has all addresses if one has changed', () => {
    expect(nodeStatusPatch(served(), aNode({ addresses: ['192.0.2.9', '2001:db8::1'] }))).toEqual({
      addresses: [
        { type: 'InternalIP', address: '192.0.2.9' },
        { type: 'InternalIP', address: '2001:db8::1' },
        { type: 'Hostname', address: 'host' },
        { $patch: 'replace' },
      ],
    });
  });

  test('C34: leaves what is not the node’s to say: conditions, resources and volumes of others', () => {
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

  test('puts an end to where an agent before this one was to be reached', () => {
    const server = served(aNode(), { daemonEndpoints: { kubeletEndpoint: { Port: 10250 } } });
    expect(nodeStatusPatch(server, aNode())).toEqual({ daemonEndpoints: { kubeletEndpoint: { Port: 0 } } });
  });

  test('takes away what the node has said and says no more', () => {
    const server = served(aNode(), { images: [{ names: ['box:1'] }] });
    expect(nodeStatusPatch(server, aNode())).toEqual({ images: null });
  });

  test('keeps since when a condition is as it is, however often the node began anew, and what has changed did so now', () => {
    const before = aNode({ health: healthy({ drains: true }), readySince: STARTED - 60_000 });
    const again = aNode({ health: healthy({ drains: true }), readySince: STARTED, startedAt: STARTED + 5_000 });
    expect(nodeStatusPatch(served(before), again)).toBeUndefined();
    expect(nodeStatusChange(served(before), later)).toEqual({
      ...TOLD,
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

describe('what the server has to know at once', () => {
  test('is nothing if only the time has passed', () => {
    expect(nodeStatusChange(served(), later)).toBeUndefined();
  });

  test.each<[string, Partial<NodeKnowledge>]>([
    ['a condition', { health: healthy({ drains: true }) }],
    ['an address', { addresses: ['192.0.2.9'] }],
    ['a resource', { allocatable: { cpuMillis: 1, memoryBytes: 1, pods: 1 } }],
    ['an image', { images: [{ names: ['box:1'], sizeBytes: 1 }] }],
  ])('is %s', (_what, known) => {
    expect(nodeStatusChange(served(), aNode({ now: STARTED + 70_000, ...known }))).toBeDefined();
  });
});

test('the conditions that become another are told, also those that a controller has doubted', () => {
  const { conditions } = aNode().status;
  const typesOf = (server: Record<string, unknown>) => changedConditions(server, aNode()).map(({ type }) => type);
  expect(typesOf({})).toEqual(['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready']);
  expect(typesOf(served())).toEqual([]);
  const doubted = conditions.map((each) => (each.type === 'Ready' ? { ...each, status: 'Unknown' } : each));
  expect(typesOf(served(aNode(), { conditions: doubted }))).toEqual(['Ready']);
});
