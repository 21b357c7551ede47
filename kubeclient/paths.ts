/** Paths and types of the API objects that a node reads and writes. */

/** The `apiVersion` and `kind` of an API object. */
export interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Returns the corresponding list type, e.g. `PodList` for `Pod`. */
export const toListType = ({ apiVersion, kind }: ObjectType): ObjectType => ({ apiVersion, kind: `${kind}List` });

export const POD: ObjectType = { apiVersion: 'v1', kind: 'Pod' };
export const SERVICE_TYPE: ObjectType = { apiVersion: 'v1', kind: 'Service' };
export const EVENT_TYPE: ObjectType = { apiVersion: 'v1', kind: 'Event' };
export const NODE_TYPE: ObjectType = { apiVersion: 'v1', kind: 'Node' };
export const SERVICE_ACCOUNT_TYPE: ObjectType = { apiVersion: 'v1', kind: 'ServiceAccount' };
export const LEASE_TYPE: ObjectType = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
export const CSI_NODE_TYPE: ObjectType = { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode' };
export const RUNTIME_CLASS_TYPE: ObjectType = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass' };
export const RESOURCE_CLAIM_TYPE: ObjectType = { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim' };
export const CERTIFICATE_SIGNING_REQUEST_TYPE: ObjectType = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
};

const encodeSegment = encodeURIComponent;

export const podsPath = ({ namespace }: { readonly namespace: string }): string =>
  `/api/v1/namespaces/${encodeSegment(namespace)}/pods`;
export const podPath = (pod: { readonly namespace: string; readonly name: string }): string =>
  `${podsPath(pod)}/${encodeSegment(pod.name)}`;

export const tokenPath = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `/api/v1/namespaces/${encodeSegment(namespace)}/serviceaccounts/${encodeSegment(name)}/token`;

export const PODS_PATH = '/api/v1/pods';
export const SERVICES_PATH = '/api/v1/services';
export const eventsPath = ({ namespace }: { readonly namespace: string }): string =>
  `/api/v1/namespaces/${encodeSegment(namespace)}/events`;
export const eventPath = (event: { readonly namespace: string; readonly name: string }): string =>
  `${eventsPath(event)}/${encodeSegment(event.name)}`;

export const NODES_PATH = '/api/v1/nodes';
export const nodePath = (name: string): string => `${NODES_PATH}/${encodeSegment(name)}`;

export const LEASES_PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const leasePath = (name: string): string => `${LEASES_PATH}/${encodeSegment(name)}`;

export const CSI_NODES_PATH = '/apis/storage.k8s.io/v1/csinodes';
export const csiNodePath = (name: string): string => `${CSI_NODES_PATH}/${encodeSegment(name)}`;

export const RESOURCE_SLICES_PATH = '/apis/resource.k8s.io/v1/resourceslices';
export const resourceClaimPath = (claim: { readonly namespace: string; readonly name: string }): string =>
  `/apis/resource.k8s.io/v1/namespaces/${encodeSegment(claim.namespace)}/resourceclaims/${encodeSegment(claim.name)}`;

export const RUNTIME_CLASSES_PATH = '/apis/node.k8s.io/v1/runtimeclasses';

export const serviceAccountPath = (account: { readonly namespace: string; readonly name: string }): string =>
  `/api/v1/namespaces/${encodeSegment(account.namespace)}/serviceaccounts/${encodeSegment(account.name)}`;
export const configMapsPath = (namespace: string): string =>
  `/api/v1/namespaces/${encodeSegment(namespace)}/configmaps`;
export const secretsPath = (namespace: string): string => `/api/v1/namespaces/${encodeSegment(namespace)}/secrets`;
