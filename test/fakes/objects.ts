/** ConfigMaps, Secrets and tokens for pods, without a cluster. */
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type ConfigKind, type ConfigObject, readConfigObject } from '../../kubernetes/objects/configObject.ts';
import {
  ObjectNotFound,
  type PodObjects,
  type PodTokens,
  type TokenRequest,
} from '../../kubernetes/objects/podObjects.ts';

export class FakeObjects implements PodObjects {
  readonly #known = new Map<string, ConfigObject>();
  /** Objects that cannot be read: the request hangs, or fails with this message. */
  readonly trouble = new Map<string, 'hangs' | string>();
  /** The requested objects, e.g. `ConfigMap/settings`. */
  readonly asked: string[] = [];

  /** Adds an object in the namespace `default`, as an API server returns it. */
  put(kind: ConfigKind, name: string, content: object): void {
    const metadata = { namespace: 'default', name, uid: `${kind}-${name}`, resourceVersion: '1' };
    this.#known.set(`${kind}/${name}`, readConfigObject(kind, { metadata, ...content }));
  }

  remove(kind: ConfigKind, name: string): void {
    this.#known.delete(`${kind}/${name}`);
  }

  async get(_pod: Pod, kind: ConfigKind, name: string): Promise<ConfigObject> {
    const key = `${kind}/${name}`;
    this.asked.push(key);
    const trouble = this.trouble.get(key);
    if (trouble === 'hangs') return new Promise(() => {});
    if (trouble !== undefined) throw new Error(trouble);
    const found = this.#known.get(key);
    if (found === undefined) throw new ObjectNotFound(kind, name);
    return found;
  }
}

/** Returns fake tokens that name their pod, audience and lifetime. */
export const fakeTokens = (renewAt: number): PodTokens => ({
  get: async (pod: Pod, { audience, expirationSeconds }: TokenRequest) => ({
    token: `token of ${pod.metadata.name} for ${audience || 'the API server'}, ${expirationSeconds} s`,
    renewAt,
  }),
});
