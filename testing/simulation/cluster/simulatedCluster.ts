/** The cluster of a simulated node, with its API server in memory. */
import { PodCache } from '../../../actors/cluster/pods/podCache.ts';
import type { ClusterParts } from '../../../actors/node/nodeParts.ts';
import type { ObjectSettings } from '../../../actors/objects/clusterObjects.ts';
import type { StatusReport } from '../../../actors/status/statusReports.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { KubeClient } from '../../../kubeclient/client.ts';
import { podPath } from '../../../kubeclient/paths.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { Api } from '../../apiserver/api.ts';
import { type JsonObject, objectAt, textAt } from '../../apiserver/json.ts';
import { OlderServer } from '../../apiserver/olderServer.ts';
import type { Ids } from '../../apiserver/registry/ids.ts';
import type { Change } from '../../apiserver/store/store.ts';
import { TemporaryFaults } from '../faults/temporaryFaults.ts';
import { NODE_NAME } from '../host/host.ts';
import type { Random } from '../random.ts';
import type { Gate } from '../run/gate.ts';
import type { Schedule } from '../run/schedule.ts';
import type { Manifest } from '../stories/manifests.ts';
import type { ActionLog } from '../users/actionLog.ts';
import { ApiNetwork, type ApiOutage } from './apiNetwork.ts';
import { OBJECT_KINDS, OBJECT_RESOURCES, type ObjectKind, type StoredObject, storedObject } from './apiObject.ts';
import type { ApiPart, ApiPartFault } from './apiPartFaults.ts';
import { type ApiPod, apiPodOf, type PodWrite } from './apiPod.ts';
import { ClusterUsers, NODE_LOST } from './clusterUsers.ts';
import { NodeTransport } from './nodeTransport.ts';
import type { TokenRequest } from './tokenRequest.ts';
import { TrustBundleServer } from './trustBundleServer.ts';

/** The parts of the simulation that a cluster uses. */
export interface ClusterInput {
  readonly clock: Schedule;
  readonly random: Random;
  readonly actionLog: ActionLog;
  /** Called with the full name of each pod that is created, changed or deleted. */
  readonly onChanged: (pod: string) => void;
  readonly isOldServer?: boolean;
  /** Strategy for detecting changes of ConfigMaps and Secrets. Default: `Watch`. */
  readonly strategy?: ObjectSettings['strategy'] | undefined;
}

/** A write of an object that pods may use. `now` is undefined for a deletion. */
export interface ObjectWrite {
  readonly of: ObjectKind;
  readonly name: string;
  readonly now: StoredObject | undefined;
}

/** Creates the cluster of a simulation. */
export type ClusterFactory = (input: ClusterInput) => SimulatedCluster;

export const simulatedCluster: ClusterFactory = (input) => new SimulatedCluster(input);
/** A cluster with an older API server, which supports fewer features. */
export const olderCluster: ClusterFactory = (input) => new SimulatedCluster({ ...input, isOldServer: true });

const NODE = { name: `system:node:${NODE_NAME}`, groups: ['system:nodes'] };
const HOST = {
  machineID: 'm',
  systemUUID: 's',
  bootID: 'b',
  kernelVersion: '6.1.0',
  osImage: 'Debian',
  architecture: 'amd64',
  kubeletVersion: 'v1.36.0+statelet.test',
};
const RATE = { qps: 50, burst: 100 };
const SETTINGS = {
  host: HOST,
  leaseSeconds: 40,
  statusCheckMs: 10_000,
  statusReportMs: 300_000,
  providerId: '',
  createsNode: true,
  attachesByController: true,
  statusImages: 50,
  hasTrustBundles: true,
};
const SYNC_MS = 60_000;

export class SimulatedCluster {
  readonly api: Api;
  readonly users: ClusterUsers;
  readonly #network: ApiNetwork;
  readonly #input: ClusterInput;
  readonly #temporaryFaults: TemporaryFaults;
  /** The UIDs of all pods that have ever been in the API. */
  readonly #uids = new Set<string>();

  constructor(input: ClusterInput) {
    const { clock, random, isOldServer = false } = input;
    this.#input = input;
    this.#temporaryFaults = new TemporaryFaults(clock);
    this.api = new Api({ clock, tokens: new Map(), address: '127.0.0.1:6443', ids: seededIds(random.fork()) });
    this.api.registry.features.add('ClusterTrustBundleProjection');
    const server = new TrustBundleServer(this.api, isOldServer ? new OlderServer(this.api) : this.api);
    this.#network = new ApiNetwork(this.api, server);
    this.users = new ClusterUsers(this.api);
    this.#watchChanges((change) => this.#note(change));
  }

  /** Returns the cluster parts of one agent. `onNodeUid` is called with the UID of its Node. */
  partsFor(
    gate: Gate,
    clock: Clock,
    onNodeUid: (uid: string) => void,
  ): ClusterParts & { readonly eventClient: KubeClient } {
    const transport = new NodeTransport({ gate, network: this.#network, user: NODE });
    const parts = { transport, clock, userAgent: 'statelet/simulated' };
    return {
      ...SETTINGS,
      objects: { strategy: this.#input.strategy ?? 'Watch', syncMs: SYNC_MS },
      client: new KubeClient({ ...parts, rateLimit: RATE }),
      eventClient: new KubeClient({ ...parts, rateLimit: RATE }),
      leaseClient: new KubeClient(parts),
      pods: new PodCache(),
      onNodeUid,
    };
  }

  /** The node's pods in the API, including mirror pods. */
  pods(): readonly ApiPod[] {
    const all = this.api.registry.store.list('/pods').map(([, object]) => apiPodOf(object));
    return all.filter(({ node }) => node === NODE_NAME);
  }

  /** Whether a pod in the API has, or had, this UID. */
  hasHadPod(uid: string): boolean {
    return this.#uids.has(uid);
  }

  /** Calls `onWrite` with each change of the node's pods. */
  watchPods(onWrite: (write: PodWrite) => void): void {
    this.#watchChanges(({ type, before, object }) => {
      onWrite({ type, before: before && apiPodOf(before), now: apiPodOf(object) });
    });
  }

  /** Whether the node watches ConfigMaps and Secrets instead of reading them periodically. */
  get isWatched(): boolean {
    return (this.#input.strategy ?? 'Watch') === 'Watch';
  }

  /** Calls `onWrite` with each change of an object that pods may use. */
  watchObjects(onWrite: (write: ObjectWrite) => void): void {
    for (const of of OBJECT_KINDS) {
      this.api.registry.store.watch(OBJECT_RESOURCES[of], ({ type, object }) => {
        const now = storedObject(of, object);
        onWrite({ of, name: now.name, now: type === 'DELETED' ? undefined : now });
      });
    }
  }

  /** Calls `onRequest` with each token request that the server has answered. */
  onToken(onRequest: (request: TokenRequest) => void): void {
    this.#network.onToken = onRequest;
  }

  /** Calls `onReport` with each status that the node has written to the server. */
  onStatus(onReport: (report: StatusReport) => void): void {
    this.watchPods(({ type, before, now }) => {
      const { uid, namespace, name, status, mirroredUid = uid } = now;
      const isWrittenByNode = this.#network.isInProgress('PATCH', `${podPath(now)}/status`);
      if (type !== 'MODIFIED' || !isWrittenByNode || isJsonEqual(before?.status, status)) return;
      // The node has written this status, so it has this type.
      const reported = JSON.parse(JSON.stringify(status)) as PodStatus;
      onReport({ uid: mirroredUid, isStatic: mirroredUid !== uid, namespace, name, ended: false, status: reported });
    });
  }

  #watchChanges(onChange: (change: Change) => void): void {
    this.api.registry.store.watch('/pods', (change) => {
      if (isOfNode(change.object)) onChange(change);
    });
  }

  /** Calls `onPatch` with each status patch by the node that has changed nothing. */
  onIdlePatch(onPatch: (path: string, patch: string) => void): void {
    this.#network.onIdlePatch = onPatch;
  }

  /** Whether the node itself is deleting the pod. */
  isDeletedByNode(pod: ApiPod): boolean {
    return this.#network.isInProgress('DELETE', podPath(pod));
  }

  /** Whether requests and watches may get lost. */
  get hasFault(): boolean {
    return this.#network.hasFault;
  }

  goAway(how: ApiOutage, forMs: number): void {
    this.#network.goAway(how);
    this.#temporaryFaults.start('away', forMs, () => this.#network.comeBack());
  }

  silenceWatches(forMs: number): void {
    this.#network.silence();
    this.#temporaryFaults.start('silent', forMs, () => this.#network.endSilence());
  }

  breakPart(part: ApiPart, how: ApiPartFault, forMs: number): void {
    this.#network.parts.start(part, how);
    this.#temporaryFaults.start(`part ${part}`, forMs, () => this.#network.parts.end(part));
  }

  /**
   * Restarts the server, breaking all watches. With `forgets`, no watch can resume from an old resourceVersion, so
   * clients must relist.
   */
  restart({ forgets }: { readonly forgets: boolean }): void {
    if (forgets) this.api.compactAll();
    this.#network.cut();
  }

  /** Ends all faults. */
  recover(): void {
    this.#temporaryFaults.endAll();
  }

  /** Records a change of a pod in the action log if a user has made it. */
  #note({ type, object, before = {} }: Change): void {
    const { actionLog, clock, onChanged } = this.#input;
    const { uid, pod, isDeleted, mirroredUid, status } = apiPodOf(object);
    // A mirror pod reflects a manifest.
    if (mirroredUid !== undefined) return;
    this.#uids.add(uid);
    if (textAt(status, 'reason') === NODE_LOST) actionLog.noteEnded([uid]);
    const isEnding = type === 'DELETED' || isDeleted;
    if (type === 'MODIFIED' && JSON.stringify(userFieldsOf(object)) === JSON.stringify(userFieldsOf(before))) return;
    if (!isEnding) actionLog.want(pod, { uid, manifest: manifestOf(object) });
    else if (actionLog.mayBeWanted(pod, uid)) actionLog.unwant(pod, clock.elapsed);
    onChanged(pod);
  }
}

const isOfNode = (object: JsonObject): boolean => apiPodOf(object).node === NODE_NAME;

/** Returns the fields of a pod that users set. */
function userFieldsOf(pod: JsonObject) {
  const isLost = textAt(objectAt(pod, 'status'), 'reason') === NODE_LOST;
  const metadata = objectAt(pod, 'metadata');
  const { labels, annotations, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return { labels, annotations, deletionTimestamp, deletionGracePeriodSeconds, spec: pod.spec, isLost };
}

function manifestOf(pod: JsonObject): Manifest {
  const { name, namespace, uid, labels, annotations } = objectAt(pod, 'metadata');
  const metadata = { name, namespace, uid, labels, annotations };
  // The API has validated the pod.
  return JSON.parse(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: pod.spec })) as Manifest;
}

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const HEX = '0123456789abcdef';
const SUFFIX = 5;
const UID_PARTS = [8, 4, 4, 4, 12] as const;

/** Returns a generator of UIDs and name suffixes for the API server, which draws them from a seed. */
function seededIds(random: Random): Ids {
  const randomString = (from: string, count: number) =>
    Array.from({ length: count }, () => from[random.between(0, from.length - 1)]).join('');
  const suffix = () => randomString(ALPHABET, SUFFIX);
  return {
    uid: () => UID_PARTS.map((length) => randomString(HEX, length)).join('-'),
    nameAfter: (prefix) => prefix + suffix(),
    suffix,
  };
}
