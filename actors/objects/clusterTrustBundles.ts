/** Watches the ClusterTrustBundles of the cluster (`pkg/kubelet/clustertrustbundle`) while any pod uses them. */
import * as z from 'zod/mini';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import { isNotFound } from '../../kubeclient/kubeError.ts';
import { type KubeObject, Reflector, type ReflectorState } from '../../kubeclient/reflector.ts';
import { isSelected } from '../../kubernetes/api/selection/objectSelector.ts';
import { normalizeAnchors } from '../../kubernetes/objects/trustAnchors.ts';
import type { TrustBundleProjection, TrustBundles } from '../../kubernetes/objects/trustBundles.ts';
import type { SourceChange, SourceState } from '../../machines/node/pods/source.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { withTimeout } from '../services/withTimeout.ts';
import { createStepReporter } from '../sources/sourceReporters.ts';
import { SharedCall } from './cache/sharedCall.ts';

interface TrustBundleDependencies {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly jitter: () => number;
  readonly onError: (source: string, error: unknown) => void;
}

export interface WatchedBundles extends TrustBundles {
  /** Notifies the node of pods whose trust anchors have changed, until the signal aborts. */
  run(send: (fact: NodeFact) => void, options: { readonly signal: AbortSignal }): Promise<void>;
  /** Must be called when a pod has terminated. */
  forget(podUid: string): void;
}

/** The PEM bundle that a projection resolves to, or the reason why it cannot be resolved. */
type Resolution = { readonly pem: string } | { readonly problem: string };

/** A pod's use of a trust bundle projection. `lastResolution` is the result that the pod received last. */
interface ProjectionUse {
  readonly projection: TrustBundleProjection;
  lastResolution?: Resolution;
}

const GROUPS_PATH = '/apis';
/** API versions in order of preference. */
const API_VERSIONS = ['certificates.k8s.io/v1beta1', 'certificates.k8s.io/v1alpha1'] as const;
const RESOURCE_NAME = 'clustertrustbundles';
const RESOURCE_KIND = 'ClusterTrustBundle';
/** Maximum time that a volume waits for the first list of bundles. */
const READ_TIMEOUT_MS = 10_000;
export const NOT_SUPPORTED_MESSAGE = 'ClusterTrustBundle projection is not supported in static kubelet mode';

const bundleSchema = z.object({
  metadata: z.object({
    name: z.string(),
    labels: z._default(z.nullable(z.record(z.string(), z.string())), null),
  }),
  spec: z.object({ signerName: z._default(z.string(), ''), trustBundle: z.string() }),
});
/** The cached part of a bundle. */
type TrustBundle = z.infer<typeof bundleSchema>;

const resourcesSchema = z.object({ resources: z.array(z.object({ name: z.string() })) });

class BundleWatch {
  readonly abortController = new AbortController();
  readonly firstList = Promise.withResolvers<void>();
  bundles: readonly TrustBundle[] | undefined;
  /** The reason why the last list or watch failed. Empty if it succeeded. */
  lastFailure = '';
  /** The last state change of the watch. */
  lastStep: ReflectorState | undefined;
}

interface StateReporter {
  readonly abortController: AbortController;
  readonly reportStep: (step: SourceChange) => void;
}

export class ClusterTrustBundles implements WatchedBundles {
  readonly #dependencies: TrustBundleDependencies;
  /** Keyed by pod UID and serialized projection. */
  readonly #usesByPod = new Map<string, Map<string, ProjectionUse>>();
  readonly #hashSalt: string;
  #watch: BundleWatch | undefined;
  #pendingStart: SharedCall<BundleWatch> | undefined;
  #sendFact: ((fact: NodeFact) => void) | undefined;
  /** Undefined while no pod uses bundles. */
  #stateReporter: StateReporter | undefined;

  constructor(dependencies: TrustBundleDependencies) {
    this.#dependencies = dependencies;
    this.#hashSalt = String(dependencies.jitter());
  }

  async get(...[pod, projection, { signal }]: Parameters<TrustBundles['get']>): Promise<string> {
    signal.throwIfAborted();
    const use = this.#getUse(pod.metadata.uid, projection);
    const bundles = await this.#readBundles(signal);
    use.lastResolution = this.#resolve(projection, bundles);
    if ('problem' in use.lastResolution) throw new Error(use.lastResolution.problem);
    return use.lastResolution.pem;
  }

  async run(...[send, { signal }]: Parameters<WatchedBundles['run']>): Promise<void> {
    this.#sendFact = send;
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (!signal.aborted) await promise;
    this.#sendFact = undefined;
    this.#stopWatch();
  }

  forget(podUid: string): void {
    this.#usesByPod.delete(podUid);
    if (this.#usesByPod.size === 0) this.#stopWatch();
  }

  #stopWatch(): void {
    this.#watch?.abortController.abort();
    this.#watch = undefined;
    this.#stateReporter?.abortController.abort();
    if (this.#stateReporter !== undefined)
      this.#sendFact?.({ type: 'cluster.watchChanged', watch: RESOURCE_KIND, state: null });
    this.#stateReporter = undefined;
  }

  #reportWatchStep(step: SourceChange): void {
    this.#stateReporter ??= this.#createReporter();
    const bundleCount = this.#watch?.bundles?.length;
    this.#stateReporter.reportStep({
      ...step,
      ...(bundleCount === undefined ? {} : { counts: { objectCount: bundleCount, unavailableObjects: [] } }),
    });
  }

  #createReporter(): StateReporter {
    const abortController = new AbortController();
    const onState = (state: SourceState) =>
      this.#sendFact?.({ type: 'cluster.watchChanged', watch: RESOURCE_KIND, state });
    const options = {
      clock: this.#dependencies.clock,
      signal: abortController.signal,
      sourceName: 'those of its cluster',
    };
    return { abortController, reportStep: createStepReporter(onState, options) };
  }

  #getUse(uid: string, projection: TrustBundleProjection): ProjectionUse {
    const podUses = this.#usesByPod.get(uid) ?? new Map<string, ProjectionUse>();
    const key = JSON.stringify(projection);
    const use = podUses.get(key) ?? { projection };
    this.#usesByPod.set(uid, podUses.set(key, use));
    return use;
  }

  /** Returns all bundles. Waits for the first list for a limited time. */
  async #readBundles(signal: AbortSignal): Promise<readonly TrustBundle[]> {
    const { clock } = this.#dependencies;
    const watch = this.#watch ?? (await this.#startWatch(signal));
    const awaitFirstList = (within: AbortSignal) => unlessAborted(watch.firstList.promise, within);
    if (watch.bundles === undefined) {
      await withTimeout(awaitFirstList, { clock, timeoutMs: READ_TIMEOUT_MS, signal }).catch((cause: unknown) => {
        signal.throwIfAborted();
        const reason = watch.lastFailure === '' ? '' : `: ${watch.lastFailure}`;
        throw new Error(`ClusterTrustBundle informer has not yet synced${reason}`, { cause });
      });
    }
    return watch.bundles ?? [];
  }

  #startWatch(signal: AbortSignal): Promise<BundleWatch> {
    this.#pendingStart ??= new SharedCall(
      async (within) =>
        this.#followBundles(
          await this.#findApiVersion(within).catch((error: unknown) => this.#reportFailure(error, within)),
        ),
      () => {
        this.#pendingStart = undefined;
      },
    );
    return this.#pendingStart.wait(signal);
  }

  /** Reports the failure and throws it. Pods retry with their own back-off. */
  #reportFailure(error: unknown, signal: AbortSignal): never {
    if (!signal.aborted) this.#reportWatchStep({ state: 'failing', failure: messageOf(error) });
    throw error;
  }

  #followBundles(apiVersion: string): BundleWatch {
    const { client, clock, jitter, onError } = this.#dependencies;
    const watch = new BundleWatch();
    this.#watch = watch;
    const reflector = new Reflector<TrustBundle>({
      client,
      path: `${GROUPS_PATH}/${apiVersion}/${RESOURCE_NAME}`,
      type: { apiVersion, kind: RESOURCE_KIND },
      clock,
      jitter,
      signal: watch.abortController.signal,
      transform: readBundle,
      onSet: (bundles) => this.#onBundles(watch, bundles),
      onStep: (step) => {
        watch.lastFailure = step.state === 'failing' ? step.failure : '';
        watch.lastStep = step;
        if (!watch.abortController.signal.aborted) this.#reportWatchStep(step);
      },
      onProblem: (problem) => onError('watch', new NodeFailure('FailedRead', `ClusterTrustBundle ${problem}`)),
    });
    reflector.run().catch((error: unknown) => onError('watch', error));
    return watch;
  }

  /** Returns the most preferred of the API versions that the server supports. */
  async #findApiVersion(signal: AbortSignal): Promise<string> {
    for (const apiVersion of API_VERSIONS) {
      if (await this.#isResourceServed(`${GROUPS_PATH}/${apiVersion}`, signal)) return apiVersion;
    }
    throw new Error(NOT_SUPPORTED_MESSAGE);
  }

  async #isResourceServed(path: string, signal: AbortSignal): Promise<boolean> {
    try {
      const resourceList = await this.#dependencies.client.get(path, {
        signal,
        type: { apiVersion: 'v1', kind: 'APIResourceList' },
      });
      const { resources } = z.parse(resourcesSchema, resourceList);
      return resources.some(({ name }) => name === RESOURCE_NAME);
    } catch (cause) {
      if (isNotFound(cause)) return false;
      signal.throwIfAborted();
      const problem = 'failed to ensure informer manager for ClusterTrustBundles';
      throw new Error(`${problem}: failed to determine which informer manager to choose: ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  #onBundles(watch: BundleWatch, bundles: readonly TrustBundle[]): void {
    watch.bundles = bundles;
    watch.firstList.resolve();
    if (watch.lastStep?.state === 'watching') this.#reportWatchStep(watch.lastStep);
    const changedUses = [...this.#usesByPod].filter(([, podUses]) =>
      [...podUses.values()].some((use) => this.#takeChange(use, bundles)),
    );
    if (changedUses.length > 0)
      this.#sendFact?.({ type: 'cluster.objectsChanged', uids: changedUses.map(([uid]) => uid) });
  }

  /** Whether the result of a projection has changed since the pod received it. Returns true once per change. */
  #takeChange(use: ProjectionUse, bundles: readonly TrustBundle[]): boolean {
    if (use.lastResolution === undefined) return false;
    const resolution = this.#resolve(use.projection, bundles);
    const hasResultChanged = JSON.stringify(resolution) !== JSON.stringify(use.lastResolution);
    use.lastResolution = resolution;
    return hasResultChanged;
  }

  #resolve(projection: TrustBundleProjection, bundles: readonly TrustBundle[]): Resolution {
    const bundleSelection = selectBundles(projection, bundles);
    if ('problem' in bundleSelection) return projection.optional ? { pem: '' } : bundleSelection;
    const bundlePems = bundleSelection.bundles.map(({ spec }) => spec.trustBundle);
    return { pem: normalizeAnchors(bundlePems, this.#hashSalt) };
  }
}

/** Provides no bundles, because the feature is disabled. */
export const noTrustBundles: WatchedBundles = {
  get: async () => {
    throw new Error(NOT_SUPPORTED_MESSAGE);
  },
  run: async () => {},
  forget: () => {},
};

const readBundle = (object: KubeObject): TrustBundle => z.parse(bundleSchema, object);

type BundleSelection = { readonly bundles: readonly TrustBundle[] } | { readonly problem: string };

/** Selects the bundles that a projection refers to. A problem has the same message as in the kubelet. */
function selectBundles(
  { name, signerName, labelSelector }: TrustBundleProjection,
  candidates: readonly TrustBundle[],
): BundleSelection {
  if (name !== undefined) {
    const bundles = candidates.filter(({ metadata }) => metadata.name === name);
    const bundleName = `clustertrustbundle.certificates.k8s.io ${JSON.stringify(name)}`;
    return bundles.length > 0 ? { bundles } : { problem: `while getting ClusterTrustBundle: ${bundleName} not found` };
  }
  const bundles = candidates.filter(
    ({ metadata: { labels }, spec }) => spec.signerName === signerName && isSelected(labelSelector, labels ?? {}),
  );
  const problem = 'combination of signerName and labelSelector matched zero ClusterTrustBundles';
  return bundles.length > 0 ? { bundles } : { problem };
}
