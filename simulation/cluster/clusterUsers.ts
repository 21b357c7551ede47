/** Those who make, change and delete pods in the API of a cluster: what it refuses has no effect. */
import type { Api } from '../../apiserver/api.ts';
import { type JsonObject, objectAt, textAt } from '../../apiserver/json.ts';
import type { User } from '../../apiserver/request.ts';
import { podPath } from '../../kube/paths.ts';
import { NODE_NAME } from '../host.ts';
import type { Manifest } from '../stories/manifests.ts';

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
    this.#then('POST', PODS, { ...pod, metadata: { ...pod.metadata, namespace: NAMESPACE }, spec });
  }

  /** `graceSeconds`: 0 takes it away at once, whatever runs of it. */
  delete(pod: string, graceSeconds?: number): void {
    this.#then('DELETE', pathOf(pod), graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds });
  }

  label(pod: string, labels: Readonly<Record<string, string>>): void {
    this.#then('PATCH', pathOf(pod), { metadata: { labels } });
  }

  /** Says that it has failed, unless it has ended already. */
  fail(pod: string): void {
    if (['Succeeded', 'Failed'].includes(textAt(objectAt(this.#there(pod), 'status'), 'phase'))) return;
    const status = { phase: 'Failed', reason: NODE_LOST, message: 'its node does not answer' };
    this.#then('PATCH', `${pathOf(pod)}/status`, { status });
  }

  /** Gives a container another image, unless it may not run again: a server takes no status of it then. */
  setImage(pod: string, container: string, image: string): void {
    if (textAt(objectAt(this.#there(pod), 'spec'), 'restartPolicy') !== 'Always') return;
    this.#then('PATCH', pathOf(pod), { spec: { containers: [{ name: container, image }] } });
  }

  #there(pod: string): JsonObject {
    const [namespace, name = ''] = pod.split('/');
    return this.#api.registry.store.get('/pods', namespace, name) ?? {};
  }

  #then(method: string, path: string, body: object): void {
    this.#last = this.#last.then(() => this.#ask(method, path, body));
  }

  async #ask(method: string, url: string, body: object): Promise<void> {
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const headers = new Map([['content-type', type]]);
    const answer = await this.#api.answer({ method, url, headers, body: JSON.stringify(body), user: ADMIN });
    if (answer.code >= 400 && 'body' in answer) this.refused.push(`${method} ${url}: ${String(answer.body).trim()}`);
  }
}

/** `pod`: its full name. */
function pathOf(pod: string): string {
  const [namespace = '', name = ''] = pod.split('/');
  return podPath({ namespace, name });
}
