/** The cluster of a traced pod, with Services, ClusterTrustBundles, ResourceClaims and their simulated drivers. */
import type { ResourceDrivers } from '../../../actors/claims/resourceDrivers.ts';
import type { NodeParts } from '../../../actors/node/nodeParts.ts';
import type { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { SimulatedDriverHost } from '../../../actors/simulated/simulatedDrivers.ts';
import { KubeClient } from '../../../kubeclient/client.ts';
import { podPath } from '../../../kubeclient/paths.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { JsonObject } from '../../../testing/apiserver/json.ts';
import type { ResourceName } from '../../../testing/apiserver/store/store.ts';
import { TrustBundleServer } from '../../../testing/simulation/cluster/trustBundleServer.ts';
import { cluster, MemoryTransport } from '../../fakes/cluster.ts';

const NODE_NAME = 'node-1';
const NAMES = ['first', 'second', 'third'];
const REQUESTS = ['first', 'second'];
const driverOf = (name: string): string => `${name}.test`;

interface TracedCluster {
  readonly parts: Pick<NodeParts, 'cluster' | 'drivers'>;
  /** Deletes the pod. Its node terminates it. */
  deletePod(): Promise<void>;
}

/** Creates the API server of a cluster in which the pod is bound to the node. */
export function createTracedCluster({ metadata, spec, ...pod }: Pod, clock: SimulatedClock): TracedCluster {
  const { api, ask, ...others } = cluster(clock, NODE_NAME);
  const put = (resource: ResourceName, object: object) =>
    // Each object here is made of plain JSON.
    void api.registry.store.put(resource, object as JsonObject);
  const putClaim = (name: string, driver: string, owner: object) => {
    const results = REQUESTS.map((request) => ({ request, driver, pool: 'pool', device: name }));
    put('resource.k8s.io/resourceclaims', {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: { namespace: metadata.namespace, name, uid: `${name}-uid`, ...owner },
      spec: {},
      status: {
        allocation: { devices: { results } },
        reservedFor: [{ resource: 'pods', name: metadata.name, uid: metadata.uid }],
      },
    });
  };
  put('/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: metadata.namespace, name: 'web', uid: 'web-uid' },
    spec: { clusterIP: '198.51.100.7', ports: [{ port: 80, protocol: 'TCP' }] },
  });
  for (const name of NAMES) {
    for (const bundle of trustBundles(name)) put('certificates.k8s.io/clustertrustbundles', bundle);
    putClaim(name, driverOf(name), {});
  }
  // The controller of the claims creates a claim from each template.
  const resourceClaimStatuses = (spec.resourceClaims ?? []).flatMap(({ name, resourceClaimTemplateName: template }) => {
    if (template === undefined) return [];
    const resourceClaimName = `${metadata.name}-${name}`;
    const owner = { apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid, controller: true };
    putClaim(resourceClaimName, driverOf(template), { ownerReferences: [owner] });
    return [{ name, resourceClaimName }];
  });
  put('/pods', {
    ...pod,
    metadata: { ...metadata, creationTimestamp: new Date(clock.now()).toISOString() },
    spec: { ...spec, nodeName: NODE_NAME },
    status: { phase: 'Pending', resourceClaimStatuses },
  });
  // The authorizer of nodes reads the fields of pods as well, so the node has all permissions.
  const user = { name: `system:node:${NODE_NAME}`, groups: ['system:masters'] };
  const transport = new MemoryTransport(new TrustBundleServer(api, api), user);
  const client = new KubeClient({ transport, clock, userAgent: 'statelet/test' });
  return {
    parts: { cluster: { ...others, client, leaseClient: client, hasTrustBundles: true }, drivers: createDrivers() },
    deletePod: async () => void (await ask('DELETE', podPath(metadata), {})),
  };
}

/** Returns a bundle with this name, and two of a signer with different labels. */
function trustBundles(name: string): object[] {
  const signerName = `${name}.test/ca`;
  const bundleOf = (bundleName: string, bundleSpec: object, labels: object = {}) => ({
    metadata: { name: bundleName, uid: `${bundleName}-uid`, labels },
    spec: { ...bundleSpec, trustBundle: anchorOf(bundleName) },
  });
  return [
    bundleOf(name, {}),
    ...['yes', 'no'].map((live) => bundleOf(`${name}.test:ca:${live}`, { signerName }, { live })),
  ];
}

/** Returns a PEM block that passes the node's checks, although it contains no certificate. */
const anchorOf = (text: string): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(text).toString('base64')}\n-----END CERTIFICATE-----\n`;

/** Returns drivers that prepare a device for each request of a claim. */
function createDrivers(): ResourceDrivers {
  const host = new SimulatedDriverHost();
  for (const name of NAMES) host.connect(driverOf(name));
  const access = host.accessThrough();
  return {
    ...access,
    prepare: async (driver, claims, options) => {
      const results = await access.prepare(driver, claims, options);
      return results.map((result) => ({
        ...result,
        devices: result.devices.flatMap((device) =>
          REQUESTS.map((request) => ({
            ...device,
            requestNames: [request],
            cdiIds: device.cdiIds.map((id) => `${id}-${request}`),
          })),
        ),
      }));
    },
  };
}
