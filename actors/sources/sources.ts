/** Runs the sources of pods independently of each other. */

import { yieldToEventLoop as nextTurnOfHost } from '../../base/async/yieldToEventLoop.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { RuntimeClasses } from '../../kubernetes/api/runtimeClass.ts';
import type { SourceChange } from '../../machines/node/pods/source.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import type { FactFeed } from '../boundary.ts';
import type { OwnNode } from '../cluster/node/ownNode.ts';
import { API_SOURCE, apiPods } from '../cluster/pods/apiPods.ts';
import type { NodeParts } from '../node/nodeParts.ts';
import type { LocalObjects } from '../objects/localObjects.ts';
import type { Network } from '../services/http/network.ts';
import type { DurableFacts, NodeStore } from '../store/durableFacts.ts';
import { createChangeDetector } from './changeDetector.ts';
import { watchManifests } from './fileSource.ts';
import { type ManifestUrl, watchManifestUrl } from './http/httpSource.ts';
import { urlKey, withoutSecrets } from './http/urlSecrets.ts';
import { createManifestReader, type ReadManifests, type StartThread } from './manifest/manifestReader.ts';
import type { ManifestSet } from './manifest/manifestSet.ts';
import { type OnManifestProblem, problemReporter, sourceStateReporter } from './sourceReporters.ts';

const FILE_CHECK_MS = 20_000;

export interface SourceDependencies {
  readonly nodeName: string;
  readonly clock: Clock;
  readonly network: Pick<Network, 'fetch'>;
  /** The file system that contains the manifests. */
  readonly files: FileSystem;
  readonly store: NodeStore;
  /** The durable facts that the store contained when the agent started. */
  readonly durable: DurableFacts;
  /** The directory of static pods, or a single manifest. */
  readonly staticPodPath?: string;
  /** Interval between full listings of the directory, in milliseconds. Defaults to the kubelet's interval. */
  readonly fileCheckMs?: number;
  /** A URL that lists pods. */
  readonly manifestUrl?: ManifestUrl;
  /** Whether references to objects of an API server are accepted if the pod can run without them. */
  readonly isLenient?: boolean;
  /** Reads the RuntimeClasses that pods may reference. */
  readonly readClasses?: () => Promise<RuntimeClasses>;
  /** Starts the thread that parses large manifests. Defaults to a worker thread. */
  readonly startThread?: StartThread;
  /** Yields to other tasks of the event loop. Defaults to one turn of the event loop. */
  readonly nextTurn?: () => Promise<void>;
  /** The cluster that the node belongs to, if any. */
  readonly cluster?: NodeParts['cluster'];
  /** The Node object of this node. */
  readonly ownNode?: Pick<OwnNode, 'listed'>;
  /** Stores the ConfigMaps and Secrets of manifests. */
  readonly localObjects?: Pick<LocalObjects, 'put' | 'start' | 'previousObjects'>;
  readonly jitter: () => number;
  readonly onError: (source: string, error: unknown) => void;
  /** Called with the path of each static pod's file, keyed by UID, whenever one changes. */
  readonly onFiles?: ((files: ReadonlyMap<string, string>) => void) | undefined;
  /** Called once for each problem and warning in a manifest. */
  readonly onManifestProblem?: OnManifestProblem;
}

/** Returns the manifest path and URL of a configuration, keyed by the name of the source that reads them. */
export const sourceLocations = ({
  staticPodPath,
  manifestUrl,
}: Pick<SourceDependencies, 'staticPodPath' | 'manifestUrl'>): ReadonlyMap<string, string> =>
  new Map([
    ...(staticPodPath === undefined ? [] : [['file', staticPodPath] as const]),
    ...(manifestUrl === undefined ? [] : [['http', withoutSecrets(manifestUrl.url)] as const]),
  ]);

/** Runs all sources as one feed. A failing source does not affect the others. */
export function createSourcesFeed(dependencies: SourceDependencies): FactFeed {
  return async (send, options) => {
    const { clock, startThread } = dependencies;
    dependencies.localObjects?.start(send, options.signal);
    const readManifests = createManifestReader({ clock, startThread, signal: options.signal });
    const sources = [
      createFileSource(dependencies, readManifests),
      createHttpSource(dependencies, readManifests),
      ...createApiSource(dependencies),
    ];
    const runSource = async (source: FactFeed) => source(send, options);
    await Promise.all(
      sources.map((source) => runSource(source).catch((error) => dependencies.onError('sources', error))),
    );
  };
}

/**
 * Returns the feed of the API server's pods, if there is a cluster. The feed first waits for the Node, because
 * admission needs it.
 */
function createApiSource({
  cluster,
  ownNode,
  nodeName,
  clock,
  jitter,
  onError,
  onManifestProblem,
}: SourceDependencies): FactFeed[] {
  if (cluster === undefined) return [];
  const pods = apiPods({ client: cluster.client, cache: cluster.pods, nodeName, clock, jitter, onError });
  const sourceFeed: FactFeed = async (send, options) => {
    // Allow the other sources to start without waiting for the API server, because it may run as a pod on this node.
    send({ type: 'config.sourceUnread', source: API_SOURCE, problems: [] });
    await ownNode?.listed(options.signal);
    if (!options.signal.aborted) await pods(problemReporter(onManifestProblem, send), options);
  };
  return [sourceFeed];
}

/** Returns the feed of static pods from files. */
function createFileSource(dependencies: SourceDependencies, readManifests: ReadManifests): FactFeed {
  const { durable: storedFacts, store, files, staticPodPath: path, fileCheckMs = FILE_CHECK_MS } = dependencies;
  const { onError, onFiles, localObjects } = dependencies;
  return async (send, { signal }) => {
    if (path === undefined) return;
    const { common, onState } = createReporters('file', dependencies, {
      sourceName: path,
      everyMs: fileCheckMs,
      send,
      signal,
    });
    const lastObjects = await localObjects?.previousObjects('file');
    if (signal.aborted) return;
    const watchPromise = watchManifests({
      ...common,
      files,
      readManifests,
      signal,
      path,
      onSet: (set, { files, objects }) => {
        onFiles?.(files);
        // Store the objects before reporting the pods that reference them.
        localObjects?.put('file', objects);
        common.onSet(set);
      },
      listIntervalMs: fileCheckMs,
      storedManifests: storedFacts.manifests,
      ...(lastObjects === undefined ? {} : { lastObjects }),
      onManifest: ({ file, manifest }) => {
        const pendingWrite =
          manifest === null ? store.remove('manifests', file) : store.write('manifests', file, manifest);
        pendingWrite.catch((error) => onError('store', error));
      },
    });
    await reportBroken(watchPromise, signal, onState);
  };
}

/** Returns the feed of static pods from a URL. */
function createHttpSource(dependencies: SourceDependencies, readManifests: ReadManifests): FactFeed {
  const { durable: storedFacts, store, manifestUrl, network, onError, localObjects } = dependencies;
  return async (send, { signal }) => {
    if (manifestUrl === undefined) return;
    const { url, everyMs } = manifestUrl;
    const key = urlKey(url);
    const logFailure = (written: Promise<void>) => void written.catch((error) => onError('store', error));
    for (const storedKey of storedFacts.fetched.keys())
      if (storedKey !== key) logFailure(store.remove('fetched', storedKey));
    const { common, onState, report } = createReporters('http', dependencies, {
      sourceName: withoutSecrets(url),
      everyMs,
      send,
      signal,
    });
    const previousObjects = await localObjects?.previousObjects('http');
    if (signal.aborted) return;
    const watchPromise = watchManifestUrl({
      ...common,
      ...manifestUrl,
      network,
      readManifests,
      signal,
      onSet: (set, objects) => {
        localObjects?.put('http', objects);
        common.onSet(set);
      },
      lastGoodPods: storedFacts.fetched.get(key),
      lastObjects: previousObjects?.get(withoutSecrets(url)),
      onUnreadable: (problems) => report({ type: 'config.sourceUnread', source: 'http', problems }),
      onGoodPods: (pods) => logFailure(store.write('fetched', key, [...pods])),
    });
    await reportBroken(watchPromise, signal, onState);
  };
}

/** Returns the options that all sources share, and the functions that report their pods and state. */
function createReporters(
  source: string,
  dependencies: SourceDependencies,
  {
    send,
    ...reporterOptions
  }: Omit<Parameters<typeof sourceStateReporter>[2], 'clock'> & { readonly send: (fact: NodeFact) => void },
) {
  const { clock, nodeName, nextTurn = nextTurnOfHost, isLenient } = dependencies;
  const readClasses = admissionClassReader(dependencies);
  const createChanges = createChangeDetector(source, clock);
  const reportProblems = problemReporter(dependencies.onManifestProblem, send);
  const onState = sourceStateReporter(send, source, { ...reporterOptions, clock });
  const commonOptions = {
    nodeName,
    clock,
    nextTurn,
    onState,
    ...(isLenient ? { isLenient: true } : {}),
    ...(readClasses ? { readClasses } : {}),
    onSet: (set: ManifestSet) => {
      for (const fact of createChanges(set)) reportProblems(fact);
    },
  };
  return { common: commonOptions, onState, report: reportProblems };
}

/**
 * Returns a reader of the RuntimeClasses for the admission of static pods. Returns undefined in a cluster, because the
 * API server checks the classes of its pods and the kubelet does not check the classes of static pods.
 */
function admissionClassReader({ cluster, readClasses }: SourceDependencies): SourceDependencies['readClasses'] {
  return cluster === undefined ? (readClasses ?? (async () => new Map())) : undefined;
}

/**
 * Reports a source as broken if it stops before its signal aborts, because changes of its pods are no longer detected.
 */
async function reportBroken(
  watchPromise: Promise<void>,
  signal: AbortSignal,
  onState: (step: SourceChange) => void,
): Promise<void> {
  try {
    await watchPromise;
    if (!signal.aborted) throw new NodeFailure('InternalError', 'the source stopped by itself');
  } catch (error) {
    onState({ state: 'broken', failure: messageOf(error) });
    throw error;
  }
}
