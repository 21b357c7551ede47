/**
 * Tests the pod resources API with a separate gRPC client, whose messages are written by hand from the field numbers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { Registry } from '../../../kubelet-api/metrics/registry.ts';
import { registerPodResourcesMetrics } from '../../../kubelet-api/metrics/requests/podResourcesMetrics.ts';
import { listenPodResources } from '../../../kubelet-api/podResources/server.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ClaimState } from '../../../kubernetes/claims/claimState.ts';
import { containerClaimStates } from '../../../kubernetes/claims/containerDevices.ts';
import { createMemoryPolicy } from '../../../kubernetes/numaMemory/memoryAssignments.ts';
import { simulatedCpuManager } from '../../../testing/simulation/host/cpuTopologies.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';
import { samplesOf } from '../metrics/support/scraped.ts';

const sidecar = { ...containerWith('proxy'), restartPolicy: 'Always' as const };
const web = podWith('web', { initContainers: [containerWith('first'), sidecar] });
const over: Pod = { ...podWith('over'), status: { phase: 'Succeeded' } };

let directory: string;
let client: Client;
let clock: SimulatedClock;
let close: () => Promise<void>;
let pods: Pod[];
let listsOnlyActivePods: boolean;
let devices: ReturnType<Parameters<typeof listenPodResources>[1]['devices']>;
let cpus: ReturnType<Parameters<typeof listenPodResources>[1]['cpus']>;
let memory: ReturnType<Parameters<typeof listenPodResources>[1]['memory']>;
let claims: readonly ClaimState[];
let registry: Registry;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'resources-'));
  const socket = join(directory, 'kubelet.sock');
  [clock, pods, registry] = [new SimulatedClock(), [web, over], new Registry()];
  [cpus, memory, devices, claims] = [undefined, undefined, undefined, []];
  listsOnlyActivePods = true;
  ({ close } = await listenPodResources(socket, {
    pods: () => pods,
    get listsOnlyActivePods() {
      return listsOnlyActivePods;
    },
    cpus: () => cpus,
    memory: () => memory,
    devices: () => devices,
    claims: (pod, container) => containerClaimStates(pod, container, claims),
    clock,
    onRequest: registerPodResourcesMetrics(registry),
  }));
  client = new Client(`unix:${socket}`, credentials.createInsecure());
});
afterEach(async () => {
  client.close();
  await close();
  rmSync(directory, { recursive: true });
});

/** Returns the response in hexadecimal form, or the error of the call. */
function call(path: string, request = Buffer.alloc(0)): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const same = (bytes: Buffer) => bytes;
  client.makeUnaryRequest(path, same, same, request, (error: ServiceError | null, answer?: Buffer) =>
    resolve(error ? `${status[error.code]}: ${error.details}` : (answer ?? Buffer.alloc(0)).toString('latin1')),
  );
  return promise;
}

const bytes = (number: number, text: string) => String.fromCharCode(number * 8 + 2, text.length) + text;
/** Encodes a pod: name (1), namespace (2), containers (3) with a name (1). */
const podBytes = (name: string, containers: readonly string[]) =>
  bytes(1, bytes(1, name) + bytes(2, 'default') + containers.map((each) => bytes(3, bytes(1, each))).join(''));
const podRequest = (name: string, namespace: string) => Buffer.from(bytes(1, name) + bytes(2, namespace), 'latin1');

test('C44: shows the exclusive CPUs of containers, and the CPUs that can be exclusive', async () => {
  const { cpuPolicy } = simulatedCpuManager('laptop');
  const exclusive = [{ podUid: web.metadata.uid, container: 'main', cpus: [1, 5] }];
  cpus = { cpuPolicy, assignments: { shared: [0, 2, 3, 4, 6, 7], exclusive } };
  const main = bytes(3, bytes(1, 'main') + bytes(3, '\x01\x05'));
  const pod = bytes(1, bytes(1, 'web') + bytes(2, 'default') + bytes(3, bytes(1, 'proxy')) + main);
  expect(await call('/v1.PodResourcesLister/List')).toBe(pod);
  expect(await call('/v1.PodResourcesLister/GetAllocatableResources')).toBe(bytes(2, '\x01\x02\x03\x04\x05\x06\x07'));
  expect(await call('/v1alpha1.PodResourcesLister/List')).toBe(podBytes('web', ['main']) + podBytes('over', ['main']));
});

test('C44: shows the memory of containers by NUMA node, and the memory that containers can get', async () => {
  const nodes = [0, 1].map((id) => ({ id, memoryBytes: 3, hugePages: [{ resource: 'hugepages-2Mi', bytes: 1 }] }));
  const memoryPolicy = createMemoryPolicy(nodes, [{ numaNode: 0, resource: 'memory', bytes: 2 }]);
  const blocks = [{ numaNodes: [0, 1], resource: 'memory', bytes: 300 }];
  const containers = [{ podUid: web.metadata.uid, container: 'main', blocks }];
  memory = { memoryPolicy, assignments: { nodes: memoryPolicy.nodes, containers } };
  const numaNodes = [bytes(1, ''), bytes(1, '\x08\x01')];
  const block = bytes(4, `${bytes(1, 'memory')}\x10\xac\x02${bytes(3, numaNodes.join(''))}`);
  const containerBytes = bytes(3, bytes(1, 'proxy')) + bytes(3, bytes(1, 'main') + block);
  expect(await call('/v1.PodResourcesLister/List')).toBe(
    bytes(1, bytes(1, 'web') + bytes(2, 'default') + containerBytes),
  );
  const allocatableBytes = (resource: string, size: string, numaNode: number) =>
    bytes(3, `${bytes(1, resource)}\x10${size}${bytes(3, numaNodes[numaNode] ?? '')}`);
  // Node 0 has no memory that is neither reserved nor in huge pages.
  expect(await call('/v1.PodResourcesLister/GetAllocatableResources')).toBe(
    allocatableBytes('hugepages-2Mi', '\x01', 0) +
      allocatableBytes('hugepages-2Mi', '\x01', 1) +
      allocatableBytes('memory', '\x02', 1),
  );
});

test('C44: shows the devices of containers with their NUMA nodes, and the healthy devices', async () => {
  const gpu = { name: 'x.io/gpu', options: { needsPreStart: false, hasPreferences: false }, isConnected: true };
  devices = {
    resources: [
      {
        ...gpu,
        devices: [
          { id: 'g0', isHealthy: true, numaNodes: [0, 1] },
          { id: 'g1', isHealthy: false, numaNodes: [] },
          { id: 'g2', isHealthy: true, numaNodes: [] },
        ],
      },
    ],
    allocations: [
      {
        podUid: web.metadata.uid,
        container: 'main',
        resource: 'x.io/gpu',
        devicesByNode: [
          { numaNode: -1, ids: ['g2'] },
          { numaNode: 1, ids: ['g0'] },
        ],
      },
    ],
  };
  const device = (id: string, node = '') => bytes(1, 'x.io/gpu') + bytes(2, id) + node;
  const onNode = (id: string) => bytes(3, bytes(1, id));
  const main = bytes(3, bytes(1, 'main') + bytes(2, device('g2')) + bytes(2, device('g0', onNode('\x08\x01'))));
  const pod = bytes(1, bytes(1, 'web') + bytes(2, 'default') + bytes(3, bytes(1, 'proxy')) + main);
  expect(await call('/v1.PodResourcesLister/List')).toBe(pod);
  expect(await call('/v1.PodResourcesLister/GetAllocatableResources')).toBe(
    bytes(1, device('g0', onNode(''))) + bytes(1, device('g0', onNode('\x08\x01'))) + bytes(1, device('g2')),
  );
  const alpha = bytes(3, bytes(1, 'main') + bytes(2, device('g2')) + bytes(2, device('g0')));
  expect(await call('/v1alpha1.PodResourcesLister/List')).toBe(
    bytes(1, bytes(1, 'web') + bytes(2, 'default') + alpha) + podBytes('over', ['main']),
  );
});

describe('C44: the resource claims of containers', () => {
  const device = { poolName: 'pool', requestNames: ['any'], cdiIds: ['x.io/gpu=a'] };
  const claim: ClaimState = {
    uid: 'uid-1',
    name: 'claim-1',
    namespace: 'default',
    podUids: [web.metadata.uid],
    drivers: [
      {
        name: 'x.io',
        devices: [
          { ...device, deviceName: 'a' },
          { poolName: 'pool', deviceName: 'b', shareId: 's', requestNames: [], cdiIds: [] },
        ],
      },
    ],
    isPrepared: true,
  };
  const claimed = podWith('web', {
    containers: [
      containerWith('main', { resources: { claims: [{ name: 'gpu', request: 'any' }] } }),
      containerWith('other'),
    ],
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'claim-1' }],
  });
  const cdiDevice = bytes(1, bytes(1, 'x.io/gpu=a'));
  const named = (deviceName: string) => bytes(2, 'x.io') + bytes(3, 'pool') + bytes(4, deviceName);
  const devicesBytes = bytes(4, cdiDevice + named('a')) + bytes(4, named('b') + bytes(5, 's'));
  const claimBytes = bytes(5, bytes(2, 'claim-1') + bytes(3, 'default') + devicesBytes);
  const withContainers = (main: string) =>
    bytes(1, bytes(1, 'web') + bytes(2, 'default') + bytes(3, bytes(1, 'main') + main) + bytes(3, bytes(1, 'other')));

  test('are listed with all of their devices', async () => {
    [pods, claims] = [[claimed], [claim, { ...claim, namespace: 'shop' }]];
    expect(await call('/v1.PodResourcesLister/List')).toBe(withContainers(claimBytes));
    expect(await call('/v1.PodResourcesLister/Get', podRequest('web', 'default'))).toBe(withContainers(claimBytes));
  });

  test('are missing until they are prepared', async () => {
    pods = [claimed];
    expect(await call('/v1.PodResourcesLister/List')).toBe(withContainers(''));
  });

  test('include the claim for the extended resources of a container', async () => {
    const requestMappings = [{ containerName: 'main', resourceName: 'x.io/gpu', requestName: 'any' }];
    const status = { extendedResourceClaimStatus: { resourceClaimName: 'claim-1', requestMappings } };
    const requests = { 'x.io/gpu': '1' };
    const pod = podWith('web', {
      containers: [containerWith('main', { resources: { requests } }), containerWith('other')],
    });
    [pods, claims] = [[{ ...pod, status }], [claim]];
    expect(await call('/v1.PodResourcesLister/List')).toBe(withContainers(claimBytes));
  });
});

test('C44: List returns active pods with sidecars first, and without exclusive resources', async () => {
  expect(await call('/v1.PodResourcesLister/List')).toBe(podBytes('web', ['proxy', 'main']));
  pods = [];
  expect(await call('/v1.PodResourcesLister/List')).toBe('');
});

test('C44: List returns terminated pods as well if the gate KubeletPodResourcesListUseActivePods is off', async () => {
  listsOnlyActivePods = false;
  expect(await call('/v1.PodResourcesLister/List')).toBe(
    podBytes('web', ['proxy', 'main']) + podBytes('over', ['main']),
  );
});

test('C44: Get does not return a terminated pod, whatever List returns', async () => {
  const missing = 'UNKNOWN: pod over in namespace default not found';
  expect(await call('/v1.PodResourcesLister/Get', podRequest('over', 'default'))).toBe(missing);
  listsOnlyActivePods = false;
  expect(await call('/v1.PodResourcesLister/Get', podRequest('over', 'default'))).toBe(missing);
});

test('C44: v1alpha1 lists all pods without sidecars', async () => {
  expect(await call('/v1alpha1.PodResourcesLister/List')).toBe(podBytes('web', ['main']) + podBytes('over', ['main']));
});

test('C44: Get returns one pod by its name, and ignores unknown fields of the request', async () => {
  const more = Buffer.concat([podRequest('web', 'default'), Buffer.from(bytes(9, 'new'), 'latin1')]);
  expect(await call('/v1.PodResourcesLister/Get', more)).toBe(podBytes('web', ['proxy', 'main']));
  const missing = 'UNKNOWN: pod web in namespace shop not found';
  expect(await call('/v1.PodResourcesLister/Get', podRequest('web', 'shop'))).toBe(missing);
});

test('no device, CPU or memory is allocatable separately', async () => {
  expect(await call('/v1.PodResourcesLister/GetAllocatableResources')).toBe('');
});

test('an invalid request, an oversized one and an unknown method are rejected', async () => {
  expect(await call('/v1.PodResourcesLister/Get', Buffer.from('0aff', 'hex'))).toMatch(/^INTERNAL: /);
  expect(await call('/v1.PodResourcesLister/Get', Buffer.alloc(8_192))).toMatch(/^RESOURCE_EXHAUSTED: .*larger/);
  expect(await call('/v1.PodResourcesLister/Watch')).toMatch(/^UNIMPLEMENTED: /);
});

test('C44: bursts of ten requests and a hundred per second are permitted', async () => {
  const many = () => Promise.all(Array.from({ length: 15 }, () => call('/v1.PodResourcesLister/List')));
  const refused = (answers: readonly string[]) =>
    answers.filter((each) => each === 'RESOURCE_EXHAUSTED: rejected by rate limit').length;
  expect(refused(await many())).toBe(5);
  await clock.advance(50);
  expect(refused(await many())).toBe(10);
  await clock.advance(60_000);
  expect(refused(await many())).toBe(5);
});

test('C42: requests are counted by API version, and those of v1 by method', async () => {
  await call('/v1.PodResourcesLister/List');
  await call('/v1.PodResourcesLister/Get', podRequest('web', 'default'));
  await call('/v1.PodResourcesLister/Get', podRequest('nobody', 'default'));
  await call('/v1.PodResourcesLister/GetAllocatableResources');
  await call('/v1alpha1.PodResourcesLister/List');
  expect(Object.fromEntries(await samplesOf(registry))).toEqual({
    'kubelet_pod_resources_endpoint_requests_total{server_api_version="v1"}': 4,
    'kubelet_pod_resources_endpoint_requests_total{server_api_version="v1alpha1"}': 1,
    'kubelet_pod_resources_endpoint_requests_list{server_api_version="v1"}': 1,
    'kubelet_pod_resources_endpoint_requests_get{server_api_version="v1"}': 2,
    'kubelet_pod_resources_endpoint_requests_get_allocatable{server_api_version="v1"}': 1,
    'kubelet_pod_resources_endpoint_errors_get{server_api_version="v1"}': 1,
  });
});
