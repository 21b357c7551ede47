/** The pods that live through it: what they run, what becomes of them, and the users who see to that. */
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
/** The static pods: one that stays, and one that goes. */
export const STATIC = 'fixed';
const PASSING = 'passing';

/** What a pod has come to in the end: the exit code of a container that runs once, or that it runs. */
export type Fate = 'runs' | number;

/** Each pod that is to be there in the end, by its name. */
export interface Expected {
  readonly uid: string;
  readonly fate: Fate;
  /** Whether it has begun while nothing was spared: its start may have been cut off. */
  readonly isMadeMeanwhile: boolean;
}

/** Notes each of its runs in a file, by the UID of its pod. */
const noting = (container: string) => `echo run >> /shared/$POD_UID.${container}`;
const POD_UID = { name: 'POD_UID', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.uid' } } };

const noted = (name: string, script: string, more: Partial<Container> = {}): Container =>
  shell(name, `${noting(name)}; ${script}`, {
    env: [POD_UID],
    volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
    ...more,
  });

/** Runs until a user has it end. */
const until = (name: string, code: number) =>
  noted('main', `until [ -e /shared/${name}.go ]; do sleep 0.05; done; exit ${code}`);
const steady = noted('main', steadily());
const once = { restartPolicy: 'Never' } as const;

const probed = noted('main', steadily(), {
  readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 30 },
  livenessProbe: { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 30, failureThreshold: 1 },
});

/** What pods run, by their name, and how they fare. */
const kinds: Readonly<Record<string, { readonly spec: Partial<PodSpec> & Pick<PodSpec, 'containers'>; fate: Fate }>> = {
  web: { spec: { containers: [probed] }, fate: 'runs' },
  prepared: { spec: { initContainers: [noted('first', 'exit 0')], containers: [steady] }, fate: 'runs' },
  done: { spec: { ...once, containers: [until('done', 0)] }, fate: 0 },
  failed: { spec: { ...once, containers: [until('failed', 3)] }, fate: 3 },
  leaving: { spec: { containers: [steady] }, fate: 'runs' },
  brief: { spec: { containers: [noted('main', 'trap "" TERM; sleep 1000 & wait')] }, fate: 'runs' },
  reborn: { spec: { containers: [steady] }, fate: 'runs' },
  late: { spec: { initContainers: [noted('first', 'exit 0')], containers: [steady] }, fate: 'runs' },
  'late-done': { spec: { ...once, containers: [noted('main', 'sleep 1; exit 0')] }, fate: 0 },
  'late-failed': { spec: { ...once, containers: [noted('main', 'sleep 1; exit 3')] }, fate: 3 },
};
const first = Object.keys(kinds).filter((name) => !name.startsWith('late'));

const GRACE_S = 2;

export class Users {
  readonly #cluster: TestCluster;
  /** Those that are to be there in the end. */
  readonly expected = new Map<string, Expected>();
  /** Those that are not, by UID; `waited`: somebody has waited for their end. */
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
    else if (verb === 'label') await this.#ask('PATCH', pathOf(name), { metadata: { labels: { seen: 'yes' } } });
    else if (anew !== undefined) await this.#makeAnew(name, verb === 'force');
    else if (verb === 'delete') await this.#delete(name);
    else await this.#make(name);
  }

  /** Whether all is done that takes its time. */
  areDone(): boolean {
    return this.#underWay === 0;
  }

  async #make(name: string, isMadeMeanwhile = true): Promise<void> {
    const { spec, fate = 'runs' } = Object.hasOwn(kinds, name) ? (kinds[name] ?? {}) : {};
    if (spec === undefined) throw new Error(`no pod is called ${name}`);
    const made = await this.#ask('POST', podsPath({ namespace: NAMESPACE }), this.#manifest(name, spec));
    this.expected.set(name, { uid: textAt(objectAt(made, 'metadata'), 'uid'), fate, isMadeMeanwhile });
  }

  async #delete(name: string, graceSeconds?: number): Promise<void> {
    const { uid = '' } = this.expected.get(name) ?? {};
    this.expected.delete(name);
    this.deleted.set(uid, { waited: graceSeconds === undefined });
    const how = graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds };
    await this.#ask('DELETE', pathOf(name), how);
  }

  /** By force at once, whatever runs; else as soon as the name is free. */
  async #makeAnew(name: string, byForce: boolean): Promise<void> {
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
      await this.#ask('GET', pathOf(name));
      return true;
    } catch (error) {
      if (error instanceof RequestFailed && error.code === 404) return false;
      throw error;
    }
  }

  #ask(method: string, path: string, body?: object): Promise<JsonObject> {
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    // It is JSON: a manifest has only what JSON has.
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
