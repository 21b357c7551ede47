/** All resources of the API server. */
import { type Resource, STORED_VERBS, type Subresource, type Verb } from './resource.ts';

const STATUS_VERBS: readonly Verb[] = ['get', 'patch', 'update'];

type ResourceInput = Pick<Resource, 'name' | 'kind'> & Partial<Resource>;

const resource = (group: string, version: string, input: ResourceInput): Resource => ({
  group,
  version,
  singular: input.kind.toLowerCase(),
  isNamespaced: false,
  verbs: STORED_VERBS,
  shortNames: [],
  categories: [],
  subresources: [],
  ...input,
});

const status = (kind: string): Subresource => ({ name: 'status', kind, verbs: STATUS_VERBS });
/** The verbs of subresources that connect to a node. */
const CONNECTED_VERBS: readonly Verb[] = ['create', 'get'];
const PROXIED_VERBS: readonly Verb[] = ['create', 'delete', 'get', 'patch', 'update'];
const POLICY = { group: 'policy', version: 'v1' };
const AUTHENTICATION = { group: 'authentication.k8s.io', version: 'v1' };
/** Returns a review resource, whose objects are never stored. */
const review = (group: string, name: string, kind: string): Resource =>
  resource(group, 'v1', { name, kind, verbs: ['create'] });

const core = [
  { name: 'bindings', kind: 'Binding', isNamespaced: true, verbs: ['create'] },
  { name: 'configmaps', kind: 'ConfigMap', isNamespaced: true, shortNames: ['cm'] },
  { name: 'events', kind: 'Event', isNamespaced: true, shortNames: ['ev'] },
  // Namespaces do not support `deletecollection`.
  {
    name: 'namespaces',
    kind: 'Namespace',
    shortNames: ['ns'],
    verbs: STORED_VERBS.filter((verb) => verb !== 'deletecollection'),
    subresources: [{ name: 'finalize', kind: 'Namespace', verbs: ['update'] }, status('Namespace')],
  },
  {
    name: 'nodes',
    kind: 'Node',
    shortNames: ['no'],
    subresources: [{ name: 'proxy', kind: 'NodeProxyOptions', verbs: PROXIED_VERBS }, status('Node')],
  },
  {
    name: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    isNamespaced: true,
    shortNames: ['pvc'],
    subresources: [status('PersistentVolumeClaim')],
  },
  {
    name: 'persistentvolumes',
    kind: 'PersistentVolume',
    shortNames: ['pv'],
    subresources: [status('PersistentVolume')],
  },
  {
    name: 'pods',
    kind: 'Pod',
    isNamespaced: true,
    shortNames: ['po'],
    categories: ['all'],
    subresources: [
      { name: 'attach', kind: 'PodAttachOptions', verbs: CONNECTED_VERBS },
      { name: 'binding', kind: 'Binding', verbs: ['create'] },
      { name: 'ephemeralcontainers', kind: 'Pod', verbs: STATUS_VERBS },
      { name: 'eviction', kind: 'Eviction', verbs: ['create'], of: POLICY },
      { name: 'exec', kind: 'PodExecOptions', verbs: CONNECTED_VERBS },
      { name: 'log', kind: 'Pod', verbs: ['get'] },
      { name: 'portforward', kind: 'PodPortForwardOptions', verbs: CONNECTED_VERBS },
      { name: 'resize', kind: 'Pod', verbs: STATUS_VERBS },
      status('Pod'),
    ],
  },
  { name: 'secrets', kind: 'Secret', isNamespaced: true },
  {
    name: 'serviceaccounts',
    kind: 'ServiceAccount',
    isNamespaced: true,
    shortNames: ['sa'],
    subresources: [{ name: 'token', kind: 'TokenRequest', verbs: ['create'], of: AUTHENTICATION }],
  },
  {
    name: 'services',
    kind: 'Service',
    isNamespaced: true,
    shortNames: ['svc'],
    categories: ['all'],
    subresources: [status('Service')],
  },
] as const satisfies readonly ResourceInput[];

/** The resources of metrics-server, which are computed and never stored. */
const metricsResources = [
  { name: 'nodes', kind: 'NodeMetrics', isNamespaced: false },
  { name: 'pods', kind: 'PodMetrics', isNamespaced: true },
].map((each) => resource('metrics.k8s.io', 'v1beta1', { ...each, singular: '', verbs: ['get', 'list'] }));

export const resources: readonly Resource[] = [
  ...core.map((each) => resource('', 'v1', each)),
  review('authentication.k8s.io', 'selfsubjectreviews', 'SelfSubjectReview'),
  review('authentication.k8s.io', 'tokenreviews', 'TokenReview'),
  review('authorization.k8s.io', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview'),
  review('authorization.k8s.io', 'subjectaccessreviews', 'SubjectAccessReview'),
  resource('certificates.k8s.io', 'v1', {
    name: 'certificatesigningrequests',
    kind: 'CertificateSigningRequest',
    shortNames: ['csr'],
    subresources: [
      { name: 'approval', kind: 'CertificateSigningRequest', verbs: STATUS_VERBS },
      status('CertificateSigningRequest'),
    ],
  }),
  resource('coordination.k8s.io', 'v1', { name: 'leases', kind: 'Lease', isNamespaced: true }),
  resource('events.k8s.io', 'v1', { name: 'events', kind: 'Event', isNamespaced: true, shortNames: ['ev'] }),
  ...metricsResources,
  resource('node.k8s.io', 'v1', { name: 'runtimeclasses', kind: 'RuntimeClass' }),
  resource('policy', 'v1', {
    name: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    isNamespaced: true,
    shortNames: ['pdb'],
    subresources: [status('PodDisruptionBudget')],
  }),
  resource('resource.k8s.io', 'v1', {
    name: 'resourceclaims',
    kind: 'ResourceClaim',
    isNamespaced: true,
    subresources: [status('ResourceClaim')],
  }),
  resource('resource.k8s.io', 'v1', { name: 'resourceslices', kind: 'ResourceSlice' }),
  resource('scheduling.k8s.io', 'v1', { name: 'priorityclasses', kind: 'PriorityClass', shortNames: ['pc'] }),
  resource('storage.k8s.io', 'v1', { name: 'csidrivers', kind: 'CSIDriver' }),
  resource('storage.k8s.io', 'v1', { name: 'csinodes', kind: 'CSINode' }),
  resource('storage.k8s.io', 'v1', {
    name: 'volumeattachments',
    kind: 'VolumeAttachment',
    subresources: [status('VolumeAttachment')],
  }),
];

export const resourceNamed = (group: string, version: string, name: string): Resource | undefined =>
  resources.find((each) => each.group === group && each.version === version && each.name === name);
