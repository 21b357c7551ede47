/** The pods that experience the faults: their containers, their desired states, and what their users do with them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { podPath, podsPath } from '../../../../kubeclient/paths.ts';
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import { RequestFailed } from '../../../../testing/apiserver/apiServer.ts';
import { type JsonObject, objectAt, textAt } from '../../../../testing/apiserver/json.ts';
import type { TestCluster } from '../cluster.ts';
import { type Manifest, podManifest, shell, steadily } from '../manifests.ts';
import type { Deed } from './schedule.ts';

export const NAMESPACE = 'chaos';
/** The static pods. The first one stays, and the second one is removed. */
export const STATIC = 'fixed';
const PASSING = 'passing';

/** The final state of a pod: the exit code of a container that runs once, or `runs`. */
export type Fate = 'runs' | number;

/** A pod that must exist at the end. */
export interface Expected {
  readonly uid: string;
  readonly fate: Fate;
  /** Whether the pod was created during the faults, so that its start may have been interrupted. */
  readonly isCreatedDuringFaults: boolean;
}

/** Records each run of a container in a file named by the pod's UID. */
const recordRun = (container: string) => `echo run >> /shared/$POD_UID.${container}`;
const POD_UID = { name: 'POD_UID', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.uid' } } };

const recorded = (name: string, script: string, more: Partial<Container> = {}): Container =>
  shell(name, `${recordRun(name)}; ${script}`, {
    env: [POD_UID],
    volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
    ...more,
  });

/** Returns a container that runs until a user makes it exit. */
const until = (name: string, code: number) =>
  recorded('main', `until [ -e /shared/${name}.go ]; do sleep 0.05; done; exit ${code}`);
const steady = recorded('main', steadily());
const once = { restartPolicy: 'Never' } as const;

const probed = recorded('main', steadily(), {
  readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 30 },
  livenessProbe: { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 30, failureThreshold: 1 },
});

/** The specs of the pods by name, and their final states. */
const kinds: Readonly<Record<string, { readonly spec: Partial<PodSpec> & Pick<PodSpec, 'containers'>; fate: Fate }>> = {
  web: { spec: { containers: [probed] }, fate: 'runs' },
  prepared: { spec: { initContainers: [recorded('first', 'exit 0')], containers: [steady] }, fate: 'runs' },
  done: { spec: { ...once, containers: [until('done', 0)] }, fate: 0 },
  failed: { spec: { ...once, containers: [until('failed', 3)] }, fate: 3 },
  leaving: { spec: { containers: [steady] }, fate: 'runs' },
  brief: { spec: { containers: [recorded('main', 'trap "" TERM; sleep 1000 & wait')] }, fate: 'runs' },
  reborn: { spec: { containers: [steady] }, fate: 'runs' },
  late: { spec: { initContainers: [recorded('first', 'exit 0')], containers: [steady] }, fate: 'runs' },
  'late-done': { spec: { ...once, containers: [recorded('main', 'sleep 1; exit 0')] }, fate: 0 },
  'late-failed': { spec: { ...once, containers: [recorded('main', 'sleep 1; exit 3')] }, fate: 3 },
};
const first = Object.keys(kinds).filter((name) => !name.startsWith('late'));

const GRACE_S = 2;

export class Users {
  readonly #cluster: TestCluster;
  /** The pods that must exist at the end, by name. */
  readonly expected = new Map<string, Expected>();
  /** The deleted pods by UID. `waited` means that a user has waited for the deletion. */
  readonly deleted = new Map<string, { readonly waited: boolean }>();
  #underWay = 0;

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }

  async makeFirst(): Promise<void> {
    const { node } = this.#cluster;
    await this.#cluster.addNamespace(NAMESPACE);
    for (const name of first) await this.#make(name, false);
    for (const name of [STATIC, PASSING]) await node.write(name, this.#manifest(name, { containers: [steady] }));
  }

  async perform(deed: Deed): Promise<void> {
    const [verb = '', name = '', anew] = deed.split(' ');
    if (verb === 'end') await writeFile(join(this.#cluster.node.shared, `${name}.go`), '');
    else if (verb === 'remove') await this.#cluster.node.remove(name);
    else if (verb === 'label') await this.#request('PATCH', pathOf(name), { metadata: { labels: { seen: 'yes' } } });
    else if (anew !== undefined) await this.#recreate(name, verb === 'force');
    else if (verb === 'delete') await this.#delete(name);
    else await this.#make(name);
  }

  /** Whether all operations that take a while have completed. */
  areIdle(): boolean {
    return this.#underWay === 0;
  }

  async #make(name: string, isCreatedDuringFaults = true): Promise<void> {
    const { spec, fate = 'runs' } = Object.hasOwn(kinds, name) ? (kinds[name] ?? {}) : {};
    if (spec === undefined) throw new Error(`no pod is called ${name}`);
    const created = await this.#request('POST', podsPath({ namespace: NAMESPACE }), this.#manifest(name, spec));
    this.expected.set(name, { uid: textAt(objectAt(created, 'metadata'), 'uid'), fate, isCreatedDuringFaults });
  }

  async #delete(name: string, graceSeconds?: number): Promise<void> {
    const { uid = '' } = this.expected.get(name) ?? {};
    this.expected.delete(name);
    this.deleted.set(uid, { waited: graceSeconds === undefined });
    const how = graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds };
    await this.#request('DELETE', pathOf(name), how);
  }

  /** Deletes a pod and creates it again: immediately if by force, otherwise once its name is free. */
  async #recreate(name: string, byForce: boolean): Promise<void> {
    await this.#delete(name, byForce ? 0 : undefined);
    if (byForce) return await this.#make(name);
    this.#underWay += 1;
    void this.#whenGone(name).finally(() => {
      this.#underWay -= 1;
    });
  }

  async #whenGone(name: string): Promise<void> {
    while (await this.#isThere(name)) await pause(50);
    await this.#make(name);
  }

  async #isThere(name: string): Promise<boolean> {
    try {
      await this.#request('GET', pathOf(name));
      return true;
    } catch (error) {
      if (error instanceof RequestFailed && error.code === 404) return false;
      throw error;
    }
  }

  #request(method: string, path: string, body?: object): Promise<JsonObject> {
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    // Removes undefined fields, which JSON does not have.
    return this.#cluster.server.request(method, path, body && JSON.parse(JSON.stringify(body)), type);
  }

  #manifest(name: string, spec: Partial<PodSpec> & Pick<PodSpec, 'containers'>): Manifest {
    const { shared } = this.#cluster.node;
    const volumes = [{ name: 'shared', hostPath: { path: shared } }];
    const isStatic = [STATIC, PASSING].includes(name);
    const placed = isStatic ? {} : { nodeName: 'node' };
    const all = { ...spec, ...placed, volumes, terminationGracePeriodSeconds: GRACE_S };
    const { metadata, ...rest } = podManifest(name, spec.containers, all);
    return { ...rest, metadata: isStatic ? metadata : { ...metadata, namespace: NAMESPACE } };
  }
}

const pathOf = (name: string): string => podPath({ namespace: NAMESPACE, name });
