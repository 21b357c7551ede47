import { describe, expect, test } from '@jest/globals';
import { nodeStatusPatch, sameNodeStatus } from '../../../pod/node/nodeStatusPatch.ts';
import { aNode, STARTED } from '../nodes.ts';

/** What Go writes where nobody has said anything. */
const UNSAID = { daemonEndpoints: { kubeletEndpoint: { Port: 0 } } };

/** The status of a node as an API server has it. */
function served(node = aNode(), more: object = {}): Record<string, unknown> {
  const { nodeInfo, ...status } = node.status;
  return JSON.parse(JSON.stringify({ ...UNSAID, ...status, nodeInfo: { ...nodeInfo, kubeProxyVersion: '' }, ...more }));
}

const later = aNode({ now: STARTED + 70_000 });
const TOLD = { '$setElementOrder/conditions': [{ type: 'Ready' }] };
const heartbeat = { type: 'Ready', lastHeartbeatTime: '2026-01-01T00:01:10Z' };

describe('the patch of a status', () => {
  test('is none where the server has it', () => {
    expect(nodeStatusPatch(served(), aNode())).toBeUndefined();
  });

  test('is but the heartbeat where nothing else has happened', () => {
    expect(nodeStatusPatch(served(), later)).toEqual({ ...TOLD, conditions: [heartbeat] });
  });

  test('C34: is all of it where the server has nothing yet, with addresses that replace any others', () => {
    const { addresses, ...rest } = served();
    expect(nodeStatusPatch({}, aNode())).toEqual({
      ...rest,
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
      phase: 'Running',
    });
    expect(nodeStatusPatch(server, aNode())).toBeUndefined();
    expect(nodeStatusPatch(server, later)).toEqual({
      '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'NetworkUnavailable' }],
      conditions: [heartbeat],
    });
  });

  test('puts an end to where an agent before this one was to be reached', () => {
    const server = served(aNode(), { daemonEndpoints: { kubeletEndpoint: { Port: 10250 } } });
    expect(nodeStatusPatch(server, aNode())).toEqual({ daemonEndpoints: { kubeletEndpoint: { Port: 0 } } });
  });

  test('takes away what the node has said and says no more', () => {
    const pressure = { type: 'MemoryPressure', status: 'False' as const, reason: 'x', message: 'x' };
    const times = { lastHeartbeatTime: '2026-01-01T00:00:00Z', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const server = served(aNode({ conditions: [{ ...pressure, ...times }] }), { images: [{ names: ['box:1'] }] });
    expect(nodeStatusPatch(server, aNode())).toEqual({ images: null });
  });
});

describe('two statuses', () => {
  test('are the same if only their heartbeats differ', () => {
    expect(sameNodeStatus(aNode(), later)).toBe(true);
  });

  test('differ by a condition, an address or a resource', () => {
    const others = [
      aNode({ drainsSince: STARTED }),
      aNode({ addresses: ['192.0.2.9'] }),
      aNode({ allocatable: { cpuMillis: 1, memoryBytes: 1, pods: 1 } }),
    ];
    expect(others.map((other) => sameNodeStatus(aNode(), other))).toEqual([false, false, false]);
  });
});
