/** Paths and types of the API objects that a node reads and writes. */

/** The `apiVersion` and `kind` by which an API object says what it is. */
export interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Returns the type of a list of such objects. */
export const listTypeOf = ({ apiVersion, kind }: ObjectType): ObjectType => ({ apiVersion, kind: `${kind}List` });

export const POD: ObjectType = { apiVersion: 'v1', kind: 'Pod' };
export const SERVICE: ObjectType = { apiVersion: 'v1', kind: 'Service' };
export const EVENT: ObjectType = { apiVersion: 'v1', kind: 'Event' };
export const NODE: ObjectType = { apiVersion: 'v1', kind: 'Node' };
export const SERVICE_ACCOUNT: ObjectType = { apiVersion: 'v1', kind: 'ServiceAccount' };
export const LEASE: ObjectType = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
export const CSI_NODE: ObjectType = { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode' };
export const RUNTIME_CLASS: ObjectType = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass' };
export const CERTIFICATE_SIGNING_REQUEST: ObjectType = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
};

const part = encodeURIComponent;

export const podsPath = ({ namespace }: { readonly namespace: string }): string =>
  `/api/v1/namespaces/${part(namespace)}/pods`;
export const podPath = (pod: { readonly namespace: string; readonly name: string }): string =>
  `${podsPath(pod)}/${part(pod.name)}`;

export const tokenPath = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `/api/v1/namespaces/${part(namespace)}/serviceaccounts/${part(name)}/token`;

export const PODS = '/api/v1/pods';
export const SERVICES = '/api/v1/services';
export const eventsPath = ({ namespace }: { readonly namespace: string }): string =>
  `/api/v1/namespaces/${part(namespace)}/events`;
export const eventPath = (event: { readonly namespace: string; readonly name: string }): string =>
  `${eventsPath(event)}/${part(event.name)}`;

export const NODES = '/api/v1/nodes';
export const nodePath = (name: string): string => `${NODES}/${part(name)}`;

export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const leasePath = (name: string): string => `${LEASES}/${part(name)}`;

export const CSI_NODES = '/apis/storage.k8s.io/v1/csinodes';
export const csiNodePath = (name: string): string => `${CSI_NODES}/${part(name)}`;

export const RUNTIME_CLASSES = '/apis/node.k8s.io/v1/runtimeclasses';

export const serviceAccountPath = (account: { readonly namespace: string; readonly name: string }): string =>
  `/api/v1/namespaces/${part(account.namespace)}/serviceaccounts/${part(account.name)}`;
export const configMapsPath = (namespace: string): string => `/api/v1/namespaces/${part(namespace)}/configmaps`;
export const secretsPath = (namespace: string): string => `/api/v1/namespaces/${part(namespace)}/secrets`;
