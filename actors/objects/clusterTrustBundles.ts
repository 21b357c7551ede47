/**
 * The ClusterTrustBundles of the cluster (`pkg/kubelet/clustertrustbundle`): all of them are followed at the API server, but
 * only while a pod shows any.
 */
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
import { tellingSteps } from '../sources/sourceNews.ts';
import { SharedCall } from './cache/sharedCall.ts';

interface BundleParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** At least 0 and less than 1. */
  readonly jitter: () => number;
  readonly onError: (source: string, error: unknown) => void;
}

/** Trust bundles that somebody has to keep up to date. */
export interface FollowedBundles extends TrustBundles {
  /** Tells the node which pods show other anchors than there are by now, until the signal aborts. */
  run(send: (fact: NodeFact) => void, options: { readonly signal: AbortSignal }): Promise<void>;
  /** The pod has ended. */
  forget(podUid: string): void;
}

/** What a projection comes to. */
type Shown = { readonly pem: string } | { readonly problem: string };

/** One that a pod shows; `shown` is what it was told last. */
interface Use {
  readonly projection: TrustBundleProjection;
  shown?: Shown;
}

const GROUPS = '/apis';
/** The first that a server has. */
const API_VERSIONS = ['certificates.k8s.io/v1beta1', 'certificates.k8s.io/v1alpha1'] as const;
const RESOURCE = 'clustertrustbundles';
const KIND = 'ClusterTrustBundle';
/** So long a volume waits for them to be read. */
const READ_MS = 10_000;
export const NOT_SUPPORTED = 'ClusterTrustBundle projection is not supported in static kubelet mode';

const bundleSchema = z.object({
  metadata: z.object({
    name: z.string(),
    labels: z._default(z.nullable(z.record(z.string(), z.string())), null),
  }),
  spec: z.object({ signerName: z._default(z.string(), ''), trustBundle: z.string() }),
});
/** As much of it as is kept. */
type Bundle = z.infer<typeof bundleSchema>;

const resourcesSchema = z.object({ resources: z.array(z.object({ name: z.string() })) });

/** All that there are, as long as they are followed. */
class Followed {
  readonly ending = new AbortController();
  readonly read = Promise.withResolvers<void>();
  bundles: readonly Bundle[] | undefined;
  /** Why they cannot be read. */
  failure = '';
  /** How the watch gets on. */
  step: ReflectorStep | undefined;
}

interface Telling {
  readonly ending: AbortController;
  readonly tell: (step: SourceStep) => void;
}

export class ClusterTrustBundles implements FollowedBundles {
  readonly #parts: BundleParts;
  /** By the pod's UID, and by what is shown. */
  readonly #uses = new Map<string, Map<string, Use>>();
  readonly #salt: string;
  #followed: Followed | undefined;
  #beginning: SharedCall<Followed> | undefined;
  #send: ((fact: NodeFact) => void) | undefined;
  /** Tells the node how they get on, for as long as any pod shows any. */
  #told: Telling | undefined;

  constructor(parts: BundleParts) {
    this.#parts = parts;
    this.#salt = String(parts.jitter());
  }

  async get(...[pod, projection, { signal }]: Parameters<TrustBundles['get']>): Promise<string> {
    signal.throwIfAborted();
    const use = this.#useOf(pod.metadata.uid, projection);
    const bundles = await this.#read(signal);
    use.shown = this.#shownOf(projection, bundles);
    if ('problem' in use.shown) throw new Error(use.shown.problem);
    return use.shown.pem;
  }

  async run(...[send, { signal }]: Parameters<FollowedBundles['run']>): Promise<void> {
    this.#send = send;
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (!signal.aborted) await promise;
    this.#send = undefined;
    this.#end();
  }

  forget(podUid: string): void {
    this.#uses.delete(podUid);
    if (this.#uses.size === 0) this.#end();
  }

  #end(): void {
    this.#followed?.ending.abort();
    this.#followed = undefined;
    this.#told?.ending.abort();
    if (this.#told !== undefined) this.#send?.({ type: 'cluster.watchChanged', watch: KIND, state: null });
    this.#told = undefined;
  }

  #tell(step: SourceStep): void {
    this.#told ??= this.#telling();
    const total = this.#followed?.bundles?.length;
    this.#told.tell({ ...step, ...(total === undefined ? {} : { counts: { total, lacking: [] } }) });
  }

  #telling(): Telling {
    const ending = new AbortController();
    const onState = (state: SourceState) => this.#send?.({ type: 'cluster.watchChanged', watch: KIND, state });
    const how = { clock: this.#parts.clock, signal: ending.signal, place: 'those of its cluster' };
    return { ending, tell: tellingSteps(onState, how) };
  }

  #useOf(uid: string, projection: TrustBundleProjection): Use {
    const ofPod = this.#uses.get(uid) ?? new Map<string, Use>();
    const key = JSON.stringify(projection);
    const use = ofPod.get(key) ?? { projection };
    this.#uses.set(uid, ofPod.set(key, use));
    return use;
  }

  /** All there are; waits for a while where they are not known yet. */
  async #read(signal: AbortSignal): Promise<readonly Bundle[]> {
    const { clock } = this.#parts;
    const followed = this.#followed ?? (await this.#begun(signal));
    const read = (within: AbortSignal) => unlessAborted(followed.read.promise, within);
    if (followed.bundles === undefined) {
      await withTimeout(read, { clock, timeoutMs: READ_MS, signal }).catch((cause: unknown) => {
        signal.throwIfAborted();
        const why = followed.failure === '' ? '' : `: ${followed.failure}`;
        throw new Error(`ClusterTrustBundle informer has not yet synced${why}`, { cause });
      });
    }
    return followed.bundles ?? [];
  }

  #begun(signal: AbortSignal): Promise<Followed> {
    this.#beginning ??= new SharedCall(
      async (within) =>
        this.#follow(await this.#apiVersion(within).catch((error: unknown) => this.#notFollowed(error, within))),
      () => {
        this.#beginning = undefined;
      },
    );
    return this.#beginning.wait(signal);
  }

  /** Whoever shows any asks again in its time. */
  #notFollowed(error: unknown, signal: AbortSignal): never {
    if (!signal.aborted) this.#tell({ state: 'failing', failure: messageOf(error) });
    throw error;
  }

  #follow(apiVersion: string): Followed {
    const { client, clock, jitter, onError } = this.#parts;
    const followed = new Followed();
    this.#followed = followed;
    const reflector = new Reflector<Bundle>({
      client,
      path: `${GROUPS}/${apiVersion}/${RESOURCE}`,
      type: { apiVersion, kind: KIND },
      clock,
      jitter,
      signal: followed.ending.signal,
      transform: readBundle,
      onSet: (bundles) => this.#take(followed, bundles),
      onStep: (step) => {
        followed.failure = step.state === 'failing' ? step.failure : '';
        followed.step = step;
        if (!followed.ending.signal.aborted) this.#tell(step);
      },
      onProblem: (problem) => onError('watch', new NodeFailure('FailedRead', `ClusterTrustBundle ${problem}`)),
    });
    reflector.run().catch((error: unknown) => onError('watch', error));
    return followed;
  }

  /** Returns the first of the API versions that the server has. */
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
      const what = 'failed to ensure informer manager for ClusterTrustBundles';
      throw new Error(`${what}: failed to determine which informer manager to choose: ${messageOf(cause)}`, { cause });
    }
  }

  #take(followed: Followed, bundles: readonly Bundle[]): void {
    followed.bundles = bundles;
    followed.read.resolve();
    if (followed.step?.state === 'watching') this.#tell(followed.step);
    const changed = [...this.#uses].filter(([, ofPod]) =>
      [...ofPod.values()].some((use) => this.#isOther(use, bundles)),
    );
    if (changed.length > 0) this.#send?.({ type: 'cluster.objectsChanged', uids: changed.map(([uid]) => uid) });
  }

  /** Whether it is another than whoever shows it was told; it is told so once. */
  #isOther(use: Use, bundles: readonly Bundle[]): boolean {
    if (use.shown === undefined) return false;
    const now = this.#shownOf(use.projection, bundles);
    const isOther = JSON.stringify(now) !== JSON.stringify(use.shown);
    use.shown = now;
    return isOther;
  }

  #shownOf(projection: TrustBundleProjection, bundles: readonly Bundle[]): Shown {
    const found = meantBy(projection, bundles);
    if ('problem' in found) return projection.optional ? { pem: '' } : found;
    const texts = found.bundles.map(({ spec }) => spec.trustBundle);
    return { pem: normalizeAnchors(texts, this.#salt) };
  }
}

/** Where the feature is not enabled there are none. */
export const noTrustBundles: FollowedBundles = {
  get: async () => {
    throw new Error(NOT_SUPPORTED);
  },
  run: async () => {},
  forget: () => {},
};

const readBundle = (object: KubeObject): Bundle => z.parse(bundleSchema, object);

type Found = { readonly bundles: readonly Bundle[] } | { readonly problem: string };

/** The words of a kubelet for none. */
function meantBy({ name, signerName, labelSelector }: TrustBundleProjection, all: readonly Bundle[]): Found {
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
