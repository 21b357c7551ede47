/**
 * Prepares the ResourceClaims of pods through their drivers, and unprepares them when the last pod that uses them has
 * stopped (`pkg/kubelet/cm/dra/manager.go`). The claims are checkpointed in the kubelet's format before each call, so
 * that a later agent can undo what this one has started.
 */
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { replaceFile } from '../../host/files/replaceFile.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { formatClaimCheckpoint, parseClaimCheckpoint } from '../../kubernetes/claims/claimCheckpoint.ts';
import { type ClaimDevice, type ClaimDriver, type ClaimState, claimKey } from '../../kubernetes/claims/claimState.ts';
import { containerCdiIds, containerClaimStates } from '../../kubernetes/claims/containerDevices.ts';
import { formatHealthCheckpoint, parseHealthCheckpoint } from '../../kubernetes/claims/healthCheckpoint.ts';
import { allocatedDrivers, type PodClaim, podClaims, type ResourceClaim } from '../../kubernetes/claims/podClaims.ts';
import { createAlarm } from '../alarm.ts';
import type { FactFeed } from '../boundary.ts';
import { DeviceHealths } from './deviceHealths.ts';
import { KeyLocks } from './keyLocks.ts';
import type { ClaimReference, ClaimResult, PrepareResult, ResourceDrivers } from './resourceDrivers.ts';

const FILE_NAME = 'dra_manager_state';
const HEALTH_FILE_NAME = 'dra_health_state';
/** Maximum interval between checks for outdated health reports. */
const HEALTH_CHECK_MS = 3_600_000;

type Options = { readonly signal: AbortSignal };

export interface ClaimManagerDependencies {
  readonly files: FileSystem;
  readonly rootDir: string;
  readonly clock: Clock;
  readonly drivers: ResourceDrivers;
  /** Whether to watch the device health that drivers report. */
  readonly reportsHealth: boolean;
  /** Whether container statuses contain the messages about device health. */
  readonly reportsHealthMessages: boolean;
  readonly onError: (error: unknown) => void;
  /** Fetches a ResourceClaim from the API server. */
  readonly fetchClaim: (
    claim: { readonly namespace: string; readonly name: string },
    options: Options,
  ) => Promise<ResourceClaim>;
  /**
   * Returns the latest status of a pod on the API server. The status names the ResourceClaims that were created for the
   * pod. Returns undefined if the server does not have the pod.
   */
  readonly podStatus: (pod: Pod) => Pod['status'];
}

/** A claim of a pod with the drivers that must prepare it. */
interface RequiredClaim {
  readonly claim: ResourceClaim['metadata'];
  readonly drivers: readonly string[];
}

export class ClaimManager {
  readonly #dependencies: ClaimManagerDependencies;
  readonly #claims = new Map<string, ClaimState>();
  readonly #locks = new KeyLocks();
  readonly #healths: DeviceHealths;
  /**
   * UIDs of pods that have no actor and whose claims are being unprepared. A pod that starts again is removed from this
   * set, so that its claims stay prepared.
   */
  readonly #leftoverUids = new Set<string>();
  #pendingWrite: Promise<void> = Promise.resolve();
  #pendingHealthWrite: Promise<void> = Promise.resolve();
  #reportClaims = () => {};

  constructor(dependencies: ClaimManagerDependencies) {
    this.#dependencies = dependencies;
    this.#healths = new DeviceHealths(dependencies.clock);
  }

  /**
   * Reads the previous agent's checkpoints. Rejects with the kubelet's message if the checkpoint of the claims is
   * damaged. If the checkpoint of device health is damaged, the health of all devices starts out unknown.
   */
  async load(): Promise<void> {
    const { files, rootDir, reportsHealth, onError } = this.#dependencies;
    if (reportsHealth) await this.#loadHealth().catch(onError);
    try {
      for (const claim of parseClaimCheckpoint(await files.readFile(join(rootDir, FILE_NAME))))
        this.#claims.set(claimKey(claim), claim);
    } catch (cause) {
      if (isMissing(cause)) return;
      const message = `create ResourceClaim cache: GetOrCreate() on checkpoint state: failed to get checkpoint ${FILE_NAME}: ${messageOf(cause)}`;
      throw new NodeFailure('InvalidConfig', `${message}, please drain node and remove DRA state file`, { cause });
    }
  }

  async #loadHealth(): Promise<void> {
    const { files, rootDir } = this.#dependencies;
    try {
      this.#healths.restore(parseHealthCheckpoint(await files.readFile(join(rootDir, HEALTH_FILE_NAME))));
    } catch (cause) {
      if (isMissing(cause)) return;
      const message = `Failed to load health checkpoint ${HEALTH_FILE_NAME}: ${messageOf(cause)}`;
      throw new NodeFailure('InvalidConfig', message, { cause });
    }
  }

  /**
   * Writes the checkpoint of device health, after any write in progress. A failure is reported and otherwise ignored,
   * because drivers report the health again.
   */
  #saveHealth(): void {
    const { files, rootDir, onError } = this.#dependencies;
    const write = async () => {
      const content = formatHealthCheckpoint(this.#healths.lastReports());
      await replaceFile(files, join(rootDir, HEALTH_FILE_NAME), { content, mode: 0o600 });
    };
    this.#pendingHealthWrite = this.#pendingHealthWrite.then(write).catch(onError);
  }

  /** Sends the claims and the drivers whenever they change. */
  readonly feed: FactFeed = async (send, { signal }) => {
    const { clock, drivers, reportsHealth } = this.#dependencies;
    const alarm = createAlarm(clock, signal);
    let reportedClaims: readonly ClaimState[] = [];
    const report = () => {
      const claims = [...this.#claims.values()].map((claim) => this.#withHealth(claim));
      if (isJsonEqual(claims, reportedClaims)) return;
      reportedClaims = claims;
      send({ type: 'claims.changed', claims });
    };
    this.#reportClaims = report;
    report();
    const reportExpiries = async () => {
      while (!signal.aborted) {
        await alarm.waitUntil(Math.min(this.#healths.nextExpiry(), clock.now() + HEALTH_CHECK_MS));
        report();
      }
    };
    const health = {
      reported: (...args: Parameters<DeviceHealths['update']>) => {
        if (this.#healths.update(...args)) this.#saveHealth();
        alarm.ring();
      },
      lost: (driver: string) => {
        // The agent itself has closed the stream, so the last reports stay on disk for the next agent.
        if (signal.aborted) return;
        if (this.#healths.clear(driver)) this.#saveHealth();
        alarm.ring();
      },
    };
    await Promise.all([
      reportExpiries(),
      drivers.follow(
        {
          driversChanged: (list) => send({ type: 'drivers.changed', drivers: list, at: clock.now() }),
          ...(reportsHealth ? { health } : {}),
        },
        signal,
      ),
    ]);
    if (this.#reportClaims === report) this.#reportClaims = () => {};
  };

  #withHealth(claim: ClaimState): ClaimState {
    const drivers = claim.drivers.map(({ name, devices }) => ({
      name,
      devices: devices.map((device) => ({ ...device, health: this.#healthOf(name, device) })),
    }));
    return { ...claim, drivers };
  }

  #healthOf(driver: string, device: ClaimDevice): ClaimDevice['health'] {
    const health = this.#healths.find(driver, device);
    return health === undefined || this.#dependencies.reportsHealthMessages ? health : { ...health, message: '' };
  }

  /**
   * Prepares the claims of a pod. On failure, rejects with `FailedPrepareDynamicResources`. A claim that is already
   * prepared is only recorded as used by the pod.
   */
  async prepare(pod: Pod, options: Options): Promise<void> {
    this.#leftoverUids.delete(pod.metadata.uid);
    try {
      const claims = await this.#requiredClaims(this.#withLatestStatus(pod), options);
      const keys = claims.map(({ claim }) => claimKey(claim));
      await this.#locks.run(keys, () => this.#prepareClaims(pod, claims, options));
    } catch (cause) {
      const message = `Failed to prepare dynamic resources: prepare dynamic resources: ${messageOf(cause)}`;
      throw new NodeFailure('FailedPrepareDynamicResources', message, { cause });
    }
  }

  #withLatestStatus(pod: Pod): Pod {
    const status = this.#dependencies.podStatus(pod) ?? pod.status;
    return status === undefined ? pod : { ...pod, status };
  }

  /**
   * Fetches and checks the claims of a pod without changing anything, so that there is nothing to revert if the claims
   * cannot be prepared.
   */
  async #requiredClaims(pod: Pod, options: Options): Promise<RequiredClaim[]> {
    const required: RequiredClaim[] = [];
    for (const podClaim of podClaims(pod)) {
      const claim = await this.#fetchClaim(pod, podClaim, options);
      const drivers = allocatedDrivers(pod, claim, podClaim);
      for (const driver of drivers) this.#dependencies.drivers.requireRegistered(driver);
      // Skip duplicates, because a pod may name the same ResourceClaim twice.
      if (!required.some((each) => each.claim.uid === claim.metadata.uid))
        required.push({ claim: claim.metadata, drivers });
    }
    return required;
  }

  async #fetchClaim({ metadata: { namespace } }: Pod, { claimName }: PodClaim, options: Options) {
    try {
      return await this.#dependencies.fetchClaim({ namespace, name: claimName }, options);
    } catch (cause) {
      throw new Error(`fetch ResourceClaim ${claimName}: ${messageOf(cause)}`, { cause });
    }
  }

  /** Prepares claims. The caller must hold their locks. */
  async #prepareClaims(pod: Pod, required: readonly RequiredClaim[], options: Options): Promise<void> {
    options.signal.throwIfAborted();
    const unpreparedClaims: ClaimState[] = [];
    for (const { claim, drivers } of required) {
      const { uid, name, namespace } = claim;
      const existingClaim = this.#claims.get(claimKey(claim));
      if (existingClaim !== undefined && existingClaim.uid !== uid)
        throw new Error(
          `old ResourceClaim with same name ${name} and different UID ${existingClaim.uid} still exists (previous pod force-deleted?!)`,
        );
      const state = existingClaim ?? {
        uid,
        name,
        namespace,
        podUids: [],
        drivers: drivers.map((driver) => ({ name: driver, devices: [] })),
        isPrepared: false,
      };
      const usedClaim = { ...state, podUids: [...new Set([...state.podUids, pod.metadata.uid])] };
      this.#claims.set(claimKey(claim), usedClaim);
      if (!usedClaim.isPrepared) unpreparedClaims.push(usedClaim);
    }
    if (required.length > 0) await this.#save('cache');
    const preparedDevices = new Map<string, ClaimDriver[]>();
    for (const [driver, claims] of claimsByDriver(unpreparedClaims)) {
      const results = await this.#dependencies.drivers.prepare(driver, claims, options).catch((cause: unknown) => {
        throw new Error(`NodePrepareResources: ${messageOf(cause)}`, { cause });
      });
      for (const { claim, devices } of matchingResults('NodePrepareResources', claims, results)) {
        const key = claimKey(claim);
        preparedDevices.set(key, [...(preparedDevices.get(key) ?? []), { name: driver, devices }]);
      }
    }
    for (const claim of unpreparedClaims) {
      const key = claimKey(claim);
      this.#claims.set(key, { ...claim, drivers: preparedDevices.get(key) ?? [], isPrepared: true });
    }
    if (unpreparedClaims.length > 0) await this.#save('state');
  }

  /**
   * Unprepares the claims of a pod that no other pod uses. Does nothing if the pod uses no claims. On failure, rejects
   * with `FailedUnprepareDynamicResources`.
   */
  async unprepare(podUid: string, options: Options): Promise<void> {
    await this.#unprepare(podUid, () => true, options);
  }

  /**
   * Unprepares the claims of pods that are not active. If the claims of a pod cannot be unprepared, continues with the
   * other pods, and then rejects with the first failure.
   */
  async unprepareLeftovers(activePodUids: readonly string[], options: Options): Promise<void> {
    const activeUids = new Set(activePodUids);
    const usedUids = new Set([...this.#claims.values()].flatMap(({ podUids }) => podUids));
    for (const uid of usedUids) if (!activeUids.has(uid)) this.#leftoverUids.add(uid);
    const failures: unknown[] = [];
    for (const uid of [...this.#leftoverUids]) {
      const isLeftover = () => this.#leftoverUids.has(uid);
      await this.#unprepare(uid, isLeftover, options).catch((error: unknown) => failures.push(error));
    }
    this.#leftoverUids.clear();
    if (failures.length > 0) throw failures[0];
  }

  async #unprepare(podUid: string, isStillDue: () => boolean, options: Options): Promise<void> {
    const keys = [...this.#claims].flatMap(([key, { podUids }]) => (podUids.includes(podUid) ? [key] : []));
    if (keys.length === 0) return;
    try {
      await this.#locks.run(keys, async () => {
        if (isStillDue()) await this.#unprepareClaims(podUid, keys, options);
      });
    } catch (cause) {
      const message = `unprepare dynamic resources: ${messageOf(cause)}`;
      throw new NodeFailure('FailedUnprepareDynamicResources', message, { cause });
    }
  }

  /** Unprepares claims. The caller must hold their locks. */
  async #unprepareClaims(podUid: string, keys: readonly string[], options: Options): Promise<void> {
    options.signal.throwIfAborted();
    const unusedClaims: ClaimState[] = [];
    const formerClaims: ClaimState[] = [];
    for (const key of keys) {
      const claim = this.#claims.get(key);
      if (claim === undefined) continue;
      formerClaims.push(claim);
      const podUids = claim.podUids.filter((uid) => uid !== podUid);
      // Retain the last pod reference until the claim is unprepared, because a retry finds the claim through this
      // reference.
      if (podUids.length === 0) unusedClaims.push(claim);
      else this.#claims.set(key, { ...claim, podUids });
    }
    for (const [driver, claims] of claimsByDriver(unusedClaims)) {
      this.#dependencies.drivers.requireRegistered(driver);
      const results = await this.#dependencies.drivers.unprepare(driver, claims, options).catch((cause: unknown) => {
        throw new Error(`NodeUnprepareResources: ${messageOf(cause)}`, { cause });
      });
      matchingResults('NodeUnprepareResources', claims, results);
    }
    for (const claim of unusedClaims) this.#claims.delete(claimKey(claim));
    await this.#save('state').catch((error: unknown) => {
      // Restore the pod's references to its claims, because the next attempt uses them to find the claims. The drivers
      // have already unprepared the claims that no other pod uses.
      for (const claim of formerClaims)
        this.#claims.set(claimKey(claim), unusedClaims.includes(claim) ? { ...claim, isPrepared: false } : claim);
      this.#reportClaims();
      throw error;
    });
  }

  /** Returns the CDI names of the devices that a container gets. Throws if a claim has not been prepared. */
  cdiIds(pod: Pod, container: Pick<Container, 'name' | 'resources'>): string[] {
    const { namespace } = pod.metadata;
    return containerCdiIds(this.#withLatestStatus(pod), container, (name) =>
      this.#claims.get(claimKey({ namespace, name })),
    );
  }

  /** Returns the claims of a container, or an empty list if the preparation of any of these claims has not started. */
  containerClaims(pod: Pod, container: Pick<Container, 'name' | 'resources'>): readonly ClaimState[] {
    return containerClaimStates(this.#withLatestStatus(pod), container, [...this.#claims.values()]);
  }

  /** Writes the checkpoint durably and atomically, after any write in progress, and reports the claims. */
  async #save(what: 'cache' | 'state'): Promise<void> {
    this.#reportClaims();
    const write = this.#pendingWrite.catch(() => {}).then(() => this.#write());
    this.#pendingWrite = write;
    await write.catch((cause: unknown) => {
      throw new Error(`checkpoint ResourceClaim ${what}: could not save checkpoint ${FILE_NAME}: ${messageOf(cause)}`, {
        cause,
      });
    });
  }

  async #write(): Promise<void> {
    const { files, rootDir } = this.#dependencies;
    const content = formatClaimCheckpoint([...this.#claims.values()]);
    await replaceFile(files, join(rootDir, FILE_NAME), { content, mode: 0o600 });
  }
}

/** Groups claims by the drivers of their allocated devices. */
function claimsByDriver(claims: readonly ClaimState[]): Map<string, ClaimReference[]> {
  const batches = new Map<string, ClaimReference[]>();
  for (const { drivers, namespace, uid, name } of claims)
    for (const driver of drivers)
      batches.set(driver.name, [...(batches.get(driver.name) ?? []), { namespace, uid, name }]);
  return batches;
}

interface MatchingResult {
  readonly claim: ClaimReference;
  readonly devices: readonly ClaimDevice[];
}

/** Matches the results of a call to its claims. Throws the kubelet's error if the call failed for any claim. */
function matchingResults(
  call: string,
  claims: readonly ClaimReference[],
  results: readonly (ClaimResult | PrepareResult)[],
): MatchingResult[] {
  const matches = results.map((result) => {
    const claim = claims.find(({ uid }) => uid === result.uid);
    if (claim === undefined) throw new Error(`${call} returned result for unknown claim UID ${result.uid}`);
    if (result.error !== '') throw new Error(`${call} failed for ResourceClaim ${claim.name}: ${result.error}`);
    return { claim, devices: 'devices' in result ? result.devices : [] };
  });
  const skippedCount = claims.length - new Set(results.map(({ uid }) => uid)).size;
  if (skippedCount !== 0) throw new Error(`${call} skipped ${skippedCount} ResourceClaims`);
  return matches;
}
