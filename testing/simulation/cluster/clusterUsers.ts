/**
 * The users of a cluster, who create, change and delete pods and objects. Requests that the API rejects have no effect.
 */

import { configMapsPath, podPath, secretsPath } from '../../../kubeclient/paths.ts';
import type { Api } from '../../apiserver/api.ts';
import { type JsonObject, objectAt, textAt } from '../../apiserver/json.ts';
import { listAt } from '../../apiserver/registry/strategies/parts.ts';
import type { User } from '../../apiserver/requests/request.ts';
import { withMetadata } from '../../apiserver/store/metadata.ts';
import { NODE_NAME } from '../host/host.ts';
import type { Manifest } from '../stories/manifests.ts';
import { type ApiObject, jsonOfObject, OBJECT_RESOURCES, type ObjectKind } from './apiObject.ts';

const ADMIN: User = { name: 'admin', groups: ['system:masters'] };
const NAMESPACE = 'default';
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const SERVICES = `/api/v1/namespaces/${NAMESPACE}/services`;
const CLAIMS = `/apis/resource.k8s.io/v1/namespaces/${NAMESPACE}/resourceclaims`;
/** The driver that has allocated all claims. */
export const CLAIM_DRIVER = 'gpu.example.com';
const ACCOUNTS = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;

/** The status reason of a pod whose phase a controller has set to Failed. */
export const NODE_LOST = 'NodeLost';

export class ClusterUsers {
  readonly #api: Api;
  /** Resolves when the last request has completed. Requests are sent sequentially. */
  #last: Promise<unknown>;
  /** The error responses, for debugging. */
  readonly errorResponses: string[] = [];

  constructor(api: Api) {
    this.#api = api;
    this.#last = this.#request('POST', ACCOUNTS, { metadata: { name: 'default' } });
  }

  /** Creates a pod that is bound to the node. */
  create(pod: Manifest): void {
    const { resourceClaims = [] } = pod.spec;
    const metadata = { ...pod.metadata, namespace: NAMESPACE };
    const spec = { automountServiceAccountToken: false, ...pod.spec };
    if (resourceClaims.length === 0) {
      this.#enqueueRequest('POST', PODS, { ...pod, metadata, spec: { ...spec, nodeName: NODE_NAME } });
      return;
    }
    // Like a scheduler, reserve the claims before the pod is bound to the node.
    this.#enqueueRequest('POST', PODS, { ...pod, metadata, spec });
    for (const { resourceClaimName } of resourceClaims) this.#reserveClaim(resourceClaimName, metadata.name);
    const target = { kind: 'Node', name: NODE_NAME };
    this.#enqueueRequest('POST', `${PODS}/${metadata.name}/binding`, { metadata: { name: metadata.name }, target });
  }

  /** Reserves a claim for a pod, after creating and allocating it if it does not exist. */
  #reserveClaim(claim: string, pod: string): void {
    const requests = [{ name: 'any', exactly: { deviceClassName: 'gpu' } }];
    this.#enqueueRequest('POST', CLAIMS, { metadata: { name: claim }, spec: { devices: { requests } } });
    this.#enqueue(() => {
      const stored = this.#api.registry.store.get('resource.k8s.io/resourceclaims', NAMESPACE, claim) ?? {};
      const uid = textAt(objectAt(this.#storedPod(`${NAMESPACE}/${pod}`), 'metadata'), 'uid');
      const results = [{ request: 'any', driver: CLAIM_DRIVER, pool: 'pool', device: claim }];
      const reserved = listAt(objectAt(stored, 'status'), 'reservedFor');
      const reservedFor = [...reserved, { resource: 'pods', name: pod, uid }];
      const status = { allocation: { devices: { results } }, reservedFor };
      return this.#request('PUT', `${CLAIMS}/${claim}/status`, { ...stored, status });
    });
  }

  /** Creates a Service with one port. */
  createService(name: string): void {
    this.#enqueueRequest('POST', SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
  }

  /** Deletes a pod. With 0 as `graceSeconds`, the server removes it at once, even if it is running. */
  delete(pod: string, graceSeconds?: number): void {
    this.#enqueueRequest('DELETE', pathOf(pod), graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds });
  }

  label(pod: string, labels: Readonly<Record<string, string>>): void {
    this.#enqueueRequest('PATCH', pathOf(pod), { metadata: { labels } });
  }

  /** Sets the phase to Failed, unless the pod is terminal already. */
  fail(pod: string): void {
    if (['Succeeded', 'Failed'].includes(textAt(objectAt(this.#storedPod(pod), 'status'), 'phase'))) return;
    const status = { phase: 'Failed', reason: NODE_LOST, message: 'its node does not answer' };
    this.#enqueueRequest('PATCH', `${pathOf(pod)}/status`, { status });
  }

  /**
   * Changes a container's image if the pod always restarts containers. Otherwise the server would reject the later
   * status.
   */
  setImage(pod: string, container: string, image: string): void {
    if (textAt(objectAt(this.#storedPod(pod), 'spec'), 'restartPolicy') !== 'Always') return;
    this.#enqueueRequest('PATCH', pathOf(pod), { spec: { containers: [{ name: container, image }] } });
  }

  /** Creates or updates an object. */
  putObject(object: ApiObject): void {
    const { of, name } = object;
    if (of === 'ClusterTrustBundle') return void this.#enqueue(async () => this.#putBundle(object));
    const exists = () => this.#api.registry.store.get(OBJECT_RESOURCES[of], NAMESPACE, name) !== undefined;
    const json = jsonOfObject(object);
    this.#enqueue(() => (exists() ? this.#request('PUT', objectPath(of, name), json) : this.#createObject(of, json)));
  }

  deleteObject(of: ObjectKind, name: string): void {
    if (of === 'ClusterTrustBundle') this.#enqueue(async () => this.#deleteBundle(name));
    else this.#enqueue(() => this.#request('DELETE', objectPath(of, name), {}));
  }

  #createObject(of: Exclude<ObjectKind, 'ClusterTrustBundle'>, json: JsonObject): Promise<void> {
    return this.#request('POST', collectionOf(of), json);
  }

  /** Writes to the store, because the server has no write access to ClusterTrustBundles. */
  #putBundle(object: ApiObject): void {
    const { store, ids } = this.#api.registry;
    const before = store.get(OBJECT_RESOURCES.ClusterTrustBundle, undefined, object.name);
    const uid = textAt(objectAt(before ?? {}, 'metadata'), 'uid') || ids.uid();
    const labels = { name: object.name };
    store.put(OBJECT_RESOURCES.ClusterTrustBundle, withMetadata(jsonOfObject(object), { uid, labels }));
  }

  #deleteBundle(name: string): void {
    const { store } = this.#api.registry;
    const bundle = store.get(OBJECT_RESOURCES.ClusterTrustBundle, undefined, name);
    if (bundle !== undefined) store.remove(OBJECT_RESOURCES.ClusterTrustBundle, bundle);
  }

  #storedPod(pod: string): JsonObject {
    const [namespace, name = ''] = pod.split('/');
    return this.#api.registry.store.get('/pods', namespace, name) ?? {};
  }

  #enqueueRequest(method: string, path: string, body: object): void {
    this.#enqueue(() => this.#request(method, path, body));
  }

  #enqueue(act: () => Promise<unknown>): void {
    this.#last = this.#last.then(act);
  }

  async #request(method: string, url: string, body: object): Promise<void> {
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const headers = new Map([['content-type', type]]);
    const response = await this.#api.respond({ method, url, headers, body: JSON.stringify(body), user: ADMIN });
    if (response.code >= 400 && 'body' in response)
      this.errorResponses.push(`${method} ${url}: ${String(response.body).trim()}`);
  }
}

const collectionOf = (of: Exclude<ObjectKind, 'ClusterTrustBundle'>): string =>
  of === 'Secret' ? secretsPath(NAMESPACE) : configMapsPath(NAMESPACE);
const objectPath = (of: Exclude<ObjectKind, 'ClusterTrustBundle'>, name: string): string =>
  `${collectionOf(of)}/${name}`;

/** Returns the API path of a pod, given its full name. */
function pathOf(pod: string): string {
  const [namespace = '', name = ''] = pod.split('/');
  return podPath({ namespace, name });
}
