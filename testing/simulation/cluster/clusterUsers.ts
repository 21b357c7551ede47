/** Those who make, change and delete pods and what these need in the API of a cluster: what it refuses has no effect. */

import { configMapsPath, podPath, secretsPath } from '../../../kubeclient/paths.ts';
import type { Api } from '../../apiserver/api.ts';
import { type JsonObject, objectAt, textAt } from '../../apiserver/json.ts';
import type { User } from '../../apiserver/request.ts';
import { withMetadata } from '../../apiserver/store/metadata.ts';
import { NODE_NAME } from '../host/host.ts';
import type { Manifest } from '../stories/manifests.ts';
import { type ApiObject, jsonOfObject, OBJECT_RESOURCES, type ObjectKind } from './apiObject.ts';

const ADMIN: User = { name: 'admin', groups: ['system:masters'] };
const NAMESPACE = 'default';
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const ACCOUNTS = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;

/** Why somebody says that a pod has failed. */
export const NODE_LOST = 'NodeLost';

export class ClusterUsers {
  readonly #api: Api;
  /** One after the other, as one user does things. */
  #last: Promise<unknown>;
  /** What the server refused, for whoever wonders. */
  readonly refused: string[] = [];

  constructor(api: Api) {
    this.#api = api;
    this.#last = this.#ask('POST', ACCOUNTS, { metadata: { name: 'default' } });
  }

  /** Makes a pod that is bound to the node already. */
  create(pod: Manifest): void {
    const spec = { automountServiceAccountToken: false, ...pod.spec, nodeName: NODE_NAME };
    this.#send('POST', PODS, { ...pod, metadata: { ...pod.metadata, namespace: NAMESPACE }, spec });
  }

  /** `graceSeconds`: 0 takes it away at once, whatever runs of it. */
  delete(pod: string, graceSeconds?: number): void {
    this.#send('DELETE', pathOf(pod), graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds });
  }

  label(pod: string, labels: Readonly<Record<string, string>>): void {
    this.#send('PATCH', pathOf(pod), { metadata: { labels } });
  }

  /** Says that it has failed, unless it has ended already. */
  fail(pod: string): void {
    if (['Succeeded', 'Failed'].includes(textAt(objectAt(this.#there(pod), 'status'), 'phase'))) return;
    const status = { phase: 'Failed', reason: NODE_LOST, message: 'its node does not answer' };
    this.#send('PATCH', `${pathOf(pod)}/status`, { status });
  }

  /** Gives a container another image, unless it may not run again: a server takes no status of it then. */
  setImage(pod: string, container: string, image: string): void {
    if (textAt(objectAt(this.#there(pod), 'spec'), 'restartPolicy') !== 'Always') return;
    this.#send('PATCH', pathOf(pod), { spec: { containers: [{ name: container, image }] } });
  }

  /** Makes an object, or changes the one that there is. */
  putObject(object: ApiObject): void {
    const { of, name } = object;
    if (of === 'ClusterTrustBundle') return void this.#then(async () => this.#putBundle(object));
    const isThere = () => this.#api.registry.store.get(OBJECT_RESOURCES[of], NAMESPACE, name) !== undefined;
    const json = jsonOfObject(object);
    this.#then(() => (isThere() ? this.#ask('PUT', objectPath(of, name), json) : this.#make(of, json)));
  }

  deleteObject(of: ObjectKind, name: string): void {
    if (of === 'ClusterTrustBundle') this.#then(async () => this.#deleteBundle(name));
    else this.#then(() => this.#ask('DELETE', objectPath(of, name), {}));
  }

  #make(of: Exclude<ObjectKind, 'ClusterTrustBundle'>, json: JsonObject): Promise<void> {
    return this.#ask('POST', collectionOf(of), json);
  }

  /** The server lets trust bundles be read alone: they are put into its store. */
  #putBundle(object: ApiObject): void {
    const { store, ids } = this.#api.registry;
    const before = store.get(OBJECT_RESOURCES.ClusterTrustBundle, undefined, object.name);
    const uid = textAt(objectAt(before ?? {}, 'metadata'), 'uid') || ids.uid();
    const labels = { name: object.name };
    store.put(OBJECT_RESOURCES.ClusterTrustBundle, withMetadata(jsonOfObject(object), { uid, labels }));
  }

  #deleteBundle(name: string): void {
    const { store } = this.#api.registry;
    const found = store.get(OBJECT_RESOURCES.ClusterTrustBundle, undefined, name);
    if (found !== undefined) store.remove(OBJECT_RESOURCES.ClusterTrustBundle, found);
  }

  #there(pod: string): JsonObject {
    const [namespace, name = ''] = pod.split('/');
    return this.#api.registry.store.get('/pods', namespace, name) ?? {};
  }

  #send(method: string, path: string, body: object): void {
    this.#then(() => this.#ask(method, path, body));
  }

  #then(act: () => Promise<unknown>): void {
    this.#last = this.#last.then(act);
  }

  async #ask(method: string, url: string, body: object): Promise<void> {
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const headers = new Map([['content-type', type]]);
    const answer = await this.#api.answer({ method, url, headers, body: JSON.stringify(body), user: ADMIN });
    if (answer.code >= 400 && 'body' in answer) this.refused.push(`${method} ${url}: ${String(answer.body).trim()}`);
  }
}

const collectionOf = (of: Exclude<ObjectKind, 'ClusterTrustBundle'>): string =>
  of === 'Secret' ? secretsPath(NAMESPACE) : configMapsPath(NAMESPACE);
const objectPath = (of: Exclude<ObjectKind, 'ClusterTrustBundle'>, name: string): string =>
  `${collectionOf(of)}/${name}`;

/** `pod`: its full name. */
function pathOf(pod: string): string {
  const [namespace = '', name = ''] = pod.split('/');
  return podPath({ namespace, name });
}
