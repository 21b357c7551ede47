/** Watches the ClusterTrustBundles of the cluster (`pkg/kubelet/clustertrustbundle`) while any pod uses them. */
import * as z from 'zod/mini';
import type { Clock } from '../../base/clock.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import { isNotFound } from '../../kubeclient/kubeError.ts';
import { type KubeObject, Reflector, type ReflectorStep } from '../../kubeclient/reflector.ts';
import { isSelected } from '../../kubernetes/api/selection/objectSelector.ts';
import { normalizeAnchors } from '../../kubernetes/objects/trustAnchors.ts';
import type { TrustBundleProjection, TrustBundles } from '../../kubernetes/objects/trustBundles.ts';
import type { SourceState, SourceStep } from '../../machines/node/source.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { withTimeout } from '../services/withTimeout.ts';
import { stepReporter } from '../sources/sourceReporters.ts';
import { SharedCall } from './cache/sharedCall.ts';

interface BundleParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly jitter: () => number;
  readonly onError: (source: string, error: unknown) => void;
}

/** Trust bundles that are watched for changes. */
export interface WatchedBundles extends TrustBundles {
  /** Notifies the node of pods whose anchors have changed, until the signal aborts. */
  run(send: (fact: NodeFact) => void, options: { readonly signal: AbortSignal }): Promise<void>;
  /** Must be called when a pod has terminated. */
  forget(podUid: string): void;
}

/** The result of resolving a projection. */
type Resolution = { readonly pem: string } | { readonly problem: string };

/** A trust bundle projection of a pod. `shown` is the result that the pod received last. */
interface Use {
  readonly projection: TrustBundleProjection;
  shown?: Resolution;
}

const GROUPS = '/apis';
/** API versions in order of preference. */
const API_VERSIONS = ['certificates.k8s.io/v1beta1', 'certificates.k8s.io/v1alpha1'] as const;
const RESOURCE = 'clustertrustbundles';
const KIND = 'ClusterTrustBundle';
/** Maximum time that a volume waits for the first list. */
const READ_TIMEOUT_MS = 10_000;
export const NOT_SUPPORTED = 'ClusterTrustBundle projection is not supported in static kubelet mode';

const bundleSchema = z.object({
  metadata: z.object({
    name: z.string(),
    labels: z._default(z.nullable(z.record(z.string(), z.string())), null),
  }),
  spec: z.object({ signerName: z._default(z.string(), ''), trustBundle: z.string() }),
});
/** The stored part of a bundle. */
type Bundle = z.infer<typeof bundleSchema>;

const resourcesSchema = z.object({ resources: z.array(z.object({ name: z.string() })) });

/** The watch of all bundles. */
class BundleWatch {
  readonly abortController = new AbortController();
  readonly read = Promise.withResolvers<void>();
  bundles: readonly Bundle[] | undefined;
  /** Why the last list or watch failed. Empty if it succeeded. */
  failure = '';
  /** The last step of the watch. */
  step: ReflectorStep | undefined;
}

interface StateReporter {
  readonly abortController: AbortController;
  readonly reportStep: (step: SourceStep) => void;
}

export class ClusterTrustBundles implements WatchedBundles {
  readonly #parts: BundleParts;
  /** Keyed by pod UID and serialized projection. */
  readonly #uses = new Map<string, Map<string, Use>>();
  readonly #salt: string;
  #watch: BundleWatch | undefined;
  #starting: SharedCall<BundleWatch> | undefined;
  #send: ((fact: NodeFact) => void) | undefined;
  /** Reports the state of the watch while any pod uses bundles. */
  #reporter: StateReporter | undefined;

  constructor(parts: BundleParts) {
    this.#parts = parts;
    this.#salt = String(parts.jitter());
  }

  async get(...[pod, projection, { signal }]: Parameters<TrustBundles['get']>): Promise<string> {
    signal.throwIfAborted();
    const use = this.#useOf(pod.metadata.uid, projection);
    const bundles = await this.#read(signal);
    use.shown = this.#resolve(projection, bundles);
    if ('problem' in use.shown) throw new Error(use.shown.problem);
    return use.shown.pem;
  }

  async run(...[send, { signal }]: Parameters<WatchedBundles['run']>): Promise<void> {
    this.#send = send;
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (!signal.aborted) await promise;
    this.#send = undefined;
    this.#stop();
  }

  forget(podUid: string): void {
    this.#uses.delete(podUid);
    if (this.#uses.size === 0) this.#stop();
  }

  #stop(): void {
    this.#watch?.abortController.abort();
    this.#watch = undefined;
    this.#reporter?.abortController.abort();
    if (this.#reporter !== undefined) this.#send?.({ type: 'cluster.watchChanged', watch: KIND, state: null });
    this.#reporter = undefined;
  }

  #reportStep(step: SourceStep): void {
    this.#reporter ??= this.#createReporter();
    const total = this.#watch?.bundles?.length;
    this.#reporter.reportStep({ ...step, ...(total === undefined ? {} : { counts: { total, lacking: [] } }) });
  }

  #createReporter(): StateReporter {
    const abortController = new AbortController();
    const onState = (state: SourceState) => this.#send?.({ type: 'cluster.watchChanged', watch: KIND, state });
    const options = { clock: this.#parts.clock, signal: abortController.signal, place: 'those of its cluster' };
    return { abortController, reportStep: stepReporter(onState, options) };
  }

  #useOf(uid: string, projection: TrustBundleProjection): Use {
    const podUses = this.#uses.get(uid) ?? new Map<string, Use>();
    const key = JSON.stringify(projection);
    const use = podUses.get(key) ?? { projection };
    this.#uses.set(uid, podUses.set(key, use));
    return use;
  }

  /** Returns all bundles, and waits for the first list for a limited time. */
  async #read(signal: AbortSignal): Promise<readonly Bundle[]> {
    const { clock } = this.#parts;
    const watch = this.#watch ?? (await this.#startWatch(signal));
    const read = (within: AbortSignal) => unlessAborted(watch.read.promise, within);
    if (watch.bundles === undefined) {
      await withTimeout(read, { clock, timeoutMs: READ_TIMEOUT_MS, signal }).catch((cause: unknown) => {
        signal.throwIfAborted();
        const reason = watch.failure === '' ? '' : `: ${watch.failure}`;
        throw new Error(`ClusterTrustBundle informer has not yet synced${reason}`, { cause });
      });
    }
    return watch.bundles ?? [];
  }

  #startWatch(signal: AbortSignal): Promise<BundleWatch> {
    this.#starting ??= new SharedCall(
      async (within) =>
        this.#follow(await this.#apiVersion(within).catch((error: unknown) => this.#reportFailure(error, within))),
      () => {
        this.#starting = undefined;
      },
    );
    return this.#starting.wait(signal);
  }

  /** Reports the failure and throws it. Pods retry with their own back-off. */
  #reportFailure(error: unknown, signal: AbortSignal): never {
    if (!signal.aborted) this.#reportStep({ state: 'failing', failure: messageOf(error) });
    throw error;
  }

  #follow(apiVersion: string): BundleWatch {
    const { client, clock, jitter, onError } = this.#parts;
    const watch = new BundleWatch();
    this.#watch = watch;
    const reflector = new Reflector<Bundle>({
      client,
      path: `${GROUPS}/${apiVersion}/${RESOURCE}`,
      type: { apiVersion, kind: KIND },
      clock,
      jitter,
      signal: watch.abortController.signal,
      transform: readBundle,
      onSet: (bundles) => this.#onBundles(watch, bundles),
      onStep: (step) => {
        watch.failure = step.state === 'failing' ? step.failure : '';
        watch.step = step;
        if (!watch.abortController.signal.aborted) this.#reportStep(step);
      },
      onProblem: (problem) => onError('watch', new NodeFailure('FailedRead', `ClusterTrustBundle ${problem}`)),
    });
    reflector.run().catch((error: unknown) => onError('watch', error));
    return watch;
  }

  /** Returns the preferred API version that the server has. */
  async #apiVersion(signal: AbortSignal): Promise<string> {
    for (const apiVersion of API_VERSIONS) {
      if (await this.#isServed(`${GROUPS}/${apiVersion}`, signal)) return apiVersion;
    }
    throw new Error(NOT_SUPPORTED);
  }

  async #isServed(path: string, signal: AbortSignal): Promise<boolean> {
    try {
      const list = await this.#parts.client.get(path, { signal, type: { apiVersion: 'v1', kind: 'APIResourceList' } });
      const { resources } = z.parse(resourcesSchema, list);
      return resources.some(({ name }) => name === RESOURCE);
    } catch (cause) {
      if (isNotFound(cause)) return false;
      signal.throwIfAborted();
      const problem = 'failed to ensure informer manager for ClusterTrustBundles';
      throw new Error(`${problem}: failed to determine which informer manager to choose: ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  #onBundles(watch: BundleWatch, bundles: readonly Bundle[]): void {
    watch.bundles = bundles;
    watch.read.resolve();
    if (watch.step?.state === 'watching') this.#reportStep(watch.step);
    const changed = [...this.#uses].filter(([, podUses]) =>
      [...podUses.values()].some((use) => this.#hasChanged(use, bundles)),
    );
    if (changed.length > 0) this.#send?.({ type: 'cluster.objectsChanged', uids: changed.map(([uid]) => uid) });
  }

  /** Whether the result of a projection has changed since the pod received it. Returns true once per change. */
  #hasChanged(use: Use, bundles: readonly Bundle[]): boolean {
    if (use.shown === undefined) return false;
    const now = this.#resolve(use.projection, bundles);
    const hasChanged = JSON.stringify(now) !== JSON.stringify(use.shown);
    use.shown = now;
    return hasChanged;
  }

  #resolve(projection: TrustBundleProjection, bundles: readonly Bundle[]): Resolution {
    const selection = selectBundles(projection, bundles);
    if ('problem' in selection) return projection.optional ? { pem: '' } : selection;
    const texts = selection.bundles.map(({ spec }) => spec.trustBundle);
    return { pem: normalizeAnchors(texts, this.#salt) };
  }
}

/** Used if the feature is disabled. */
export const noTrustBundles: WatchedBundles = {
  get: async () => {
    throw new Error(NOT_SUPPORTED);
  },
  run: async () => {},
  forget: () => {},
};

const readBundle = (object: KubeObject): Bundle => z.parse(bundleSchema, object);

type Selection = { readonly bundles: readonly Bundle[] } | { readonly problem: string };

/** Selects the bundles of a projection. The problems are the kubelet's messages. */
function selectBundles({ name, signerName, labelSelector }: TrustBundleProjection, all: readonly Bundle[]): Selection {
  if (name !== undefined) {
    const bundles = all.filter(({ metadata }) => metadata.name === name);
    const called = `clustertrustbundle.certificates.k8s.io ${JSON.stringify(name)}`;
    return bundles.length > 0 ? { bundles } : { problem: `while getting ClusterTrustBundle: ${called} not found` };
  }
  const bundles = all.filter(
    ({ metadata: { labels }, spec }) => spec.signerName === signerName && isSelected(labelSelector, labels ?? {}),
  );
  const problem = 'combination of signerName and labelSelector matched zero ClusterTrustBundles';
  return bundles.length > 0 ? { bundles } : { problem };
}
