/** Pods with resource claims on a node whose API server is in memory, with simulated drivers. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { DeviceHealthReport } from '../../../actors/claims/resourceDrivers.ts';
import { SimulatedDriverHost } from '../../../actors/simulated/simulatedDrivers.ts';
import { type Gate, openGate } from '../../../host/simulated/gate.ts';
import type { RecordedEvent } from '../../../kubernetes/events/recordedEvent.ts';
import { boundPod, type JoinedNode, joinedNode, PODS } from '../../fakes/joinedNode.ts';
import type { SimulatedNodeOptions } from '../../fakes/node.ts';
import { IMAGE } from '../../fakes/pods.ts';

const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
const SLICES = '/apis/resource.k8s.io/v1/resourceslices';
const GPU = 'gpu.example.com';

interface ClaimNode extends JoinedNode {
  readonly drivers: SimulatedDriverHost;
  /** The calls to drivers, e.g. `prepareResources gpu.example.com: gpu-1`. */
  calls(): string[];
  events(): string[];
  createClaim(name: string, changes?: object): Promise<void>;
  createPod(name: string, spec?: object): Promise<void>;
  preparedUids(): readonly string[];
  /**
   * Blocks the calls to drivers, including those of an agent that no longer runs, until the returned function is
   * called.
   */
  blockCalls(): () => void;
}

/**
 * Starts a node of a cluster. `failures` contains the errors of the next calls to drivers, with undefined for a
 * success.
 */
async function claimNode(
  names = [GPU],
  failures: (Error | undefined)[] = [],
  config: SimulatedNodeOptions['config'] = {},
): Promise<ClaimNode> {
  const drivers = new SimulatedDriverHost();
  for (const name of names) drivers.connect(name);
  const calls: string[] = [];
  const events: string[] = [];
  let blockade = Promise.resolve();
  const gate: Gate = async (call, act) => {
    calls.push(`${call.name} ${call.about}`);
    await blockade;
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    return openGate(call, act);
  };
  const onEvent = ({ reason, message, involved }: RecordedEvent) => {
    if (involved.kind === 'Pod') events.push(`${reason}: ${message}`);
  };
  const joined = await joinedNode({ config, parts: { drivers: drivers.accessThrough(gate), events: onEvent } });
  const { ask } = joined;
  return {
    ...joined,
    drivers,
    calls: () => calls.splice(0),
    events: () => events.splice(0),
    createClaim: async (name, changes = {}) => {
      const request = { name: 'any', exactly: { deviceClassName: 'gpu' } };
      await ask('POST', CLAIMS, {
        metadata: { name, ...Object(changes).metadata },
        spec: { devices: { requests: [request] } },
      });
      const results = [{ request: 'any', driver: GPU, pool: 'pool', device: name }];
      const status = {
        allocation: { devices: { results } },
        ...Object(changes).status,
      };
      const claim = await ask('GET', `${CLAIMS}/${name}`);
      await ask('PUT', `${CLAIMS}/${name}/status`, { ...claim, status });
    },
    createPod: async (name, spec = {}) => {
      const main = { name: 'main', image: IMAGE, resources: { claims: [{ name: 'gpu' }] } };
      const bound = boundPod(name, {
        containers: [main],
        resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu-1' }],
        ...spec,
      });
      await ask('POST', PODS, bound);
    },
    preparedUids: () => drivers.preparedUids(GPU),
    blockCalls: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      blockade = promise;
      return () => {
        blockade = Promise.resolve();
        resolve();
      };
    },
  };
}

const uidOf = async ({ ask }: JoinedNode, name: string): Promise<string> =>
  Object(await ask('GET', `${PODS}/${name}`)).metadata.uid;

const phaseOf = async ({ ask }: JoinedNode, name: string): Promise<string> =>
  Object(await ask('GET', `${PODS}/${name}`)).status.phase;

/** Reserves a claim for pods by name. */
async function reserve(story: ClaimNode, claim: string, ...pods: readonly string[]): Promise<void> {
  const object = await story.ask('GET', `${CLAIMS}/${claim}`);
  const reservedFor = await Promise.all(
    pods.map(async (name) => ({ resource: 'pods', name, uid: await uidOf(story, name) })),
  );
  await story.ask('PUT', `${CLAIMS}/${claim}/status`, { ...object, status: { ...Object(object).status, reservedFor } });
}

/** Creates a pod whose claim is allocated and reserved. */
async function claimingPod(story: ClaimNode, claim: object = {}): Promise<void> {
  await story.createClaim('gpu-1', claim);
  await story.createPod('web');
  await reserve(story, 'gpu-1', 'web');
}

/** Starts a pod with its claim prepared. */
async function runningPod(story: ClaimNode, claim: object = {}): Promise<void> {
  await claimingPod(story, claim);
  await story.node.advance('10s');
}

const statusOf = async ({ ask }: JoinedNode, name: string) => Object(await ask('GET', `${PODS}/${name}`)).status;

const remove = ({ ask }: JoinedNode, name: string) => ask('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 1 });

const PREPARED = `prepareResources ${GPU}: gpu-1`;
const UNPREPARED = `unprepareResources ${GPU}: gpu-1`;

describe('C50: a pod with a claim', () => {
  test('has it prepared before its sandbox is created, and its container gets the device', async () => {
    const story = await claimNode();
    await runningPod(story);
    expect(await phaseOf(story, 'web')).toBe('Running');
    expect(story.calls()).toEqual([PREPARED]);
    const [container] = story.node.runtime.containers();
    expect(container?.config.CDIDevices).toEqual([{ name: `${GPU}/device=gpu-1` }]);
  });

  test('shows it for the container that names it, also if it was created from a template', async () => {
    const story = await claimNode();
    await story.createClaim('gpu-1');
    await story.createPod('web', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'template' }] });
    const web = await story.ask('GET', `${PODS}/web`);
    const resourceClaimStatuses = [{ name: 'gpu', resourceClaimName: 'gpu-1' }];
    await story.ask('PUT', `${PODS}/web/status`, { ...web, status: { ...Object(web).status, resourceClaimStatuses } });
    const claim = Object(await story.ask('GET', `${CLAIMS}/gpu-1`));
    const { uid } = Object(web).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid, controller: true }];
    await story.ask('PUT', `${CLAIMS}/gpu-1`, { ...claim, metadata: { ...claim.metadata, ownerReferences } });
    await reserve(story, 'gpu-1', 'web');
    await story.node.advance('70s');
    const [pod] = story.node.agent.pods();
    const [main] = pod?.spec.containers ?? [];
    if (pod === undefined || main === undefined) throw new Error('the pod has no container');
    expect(story.node.agent.claims(pod, main)).toMatchObject([{ name: 'gpu-1', drivers: [{ name: GPU }] }]);
    expect(story.node.agent.claims(pod, { ...main, resources: {} })).toEqual([]);
  });

  test('terminates once the claim is unprepared, after its containers have stopped', async () => {
    const story = await claimNode([GPU], []);
    await runningPod(story);
    story.drivers.disconnect(GPU);
    await remove(story, 'web');
    await story.node.advance('30s');
    // The containers have stopped, but the pod must not be reported as terminated while its devices are in use.
    expect([...story.node.runtime.containers()].map(({ state }) => state)).not.toContain('running');
    expect(await phaseOf(story, 'web')).toBe('Running');
    expect(story.node.agent.explain('web')?.answer).toMatch(
      /another attempt to unprepare its resource claims.*unprepare dynamic resources: NodeUnprepareResources: rpc error/s,
    );
    story.drivers.connect(GPU);
    await story.node.advance('15s');
    await expect(story.ask('GET', `${PODS}/web`)).rejects.toThrow('404');
    expect(story.preparedUids()).toEqual([]);
  });

  test('that completes releases the claim before its status is terminal', async () => {
    const story = await claimNode();
    await story.createClaim('gpu-1');
    const main = {
      name: 'main',
      image: IMAGE,
      command: ['sh', '-c', 'exit 0'],
      resources: { claims: [{ name: 'gpu' }] },
    };
    await story.createPod('web', { containers: [main], restartPolicy: 'Never' });
    await reserve(story, 'gpu-1', 'web');
    await story.node.advance('15s');
    expect(await phaseOf(story, 'web')).toBe('Succeeded');
    expect(story.calls()).toEqual([PREPARED, UNPREPARED]);
  });

  test('gets a new sandbox without preparing the claim again', async () => {
    const story = await claimNode();
    await runningPod(story);
    await story.node.runtime.killSandbox(story.node.sandboxId('web'));
    await story.node.advance('30s');
    expect(await phaseOf(story, 'web')).toBe('Running');
    expect(story.calls()).toEqual([PREPARED]);
  });

  test('that was created while no agent ran starts with its claim prepared', async () => {
    const story = await claimNode();
    story.node.killAgent();
    await claimingPod(story);
    await story.node.startAgent();
    await story.node.advance('10s');
    expect([await phaseOf(story, 'web'), story.calls()]).toEqual(['Running', [PREPARED]]);
  });

  test('starts if the agent restarts while the claim is being prepared', async () => {
    const story = await claimNode();
    const release = story.blockCalls();
    await runningPod(story);
    expect([await phaseOf(story, 'web'), story.calls()]).toEqual(['Pending', [PREPARED]]);
    await story.node.restartAgent();
    release();
    await story.node.advance('10s');
    expect([await phaseOf(story, 'web'), story.calls()]).toEqual(['Running', [PREPARED]]);
  });

  test('terminates if the agent restarts while the claim is being unprepared', async () => {
    const story = await claimNode();
    await runningPod(story);
    const release = story.blockCalls();
    await remove(story, 'web');
    await story.node.advance('10s');
    expect(story.calls()).toEqual([PREPARED, UNPREPARED]);
    await story.node.restartAgent();
    release();
    await story.node.advance('10s');
    await expect(story.ask('GET', `${PODS}/web`)).rejects.toThrow('404');
    expect(story.calls()).toEqual([UNPREPARED]);
  });

  test('whose driver fails starts under the next agent, and terminates under the one after that', async () => {
    const failure = new Error('rpc error: code = Internal desc = busy');
    const story = await claimNode([GPU], [failure, undefined, failure]);
    await claimingPod(story);
    await story.node.advance('5s');
    expect([await phaseOf(story, 'web'), story.calls()]).toEqual(['Pending', [PREPARED]]);
    await story.node.restartAgent();
    await story.node.advance('10s');
    expect([await phaseOf(story, 'web'), story.calls()]).toEqual(['Running', [PREPARED]]);
    await remove(story, 'web');
    await story.node.advance('3s');
    expect([await phaseOf(story, 'web'), story.calls()]).toEqual(['Running', [UNPREPARED]]);
    await story.node.restartAgent();
    await story.node.advance('10s');
    await expect(story.ask('GET', `${PODS}/web`)).rejects.toThrow('404');
    expect(story.calls()).toEqual([UNPREPARED]);
  });

  test.each([0, 30])(
    'that was deleted while no agent ran is not prepared again (grace period of %i s)',
    async (seconds) => {
      const story = await claimNode();
      const release = story.blockCalls();
      await runningPod(story);
      story.node.killAgent();
      await story.ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: seconds });
      release();
      await story.node.startAgent();
      await story.node.advance('70s');
      // The call of the previous agent may have succeeded.
      expect([story.calls(), story.preparedUids()]).toEqual([[PREPARED, UNPREPARED], []]);
      await expect(story.ask('GET', `${PODS}/web`)).rejects.toThrow('404');
      expect(story.node.calls('runPodSandbox')).toEqual([]);
    },
  );

  test('is never a static one, because static pods may not reference API objects', async () => {
    const story = await claimNode();
    const manifest = { ...boundPod('static'), apiVersion: 'v1', kind: 'Pod' };
    const spec = {
      ...manifest.spec,
      nodeName: undefined,
      resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu-1' }],
    };
    await writeFile(join(story.node.manifestDir, 'static.yaml'), JSON.stringify({ ...manifest, spec }));
    await story.node.advance('30s');
    expect(story.node.manifestProblems.join()).toContain('static pods may not reference resourceclaims');
    expect(story.calls()).toEqual([]);
  });
});

describe('C50: a pod waits, with a Warning FailedPrepareDynamicResources, while', () => {
  const failure = 'FailedPrepareDynamicResources: Failed to prepare dynamic resources: prepare dynamic resources: ';
  const expectWaiting = async (story: ClaimNode, message: string) => {
    await story.node.advance('10s');
    expect(await phaseOf(story, 'web')).toBe('Pending');
    expect(story.node.calls('runPodSandbox')).toEqual([]);
    expect(story.events().filter((each) => each.startsWith('FailedPrepare'))).toEqual([failure + message]);
    expect(story.node.agent.explain('web')?.answer).toContain(message);
  };

  test('its claim does not exist, and the node may not read it before', async () => {
    const story = await claimNode();
    await story.createPod('web');
    await expectWaiting(story, 'fetch ResourceClaim gpu-1: resourceclaims.resource.k8s.io "gpu-1" not found');
  });

  test('its claim is not allocated', async () => {
    const story = await claimNode();
    await story.createClaim('gpu-1', { status: { allocation: undefined } });
    await story.createPod('web');
    await reserve(story, 'gpu-1', 'web');
    await expectWaiting(story, 'ResourceClaim gpu-1: not allocated');
  });

  test('the driver is not registered; it starts as soon as the driver registers', async () => {
    const story = await claimNode([]);
    await story.createClaim('gpu-1');
    await story.createPod('web');
    await reserve(story, 'gpu-1', 'web');
    await expectWaiting(story, `DRA driver ${GPU} is not registered`);
    story.drivers.connect(GPU);
    await story.node.advance('2s');
    expect(await phaseOf(story, 'web')).toBe('Running');
  });

  test('the claim is reserved for other pods; the next attempt follows after the interval of a kubelet', async () => {
    const story = await claimNode();
    await story.createClaim('gpu-1');
    await story.createPod('other', { resourceClaims: [], containers: [{ name: 'main', image: IMAGE }] });
    await story.createPod('web');
    await reserve(story, 'gpu-1', 'other');
    await story.node.advance('10s');
    expect(story.node.agent.explain('web')?.answer).toMatch(/is not allowed to use ResourceClaim gpu-1/);
    await reserve(story, 'gpu-1', 'web');
    await story.node.advance('45s');
    expect(await phaseOf(story, 'web')).toBe('Pending');
    await story.node.advance('10s');
    expect(await phaseOf(story, 'web')).toBe('Running');
  });

  test('the driver fails; the claim is recorded as used, so that it is unprepared with the pod', async () => {
    const story = await claimNode([GPU], [new Error('rpc error: code = Internal desc = no such device')]);
    await story.createClaim('gpu-1');
    await story.createPod('web');
    await reserve(story, 'gpu-1', 'web');
    await expectWaiting(story, 'NodePrepareResources: rpc error: code = Internal desc = no such device');
    await remove(story, 'web');
    await story.node.advance('5s');
    expect(story.calls()).toEqual([PREPARED, UNPREPARED]);
  });
});

describe('C50: a claim', () => {
  const runTwoPods = async (story: ClaimNode) => {
    await story.createClaim('gpu-1');
    await story.createPod('web');
    await story.createPod('api');
    await reserve(story, 'gpu-1', 'web', 'api');
    await story.node.advance('10s');
  };

  test('of two pods is prepared once, and unprepared with the last of them', async () => {
    const story = await claimNode();
    await runTwoPods(story);
    expect([await phaseOf(story, 'web'), await phaseOf(story, 'api')]).toEqual(['Running', 'Running']);
    expect(story.calls()).toEqual([PREPARED]);
    await remove(story, 'web');
    await story.node.advance('10s');
    expect(story.calls()).toEqual([]);
    await remove(story, 'api');
    await story.node.advance('10s');
    expect(story.calls()).toEqual([UNPREPARED]);
  });

  test('of a running pod is not unprepared when a pod that may not use it is removed', async () => {
    const story = await claimNode();
    await runningPod(story);
    await story.createPod('intruder');
    await story.node.advance('5s');
    await remove(story, 'intruder');
    await story.node.advance('10s');
    await expect(story.ask('GET', `${PODS}/intruder`)).rejects.toThrow('404');
    expect(story.calls()).toEqual([PREPARED]);
  });

  test('stays prepared when the agent restarts, and its pod keeps running', async () => {
    const story = await claimNode();
    await runningPod(story);
    const id = story.node.containerId('web');
    await story.node.restartAgent();
    await story.node.advance('2m');
    expect([await phaseOf(story, 'web'), story.node.containerId('web')]).toEqual(['Running', id]);
    expect(story.calls()).toEqual([PREPARED]);
  });

  test('is prepared again for a new sandbox after a restart of the agent, with the device of the new response', async () => {
    const story = await claimNode();
    await runningPod(story);
    await story.node.restartAgent();
    await story.node.advance('5s');
    await story.node.runtime.killSandbox(story.node.sandboxId('web'));
    await story.node.advance('30s');
    expect(story.calls()).toEqual([PREPARED, PREPARED]);
    const devices = [...story.node.runtime.containers()].map(({ config }) => config.CDIDevices?.length);
    expect(new Set(devices)).toEqual(new Set([1]));
  });

  test('of a pod that was removed while no agent ran is unprepared within a minute', async () => {
    const story = await claimNode();
    await runningPod(story);
    story.node.killAgent();
    await story.ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 0 });
    await story.node.startAgent();
    await story.node.advance('50s');
    expect(story.preparedUids()).toHaveLength(1);
    await story.node.advance('20s');
    expect(story.preparedUids()).toEqual([]);
  });

  test('of the same name as a claim whose pod was removed by force is not prepared before that one is unprepared', async () => {
    const story = await claimNode();
    await runningPod(story);
    story.drivers.disconnect(GPU);
    await story.ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 0 });
    await story.ask('DELETE', `${CLAIMS}/gpu-1`);
    await story.createClaim('gpu-1');
    await story.createPod('next');
    await reserve(story, 'gpu-1', 'next');
    await story.node.advance('5s');
    expect(story.node.agent.explain('next')?.answer).toMatch(
      /old ResourceClaim with same name gpu-1 and different UID \S+ still exists \(previous pod force-deleted\?!\)/,
    );
    story.drivers.connect(GPU);
    await story.node.advance('70s');
    expect(await phaseOf(story, 'next')).toBe('Running');
  });
});

describe('C50: a claim with devices of two drivers', () => {
  const NIC = 'nic.example.com';
  const results = [GPU, NIC].map((driver) => ({ request: 'any', driver, pool: 'pool', device: 'first' }));
  const shared = { status: { allocation: { devices: { results } } } };
  const failure = new Error('rpc error: code = Internal desc = no such device');
  const callsOf = (kind: string) => [GPU, NIC].map((driver) => `${kind}Resources ${driver}: gpu-1`);

  test('is prepared by both, again after one of them has failed', async () => {
    const story = await claimNode([GPU, NIC], [undefined, failure]);
    await runningPod(story, shared);
    expect([await phaseOf(story, 'web'), story.calls()]).toEqual(['Pending', callsOf('prepare')]);
    await story.node.advance('60s');
    expect([await phaseOf(story, 'web'), story.calls()]).toEqual(['Running', callsOf('prepare')]);
    const [container] = story.node.runtime.containers();
    expect(container?.config.CDIDevices).toEqual([GPU, NIC].map((driver) => ({ name: `${driver}/device=gpu-1` })));
  });

  test('is unprepared by both, again after one of them has failed', async () => {
    const story = await claimNode([GPU, NIC], [undefined, undefined, undefined, failure]);
    await runningPod(story, shared);
    story.calls();
    await remove(story, 'web');
    await story.node.advance('3s');
    expect([await phaseOf(story, 'web'), story.calls()]).toEqual(['Running', callsOf('unprepare')]);
    await story.node.advance('30s');
    await expect(story.ask('GET', `${PODS}/web`)).rejects.toThrow('404');
    expect(story.calls()).toEqual(callsOf('unprepare'));
  });

  test('is prepared and unprepared by both if the agent restarts during a call to one of them', async () => {
    const story = await claimNode([GPU, NIC]);
    const releasePrepare = story.blockCalls();
    await runningPod(story, shared);
    expect(await phaseOf(story, 'web')).toBe('Pending');
    story.calls();
    await story.node.restartAgent();
    releasePrepare();
    await story.node.advance('10s');
    // The previous agent is not a process of its own, so it still calls the other driver beside the new agent.
    expect(await phaseOf(story, 'web')).toBe('Running');
    expect(story.calls()).toEqual(expect.arrayContaining(callsOf('prepare')));
    const releaseUnprepare = story.blockCalls();
    await remove(story, 'web');
    await story.node.advance('10s');
    expect(await phaseOf(story, 'web')).toBe('Running');
    story.calls();
    await story.node.restartAgent();
    releaseUnprepare();
    await story.node.advance('10s');
    await expect(story.ask('GET', `${PODS}/web`)).rejects.toThrow('404');
    expect(story.calls()).toEqual(expect.arrayContaining(callsOf('unprepare')));
  });

  test('is not prepared by any while one of them is not registered', async () => {
    const story = await claimNode([GPU]);
    await runningPod(story, shared);
    expect([await phaseOf(story, 'web'), story.calls()]).toEqual(['Pending', []]);
    expect(story.node.agent.explain('web')?.answer).toContain(`DRA driver ${NIC} is not registered`);
  });
});

test('C50: a claim that was created from a template is that of the status, and must belong to the pod', async () => {
  const story = await claimNode();
  await story.createClaim('web-gpu-x');
  await story.createPod('web', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpus' }] });
  await reserve(story, 'web-gpu-x', 'web');
  await story.node.advance('5s');
  expect(story.node.agent.explain('web')?.answer).toContain('pod "default/web": ResourceClaim not created yet');
  const status = { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'web-gpu-x' }] };
  await story.ask('PATCH', `${PODS}/web/status`, { status }, 'application/merge-patch+json');
  await story.node.advance('61s');
  expect(story.node.agent.explain('web')?.answer).toMatch(/web-gpu-x was not created for Pod default\/web/);
  const uid = await uidOf(story, 'web');
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid, controller: true };
  const metadata = { ownerReferences: [owner] };
  await story.ask('PATCH', `${CLAIMS}/web-gpu-x`, { metadata }, 'application/merge-patch+json');
  await story.node.advance('61s');
  expect(await phaseOf(story, 'web')).toBe('Running');
});

describe('C50: the health of devices', () => {
  const report = (changes: Partial<DeviceHealthReport> = {}): DeviceHealthReport => ({
    poolName: 'pool',
    deviceName: 'gpu-1',
    status: 'Healthy',
    message: '',
    timeoutSeconds: 0,
    ...changes,
  });
  const healthOf = async (story: ClaimNode) =>
    (await statusOf(story, 'web')).containerStatuses[0].allocatedResourcesStatus;
  const shown = (health: string, message?: string) => [
    {
      name: 'claim:gpu',
      resources: [{ resourceID: `${GPU}/device=gpu-1`, health, ...(message === undefined ? {} : { message }) }],
    },
  ];

  test('is in the status of the container, and Unknown again after the driver has been silent for 30 s', async () => {
    const story = await claimNode();
    await runningPod(story);
    expect(await healthOf(story)).toEqual(shown('Unknown'));
    story.drivers.reportHealth(GPU, [report({ status: 'Unhealthy', message: 'too hot' })]);
    await story.node.advance('25s');
    expect(await healthOf(story)).toEqual(shown('Unhealthy', 'too hot'));
    await story.node.advance('10s');
    expect(await healthOf(story)).toEqual(shown('Unknown'));
  });

  test('is in the status without the message if the feature gate ResourceHealthStatusMessage is off', async () => {
    const story = await claimNode([GPU], [], { reportsHealthMessages: false });
    await runningPod(story);
    story.drivers.reportHealth(GPU, [report({ status: 'Unhealthy', message: 'too hot' })]);
    await story.node.advance('25s');
    expect(await healthOf(story)).toEqual(shown('Unhealthy'));
  });

  test('is neither followed nor in the status without the feature gate ResourceHealthStatus', async () => {
    const story = await claimNode([GPU], [], { reportsDeviceHealth: false });
    await runningPod(story);
    expect([story.drivers.reportHealth(GPU, [report()]), await healthOf(story)]).toEqual([0, undefined]);
  });

  test('is in the statuses of several pods whose claims are prepared at the same time', async () => {
    const story = await claimNode();
    const devices = ['gpu-1', 'gpu-2', 'gpu-3'];
    for (const device of devices) {
      await story.createClaim(device);
      await story.createPod(`pod-${device}`, { resourceClaims: [{ name: 'gpu', resourceClaimName: device }] });
      await reserve(story, device, `pod-${device}`);
    }
    story.drivers.reportHealth(
      GPU,
      devices.map((deviceName) => report({ deviceName })),
    );
    await story.node.advance('15s');
    const statuses = await Promise.all(devices.map((device) => statusOf(story, `pod-${device}`)));
    expect(statuses.map(({ phase }) => phase)).toEqual(devices.map(() => 'Running'));
    expect(statuses.map(({ containerStatuses }) => containerStatuses[0].allocatedResourcesStatus[0].resources)).toEqual(
      devices.map((device) => [{ resourceID: `${GPU}/device=${device}`, health: 'Healthy' }]),
    );
  });

  test('is valid for as long as the driver says', async () => {
    const story = await claimNode();
    await runningPod(story);
    story.drivers.reportHealth(GPU, [report({ timeoutSeconds: 120 })]);
    await story.node.advance('100s');
    expect(await healthOf(story)).toEqual(shown('Healthy'));
    await story.node.advance('25s');
    expect(await healthOf(story)).toEqual(shown('Unknown'));
  });

  test('is Unknown once the driver has disconnected, and survives a restart of the agent', async () => {
    const story = await claimNode();
    await runningPod(story);
    story.drivers.reportHealth(GPU, [report()]);
    await story.node.restartAgent();
    await story.node.advance('5s');
    expect(await healthOf(story)).toEqual(shown('Healthy'));
    story.drivers.disconnect(GPU);
    await story.node.advance('5s');
    expect(await healthOf(story)).toEqual(shown('Unknown'));
  });
});

describe('C50: the ResourceSlices of the node', () => {
  const slice = (name: string, nodeName: string, driver: string) => ({
    metadata: { name },
    spec: { nodeName, driver, pool: { name: nodeName, generation: 1, resourceSliceCount: 1 } },
  });
  const createSlices = async (story: Pick<ClaimNode, 'ask'>) => {
    await story.ask('POST', SLICES, slice('own-gpu', 'node-1', GPU));
    await story.ask('POST', SLICES, slice('own-nic', 'node-1', 'nic.example.com'));
    await story.ask('POST', SLICES, slice('other', 'node-2', GPU));
  };
  const names = async ({ ask }: Pick<ClaimNode, 'ask'>): Promise<string[]> =>
    Object(await ask('GET', SLICES)).items.map(
      (each: { readonly metadata: { readonly name: string } }) => each.metadata.name,
    );

  test('are deleted when the agent starts, because no driver has registered yet', async () => {
    const story = await claimNode();
    await createSlices(story);
    await story.node.restartAgent();
    await story.node.advance('1s');
    expect(await names(story)).toEqual(['other']);
  });

  test('are deleted for a driver that has been disconnected for 30 s', async () => {
    const story = await claimNode([GPU, 'nic.example.com']);
    await createSlices(story);
    story.drivers.disconnect(GPU);
    await story.node.advance('29s');
    expect(await names(story)).toHaveLength(3);
    await story.node.advance('2s');
    expect(await names(story)).toEqual(['other', 'own-nic']);
  });

  test('stay if the driver is back within that time', async () => {
    const story = await claimNode([GPU, 'nic.example.com']);
    await createSlices(story);
    story.drivers.disconnect(GPU);
    await story.node.advance('25s');
    story.drivers.connect(GPU);
    await story.node.advance('1m');
    expect(await names(story)).toHaveLength(3);
  });

  test('are deleted at last if the API server is away meanwhile', async () => {
    const story = await claimNode();
    await createSlices(story);
    story.transport.isAway = true;
    story.drivers.disconnect(GPU);
    await story.node.advance('40s');
    story.transport.isAway = false;
    await story.node.advance('30s');
    expect(await names(story)).toEqual(['other', 'own-nic']);
  });
});

test('C50: explain node shows the drivers and the claims', async () => {
  const story = await claimNode();
  await runningPod(story);
  const claims = story.node.agent.explainNode().node.children.find(({ name }) => name === 'claims');
  expect(claims?.lists).toEqual({
    claims: [`default/gpu-1 by ${GPU}, used by 1 pod, prepared`],
    drivers: [`${GPU} (v1.DRAPlugin) at /var/lib/kubelet/plugins/${GPU}/dra.sock, connected`],
  });
});

test('C50: a claim file that is damaged prevents the start, with the message of a kubelet', async () => {
  const story = await claimNode();
  await runningPod(story);
  story.node.killAgent();
  await writeFile(story.node.path('root', 'dra_manager_state'), '{"Data":"{}","Checksum":1}');
  await expect(story.node.startAgent()).rejects.toThrow(
    'create ResourceClaim cache: GetOrCreate() on checkpoint state: failed to get checkpoint dra_manager_state: checkpoint is corrupted',
  );
});
