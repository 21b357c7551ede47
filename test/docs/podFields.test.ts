/** Tests the table of a pod's fields, and the behavior of the node for fields that keep a pod from running. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { decideAdmission } from '../../kubernetes/admission/decide.ts';
import { withDefaults } from '../../kubernetes/api/defaults/defaults.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import { type PodSpec, podManifestSchema } from '../../kubernetes/api/schema/pod.ts';
import { validatePod } from '../../kubernetes/api/validate.ts';
import { requestsOf } from '../../kubernetes/resources/requests.ts';
import { findTreatment, listSpecFields, podFieldsPage } from '../../scripts/podFields/page.ts';
import { API_SERVER, treatmentByPath } from '../../scripts/podFields/treatments.ts';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';
import { root } from '../support/root.ts';

const fields = listSpecFields();
const entries = [...treatmentByPath];

test('docs/pod-fields.md is current: `npm run docs` writes it', () => {
  expect(readFileSync(join(root, 'docs/pod-fields.md'), 'utf8')).toBe(podFieldsPage());
});

test('C46: every field of the schema has a treatment, and every treatment a field', () => {
  expect(fields).toEqual(expect.arrayContaining(['volumes[].name', 'overhead{}', 'initContainers[].env[].value']));
  expect(fields.filter((field) => findTreatment(field) === undefined)).toEqual([]);
  const used = new Set(fields.map(findTreatment));
  expect(entries.map(([path]) => path).filter((path) => !used.has(path))).toEqual([]);
});

test('an entry for a part of the spec covers nothing outside it', () => {
  expect(findTreatment('volumes[].nfs.server')).toBe('volumes[].nfs');
  expect(findTreatment('volumes[].nfsv4.server')).toBeUndefined();
  expect(findTreatment('containers[].newField')).toBeUndefined();
  expect(findTreatment('containers[].resources.requests{}.more')).toBeUndefined();
  expect(findTreatment('ephemeralContainers[].resources.limits{}')).toBe('ephemeralContainers[].resources');
  expect(findTreatment('initContainers[].startupProbe.periodSeconds')).toBe('containers[].livenessProbe.periodSeconds');
});

const main = (more: Partial<Container>): Partial<PodSpec> => ({ containers: [containerWith('main', more)] });

/** A pod for each field that keeps a pod from running. */
const EXAMPLES: ReadonlyMap<string, Partial<PodSpec>> = new Map([
  ['volumes[].projected.sources[].podCertificate', withVolume({ projected: { sources: [podCertificate()] } })],
  ['volumes[].gitRepo', withVolume({ gitRepo: { repository: 'https://example.com/a.git' } })],
  ['volumes[].persistentVolumeClaim', withVolume({ persistentVolumeClaim: { claimName: 'a' } })],
  ['volumes[].ephemeral', withVolume({ ephemeral: { volumeClaimTemplate: { spec: {} } } })],
  ['volumes[].gcePersistentDisk', withVolume({ gcePersistentDisk: { pdName: 'a' } })],
  ['volumes[].awsElasticBlockStore', withVolume({ awsElasticBlockStore: { volumeID: 'a' } })],
  ['volumes[].nfs', withVolume({ nfs: { server: 'a', path: '/' } })],
  ['volumes[].iscsi', withVolume({ iscsi: { targetPortal: 'a', iqn: 'b', lun: 0 } })],
  ['volumes[].glusterfs', withVolume({ glusterfs: { endpoints: 'a', path: 'b' } })],
  ['volumes[].rbd', withVolume({ rbd: { monitors: ['a'], image: 'b' } })],
  ['volumes[].flexVolume', withVolume({ flexVolume: { driver: 'a/b' } })],
  ['volumes[].cinder', withVolume({ cinder: { volumeID: 'a' } })],
  ['volumes[].cephfs', withVolume({ cephfs: { monitors: ['a'] } })],
  ['volumes[].flocker', withVolume({ flocker: { datasetName: 'a' } })],
  ['volumes[].fc', withVolume({ fc: { wwids: ['a'] } })],
  ['volumes[].azureFile', withVolume({ azureFile: { secretName: 'a', shareName: 'b' } })],
  ['volumes[].vsphereVolume', withVolume({ vsphereVolume: { volumePath: 'a' } })],
  ['volumes[].quobyte', withVolume({ quobyte: { registry: 'a:1', volume: 'b' } })],
  ['volumes[].azureDisk', withVolume({ azureDisk: { diskName: 'a', diskURI: 'b' } })],
  ['volumes[].photonPersistentDisk', withVolume({ photonPersistentDisk: { pdID: 'a' } })],
  ['volumes[].portworxVolume', withVolume({ portworxVolume: { volumeID: 'a' } })],
  ['volumes[].scaleIO', withVolume({ scaleIO: { gateway: 'a', system: 'b', secretRef: {} } })],
  ['volumes[].storageos', withVolume({ storageos: { volumeName: 'a' } })],
  ['volumes[].csi', withVolume({ csi: { driver: 'a' } })],
  [
    'containers[].volumeDevices[]',
    {
      ...withVolume({ persistentVolumeClaim: { claimName: 'a' } }),
      ...main({ volumeDevices: [{ name: 'data', devicePath: '/dev/a' }] }),
    },
  ],
  ['containers[].lifecycle.postStart.tcpSocket', main({ lifecycle: { postStart: { tcpSocket: { port: 1 } } } })],
  ['resources.claims[]', { resources: { claims: [{ name: 'gpu' }] } }],
  ['schedulingGates[]', { nodeName: 'node-1', schedulingGates: [{ name: 'a/b' }] }],
  ['securityContext.windowsOptions', { securityContext: { windowsOptions: { runAsUserName: 'u' } } }],
  ['containers[].securityContext.windowsOptions', main({ securityContext: { windowsOptions: { hostProcess: true } } })],
]);

function withVolume(source: Omit<NonNullable<PodSpec['volumes']>[number], 'name'>): Partial<PodSpec> {
  return { volumes: [{ name: 'data', ...source }] };
}

function podCertificate() {
  return { podCertificate: { signerName: 'example.com/a', keyType: 'ED25519', credentialBundlePath: 'bundle.pem' } };
}

test('every treatment that rejects a pod has an example', () => {
  const stopping = entries.filter(([, { treatment, owner: by }]) => treatment !== 'takes effect' && by !== API_SERVER);
  expect(stopping.map(([path]) => path).toSorted()).toEqual([...EXAMPLES.keys()].toSorted());
});

const examplesOf = (wanted: string) =>
  [...EXAMPLES]
    .filter(([path]) => treatmentByPath.get(path)?.treatment === wanted)
    .map(([path, spec]) => ({ path, spec }));

describe('C46: a pod with a field that is rejected', () => {
  const node = {
    name: 'node-1',
    labels: {},
    taints: [],
    sysctls: [],
    appArmor: true,
    strictGroups: true,
    pressure: [],
    isShuttingDown: false,
  };
  const room = { node, capacity: { cpuMillis: 1_000, memoryBytes: 2 ** 30, pods: 9 }, occupants: [], reserved: [] };

  test.each(examplesOf('rejected'))('is invalid or not admitted: $path', ({ spec }) => {
    const pod = podWith('web', spec);
    const decision = decideAdmission({ pod, requests: requestsOf(pod), wasAdmitted: false }, room);
    expect(validatePod(pod).length > 0 || decision.kind === 'refused').toBe(true);
  });
});

test('C46: a pod with a field that the node cannot serve does not run, and shows the reason from the table', async () => {
  const held = examplesOf('holds the pod back').map((example, index) => ({ ...example, name: `held-${index}` }));
  const plain = podWith('plain');
  const node = await simulatedNode({ pods: [plain, ...held.map(({ name, spec }) => podWith(name, spec))] });
  await node.advance('8s');
  expect(node.pod('plain').phase).toBe('Running');
  const seen = held.map(({ path, name }) => {
    const { containerStatuses = [], conditions = [] } = node.pod(name);
    const explained = JSON.stringify(node.agent.explain(name));
    const reason = /^\w+/.exec(treatmentByPath.get(path)?.text ?? '')?.[0] ?? '';
    const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    const hasStarted = isReady || containerStatuses.some(({ started }) => started);
    return { path, hasStarted, showsReason: reason !== '' && explained.includes(reason) };
  });
  expect(seen).toEqual(held.map(({ path }) => ({ path, hasStarted: false, showsReason: true })));
});

test('the examples are valid pods in the schema', () => {
  for (const [path, spec] of EXAMPLES) {
    const { metadata } = podWith('web');
    const pod = withDefaults({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], ...spec } });
    expect({ path, success: podManifestSchema.safeParse(pod).success }).toEqual({ path, success: true });
  }
});
