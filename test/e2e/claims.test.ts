/** Resource claims on a real containerd, prepared by a driver in a process of its own. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { parseClaimCheckpoint } from '../../kubernetes/claims/claimCheckpoint.ts';
import { DraDriver } from '../fakes/draDriver/draDriver.ts';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { hearing, podManifest, steadily } from './support/manifests.ts';
import { containerOf } from './support/node.ts';
import { isContainerd2 } from './support/runtimes.ts';

const GPU = 'gpu.example.com';
const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/claims/resourceclaims';
const PODS = '/api/v1/namespaces/claims/pods';
const SLICES = '/apis/resource.k8s.io/v1/resourceslices';

const cluster = await forAllTests(testCluster);
const { node, server } = cluster;
const driver = new DraDriver(GPU, node.rootDir);
afterAll(() => driver.stop());

/** The CDI specification of the driver's device. All containerds of a host read the same directory. */
const CDI_KIND = `statelet-${process.pid}.example.com/gpu`;
const cdiFile = `/var/run/cdi/statelet-${process.pid}.json`;
const device = { name: 'a', containerEdits: { env: ['GPU=a'] } };
await mkdir('/var/run/cdi', { recursive: true });
await writeFile(cdiFile, JSON.stringify({ cdiVersion: '0.6.0', kind: CDI_KIND, devices: [device] }));
afterAll(() => rm(cdiFile));

const calls = () => driver.calls().filter(({ call }) => call !== 'notify');
const claimsOnDisk = async () => parseClaimCheckpoint(await readFile(join(node.rootDir, 'dra_manager_state'), 'utf8'));

/** Waits until `look` accepts the pod at the API server, and returns the pod. */
const podUntil = (what: string, name: string, look: (pod: Pod) => boolean): Promise<Pod> =>
  eventually(`pod ${name}: ${what}`, async () => {
    const pod: Pod = Object(await server.request('GET', `${PODS}/${name}`));
    return look(pod) ? pod : undefined;
  });

const running = (name: string) =>
  podUntil('it runs', name, ({ status }) => status?.containerStatuses?.[0]?.ready === true);

/** Creates a pod with a claim that is allocated to it and reserved for it. */
async function createClaimedPod(name: string): Promise<void> {
  const request = { name: 'any', exactly: { deviceClassName: 'gpu' } };
  const claim = { metadata: { name: `${name}-gpu` }, spec: { devices: { requests: [request] } } };
  const created = await server.request('POST', CLAIMS, claim);
  const command = ['sh', '-c', steadily('mkdir -p /tmp; echo "GPU=$GPU"; touch /tmp/hears')];
  const main = hearing('main', { command, resources: { claims: [{ name: 'gpu' }] } });
  const resourceClaims = [{ name: 'gpu', resourceClaimName: `${name}-gpu` }];
  const manifest = podManifest(name, [main], { resourceClaims, nodeName: 'node' });
  const { metadata } = Object(await server.request('POST', PODS, JSON.parse(JSON.stringify(manifest))));
  const results = [{ request: 'any', driver: GPU, pool: 'pool', device: 'a' }];
  const reservedFor = [{ resource: 'pods', name, uid: metadata.uid }];
  const status = { allocation: { devices: { results } }, reservedFor };
  await server.request('PUT', `${CLAIMS}/${name}-gpu/status`, { ...Object(created), status });
}

test('C50: a pod waits for its driver, runs with its claim prepared, and is gone once it is unprepared', async () => {
  await cluster.addNamespace('claims');
  await createClaimedPod('web');
  await eventually('the pod waits', async () => {
    const events = JSON.stringify(await server.request('GET', '/api/v1/namespaces/claims/events'));
    return events.includes(`prepare dynamic resources: DRA driver ${GPU} is not registered`) || undefined;
  });
  await driver.start({ cdiIds: [`${CDI_KIND}=a`], health: [{ device: 'web-gpu', healthStatus: 1 }] });
  const pod = await running('web');
  // containerd 1.6 ignores the CDI devices of a container.
  await node.log(pod, 'main', isContainerd2 ? 'GPU=a' : 'GPU=');
  expect(calls()).toEqual([{ call: 'prepare', version: 'v1', claims: ['web-gpu'] }]);
  await podUntil('the device is healthy', 'web', (shown) => {
    const [status] = containerOf(shown).allocatedResourcesStatus ?? [];
    return status?.resources?.[0]?.health === 'Healthy' && status.resources[0].resourceID === `${CDI_KIND}=a`;
  });
  expect(await claimsOnDisk()).toMatchObject([{ name: 'web-gpu', namespace: 'claims', podUids: [pod.metadata.uid] }]);

  await driver.behave({ claimErrors: { 'web-gpu': 'still busy' } });
  await server.request('DELETE', `${PODS}/web`, { gracePeriodSeconds: 1 });
  await eventually('the driver refuses', async () => calls().length > 1 || undefined);
  // The pod remains at the API server as long as its device is in use.
  expect(Object(await server.request('GET', `${PODS}/web`)).metadata.name).toBe('web');
  await driver.behave({});
  await eventually('the pod is gone', async () => {
    const pods = Object(await server.request('GET', PODS));
    return pods.items.length === 0 || undefined;
  });
  expect(calls().at(-1)).toEqual({ call: 'unprepare', version: 'v1', claims: ['web-gpu'] });
  expect(await claimsOnDisk()).toEqual([]);
});

test('C50: the claim of a running pod outlives the agent, and the slices of the node do not', async () => {
  await createClaimedPod('stays');
  const { uid } = (await running('stays')).metadata;
  const before = calls().length;
  const slice = {
    metadata: { name: 'node-gpu' },
    spec: { nodeName: 'node', driver: GPU, pool: { name: 'node', generation: 1, resourceSliceCount: 1 } },
  };
  await server.request('POST', SLICES, slice);
  cluster.agent.kill('SIGKILL');
  await cluster.agent.ended;
  cluster.launch();
  await eventually(
    'the slices are deleted',
    async () => Object(await server.request('GET', SLICES)).items.length === 0 || undefined,
  );
  const again = await running('stays');
  expect([again.metadata.uid, containerOf(again).restartCount]).toEqual([uid, 0]);
  expect(calls()).toHaveLength(before);
  await server.request('DELETE', `${PODS}/stays`, { gracePeriodSeconds: 1 });
  await eventually('the claim is unprepared', async () => (await claimsOnDisk()).length === 0 || undefined);
});
