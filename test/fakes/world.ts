/** A fake world in which every call of a port succeeds. It remembers its sandboxes and containers. */

import { type FailureReason, NodeFailure } from '../../base/failure.ts';
import { containerHash } from '../../kubernetes/api/pods/containerHash.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { NO_EDITS } from '../../kubernetes/devices/devices.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../kubernetes/lifecycle/observed.ts';
import { sizeOf } from '../../machines/container/context.ts';
import type { Answers } from './ports.ts';

export class FakeWorld {
  readonly sandboxes = new Map<string, ObservedSandbox>();
  readonly containers = new Map<string, ObservedContainer>();
  readonly #otherIds = new Map<string, string>();
  readonly #now: () => number;
  readonly #prefixOf: (pod: Pod) => string;

  /** `prefixOf` returns a prefix that distinguishes the container IDs of several pods. */
  constructor(now: () => number, prefixOf: (pod: Pod) => string = () => '') {
    this.#now = now;
    this.#prefixOf = prefixOf;
  }

  readonly answers: Answers = {
    registerNode: () => ({ uid: 'node-uid', events: [] }),
    ensureCsiNode: () => null,
    readInhibitDelay: ({ requiredMs }) => ({ delayMs: requiredMs }),
    raiseInhibitDelay: () => null,
    saveShutdown: () => ({ at: this.#now() }),
    readNode: () => ({ uid: 'node-uid', labels: {}, taints: [], isUnreachable: false }),
    putNodeStatus: () => ({ isWritten: true, events: [] }),
    renewLease: () => ({ isHeld: true, chance: 0 }),
    readCertificate: () => ({ certificate: null, chance: 0 }),
    requestCertificate: ({ name }) => ({ request: `csr-${name}`, uid: 'csr-uid', at: this.#now() }),
    awaitCertificate: () => ({
      certificate: {
        subject: { commonName: 'system:node:node-1', organizations: ['system:nodes'] },
        notBefore: this.#now(),
        notAfter: this.#now() + 3_600_000,
        names: { dnsNames: [], ips: [] },
      },
      chance: 0,
      at: this.#now(),
    }),
    createMirror: () => null,
    removeMirror: () => null,
    putStatus: () => ({ version: 1 }),
    setUpCgroups: () => ({ outcome: 'unused', warnings: [] }),
    preparePod: () => null,
    prepareCgroup: () => null,
    resizePod: ({ pod, containers }) => ({
      pod,
      resized: containers.map(({ name, id }) => ({ name, id, size: sizeOf({ pod, name }) })),
    }),
    removeCgroup: () => null,
    removePodData: () => null,
    mountVolume: ({ volume }) => ({ kind: 'path', hostPath: `/volumes/${volume}` }),
    unmountVolume: () => null,
    runSandbox: ({ pod, attempt }) => ({ ...this.sandbox(pod, attempt), madeAt: this.#now() }),
    inspectSandbox: ({ id }) => this.sandboxes.get(id) ?? null,
    stopSandboxes: ({ ids }) => {
      for (const id of ids) this.loseSandbox(id);
      return null;
    },
    removeSandboxes: ({ ids }) => {
      for (const id of ids) {
        this.sandboxes.delete(id);
        for (const container of this.containers.values()) {
          if (container.sandboxId === id) this.containers.delete(container.id);
        }
      }
      return null;
    },
    restartRuntime: () => null,
    findImage: ({ image }) => ({ imageRef: `sha256:${image}`, at: this.#now() }),
    pullImage: ({ image }) => {
      const at = this.#now();
      return { imageRef: `sha256:${image}`, sizeBytes: 1_024, startedAt: at, finishedAt: at };
    },
    countRestarts: () => ({ restarts: {} }),
    prepareDevices: () => ({ areDevicesMissing: false, at: this.#now() }),
    readObjects: () => null,
    createContainer: ({ pod, container, sandbox, attempt, imageRef }) => {
      this.#requireReady(sandbox.id, 'CreateContainerError');
      // No two containers of a pod have the same attempt, so an earlier one is removed.
      for (const each of this.containers.values()) {
        const isEarlier = each.podUid === pod.metadata.uid && each.name === container && each.attempt === attempt;
        if (isEarlier) this.containers.delete(each.id);
      }
      const id = `${this.#prefixOf(pod)}${container}-${sandbox.attempt}-${attempt}`;
      this.containers.set(id, this.container(pod, container, { id, sandboxId: sandbox.id, attempt, imageRef }));
      return { id };
    },
    startContainer: ({ id: known }) => {
      const id = this.#idNow(known);
      const container = this.containers.get(id);
      if (container === undefined) throw new NodeFailure('RunContainerError', `container ${id} no longer exists`);
      if (container.state !== 'created') return container;
      this.#requireReady(container.sandboxId, 'RunContainerError');
      return this.change(id, { state: 'running', startedAt: this.#now() });
    },
    stopContainer: ({ id }) => (this.containers.has(this.#idNow(id)) ? this.end(this.#idNow(id), 137) : null),
    removeContainers: ({ ids }) => {
      for (const id of ids) this.containers.delete(id);
      return null;
    },
    removeGarbage: ({ containers, sandboxes }) => {
      for (const { id } of containers) this.containers.delete(id);
      for (const id of sandboxes) this.sandboxes.delete(id);
      return null;
    },
    collectImages: () => ({ imageCount: 0, unusedCount: 0, removed: [] }),
    removeUnusedImages: () => ({ removed: [] }),
    prepareClaims: () => null,
    unprepareClaims: () => null,
    unprepareLeftoverClaims: () => null,
    deleteResourceSlices: () => null,
    rotateLogs: () => null,
    measureResources: () => ({
      layout: 'single',
      observations: {},
      usages: {},
      at: this.#now(),
      uptimeMs: this.#now(),
    }),
    measurePods: () => ({ usages: {}, at: this.#now() }),
    saveCpus: () => null,
    saveMemory: () => null,
    preferDevices: () => ({ preferred: [] }),
    allocateDevices: () => ({ edits: NO_EDITS }),
    saveDevices: () => null,
    reconcileCpus: () => ({ updatedCount: 0 }),
    surveyDisk: () => ({ left: [], foreign: [] }),
    inspectContainer: ({ id }) => this.containers.get(this.#idNow(id)) ?? null,
    runHook: ({ graceSeconds, deadline }) => ({
      deadline: deadline ?? this.#now() + graceSeconds * 1_000,
      failure: null,
    }),
    runProbe: () => ({ result: 'success', message: '', startedAt: this.#now(), at: this.#now() }),
    pickTime: ({ withinMs }) => ({ at: this.#now() + withinMs / 2 }),
  };

  /** Changes the ID of a container. Calls with the former ID still reach it. */
  rename(former: string, id: string): ObservedContainer {
    const known = this.containers.get(former);
    if (known === undefined) throw new Error(`there is no container ${former}`);
    const container = { ...known, id };
    this.containers.delete(former);
    this.containers.set(id, container);
    this.#otherIds.set(former, id);
    return container;
  }

  #idNow = (id: string): string => this.#otherIds.get(id) ?? id;

  /** Adds a ready sandbox of the pod. */
  sandbox(pod: Pod, attempt = 0): ObservedSandbox {
    const { uid, name, namespace } = pod.metadata;
    const id = `sandbox-${uid}-${attempt}`;
    const hostNetwork = pod.spec.hostNetwork === true;
    const sandbox: ObservedSandbox = {
      id,
      podUid: uid,
      podName: name,
      namespace,
      attempt,
      state: 'ready',
      createdAt: this.#now(),
      owner: 'us',
      hostNetwork,
      ips: hostNetwork ? [] : ['10.0.0.9'],
    };
    this.sandboxes.set(id, sandbox);
    return sandbox;
  }

  /** Returns a created container, as the runtime would list it. */
  container(pod: Pod, name: string, over: Partial<ObservedContainer> = {}): ObservedContainer {
    const image = containersOf(pod.spec).find(({ container }) => container.name === name)?.container.image ?? '';
    return {
      id: `${name}-0-0`,
      sandboxId: `sandbox-${pod.metadata.uid}-0`,
      podUid: pod.metadata.uid,
      name,
      attempt: 0,
      state: 'created',
      createdAt: this.#now(),
      hash: containerHash({ name, image }),
      image,
      imageRef: `sha256:${image}`,
      ...over,
    };
  }

  /** Adds a running container. */
  run(pod: Pod, name: string, over: Partial<ObservedContainer> = {}): ObservedContainer {
    const container = this.container(pod, name, { state: 'running', startedAt: this.#now(), ...over });
    this.containers.set(container.id, container);
    return container;
  }

  /** Terminates the process of a container, unless it has already exited. */
  end(id: string, exitCode: number): ObservedContainer {
    const { state } = this.change(id, {});
    return state === 'exited'
      ? this.change(id, {})
      : this.change(id, { state: 'exited', exitCode, finishedAt: this.#now() });
  }

  #requireReady(id: string, reason: FailureReason): void {
    if (this.sandboxes.get(id)?.state !== 'ready') throw new NodeFailure(reason, `sandbox ${id} is not ready`);
  }

  loseSandbox(id: string): void {
    const sandbox = this.sandboxes.get(id);
    if (sandbox) this.sandboxes.set(id, { ...sandbox, state: 'notReady' });
    for (const container of this.containers.values()) if (container.sandboxId === id) this.end(container.id, 137);
  }

  change(id: string, over: Partial<ObservedContainer>): ObservedContainer {
    const container = this.containers.get(id);
    if (container === undefined) throw new Error(`there is no container ${id}`);
    const changed = { ...container, ...over };
    this.containers.set(id, changed);
    return changed;
  }

  /** Returns everything that a list of the runtime shows of a pod, newest first. */
  observed({ metadata: { uid, name, namespace } }: Pod): ObservedPod {
    const newest = (a: { attempt: number }, b: { attempt: number }) => b.attempt - a.attempt;
    return {
      uid,
      name,
      namespace,
      sandboxes: [...this.sandboxes.values()].filter(({ podUid }) => podUid === uid).sort(newest),
      containers: [...this.containers.values()].filter(({ podUid }) => podUid === uid).sort(newest),
    };
  }
}
