/** Where pods come from: each source tells its pods, side by side with the others. */

import type { Clock } from '../../base/clock.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { nextTurn as nextTurnOfHost } from '../../base/nextTurn.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { RuntimeClasses } from '../../kubernetes/api/runtimeClass.ts';
import type { SourceStep } from '../../machines/node/source.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import type { Feed } from '../boundary.ts';
import type { OwnNode } from '../cluster/node/ownNode.ts';
import { API_SOURCE, apiPods } from '../cluster/pods/apiPods.ts';
import type { NodeParts } from '../node/nodeParts.ts';
import type { LocalObjects } from '../objects/localObjects.ts';
import type { Network } from '../services/http/network.ts';
import type { DurableFacts, NodeStore } from '../store/durableFacts.ts';
import { changesOf } from './changes.ts';
import { watchManifests } from './fileSource.ts';
import { type ManifestUrl, watchManifestUrl } from './http/httpSource.ts';
import { keyOf, withoutSecrets } from './http/urlSecrets.ts';
import { createManifestReader, type ReadManifests, type StartThread } from './manifest/manifestReader.ts';
import type { ManifestSet } from './manifest/manifestSet.ts';
import { type OnManifestProblem, tellingProblems, tellingState } from './sourceNews.ts';

const FILE_CHECK_MS = 20_000;

export interface SourceParts {
  readonly nodeName: string;
  readonly clock: Clock;
  readonly network: Pick<Network, 'fetch'>;
  /** Where manifests are. */
  readonly files: FileSystem;
  readonly store: NodeStore;
  /** What the store held at the start. */
  readonly durable: DurableFacts;
  /** The directory of static pods, or one manifest; absent: none. */
  readonly staticPodPath?: string;
  /** How often the whole directory is listed, in milliseconds; absent: as often as a kubelet does. */
  readonly fileCheckMs?: number;
  /** A URL that lists pods; absent: none. */
  readonly manifestUrl?: ManifestUrl;
  /** Whether references to objects of an API server are taken as far as a pod can do without them. */
  readonly isLenient?: boolean;
  /** Reads the RuntimeClasses that pods may name; absent: there are none. */
  readonly readClasses?: () => Promise<RuntimeClasses>;
  /** Starts the thread that large manifests are read in; absent: a real one. */
  readonly startThread?: StartThread;
  /** Lets whoever else waits for the event loop have a turn; absent: before the next events of the host. */
  readonly nextTurn?: () => Promise<void>;
  /** The cluster that the node belongs to; absent: none. */
  readonly cluster?: NodeParts['cluster'];
  /** What that says of the node, if there is one. */
  readonly ownNode?: Pick<OwnNode, 'listed'>;
  /** Keeps the ConfigMaps and Secrets of manifests; absent: nobody asks for them. */
  readonly localObjects?: Pick<LocalObjects, 'put' | 'start' | 'previousObjects'>;
  readonly jitter: () => number;
  readonly onError: (source: string, error: unknown) => void;
  /** Told which file each static pod is in, by uid, whenever that changes. */
  readonly onFiles?: ((files: ReadonlyMap<string, string>) => void) | undefined;
  /** Told of each problem and warning in a manifest once. */
  readonly onManifestProblem?: OnManifestProblem;
}

/** Returns the manifest path and URL of a configuration, by the names of the sources that read them. */
export const sourcePlaces = ({
  staticPodPath,
  manifestUrl,
}: Pick<SourceParts, 'staticPodPath' | 'manifestUrl'>): ReadonlyMap<string, string> =>
  new Map([
    ...(staticPodPath === undefined ? [] : [['file', staticPodPath] as const]),
    ...(manifestUrl === undefined ? [] : [['http', withoutSecrets(manifestUrl.url)] as const]),
  ]);

/** All sources as one feed; a fault in one ends no other. */
export function sourcesFeed(parts: SourceParts): Feed {
  return async (send, options) => {
    const { clock, startThread } = parts;
    parts.localObjects?.start(send, options.signal);
    const readManifests = createManifestReader({ clock, startThread, signal: options.signal });
    const sources = [fileSource(parts, readManifests), httpSource(parts, readManifests), ...apiSource(parts)];
    const follow = async (source: Feed) => source(send, options);
    await Promise.all(sources.map((source) => follow(source).catch((error) => parts.onError('sources', error))));
  };
}

/** The pods that an API server has for the node, where there is one; admission has to know the Node first. */
function apiSource({ cluster, ownNode, nodeName, clock, jitter, onError, onManifestProblem }: SourceParts): Feed[] {
  if (cluster === undefined) return [];
  const pods = apiPods({ client: cluster.client, cache: cluster.pods, nodeName, clock, jitter, onError });
  const follow: Feed = async (send, options) => {
    // The server may run on this very node: what runs here without it waits for no word of it.
    send({ type: 'config.sourceUnread', source: API_SOURCE, problems: [] });
    await ownNode?.listed(options.signal);
    if (!options.signal.aborted) await pods(tellingProblems(onManifestProblem, send), options);
  };
  return [follow];
}

/** Static pods from files; nothing at all when no path is given. */
function fileSource(parts: SourceParts, readManifests: ReadManifests): Feed {
  const { durable, store, files, staticPodPath: path, fileCheckMs = FILE_CHECK_MS } = parts;
  const { onError, onFiles, localObjects } = parts;
  return async (send, { signal }) => {
    if (path === undefined) return;
    const { common, onState } = following('file', parts, { place: path, everyMs: fileCheckMs, send, signal });
    const lastObjects = await localObjects?.previousObjects('file');
    if (signal.aborted) return;
    const watching = watchManifests({
      ...common,
      files,
      readManifests,
      signal,
      path,
      onSet: (set, { files, objects }) => {
        onFiles?.(files);
        // Before its pods ask for them.
        localObjects?.put('file', objects);
        common.onSet(set);
      },
      listEveryMs: fileCheckMs,
      lastGood: durable.manifests,
      ...(lastObjects === undefined ? {} : { lastObjects }),
      onManifest: ({ file, manifest }) => {
        const kept = manifest === null ? store.remove('manifests', file) : store.write('manifests', file, manifest);
        kept.catch((error) => onError('store', error));
      },
    });
    await orBroken(watching, signal, onState);
  };
}

/** Static pods from a URL; nothing at all when none is given. */
function httpSource(parts: SourceParts, readManifests: ReadManifests): Feed {
  const { durable, store, manifestUrl, network, onError, localObjects } = parts;
  return async (send, { signal }) => {
    if (manifestUrl === undefined) return;
    const { url, everyMs } = manifestUrl;
    const key = keyOf(url);
    const keep = (kept: Promise<void>) => void kept.catch((error) => onError('store', error));
    for (const other of durable.fetched.keys()) if (other !== key) keep(store.remove('fetched', other));
    const { common, onState, tell } = following('http', parts, { place: withoutSecrets(url), everyMs, send, signal });
    const left = await localObjects?.previousObjects('http');
    if (signal.aborted) return;
    const watching = watchManifestUrl({
      ...common,
      ...manifestUrl,
      network,
      readManifests,
      signal,
      onSet: (set, objects) => {
        localObjects?.put('http', objects);
        common.onSet(set);
      },
      lastGood: durable.fetched.get(key),
      lastObjects: left?.get(withoutSecrets(url)),
      onUnread: (problems) => tell({ type: 'config.sourceUnread', source: 'http', problems }),
      onGood: (pods) => keep(store.write('fetched', key, [...pods])),
    });
    await orBroken(watching, signal, onState);
  };
}

/** What all sources have in common: what they know of the node, and whom they tell of their pods and of themselves. */
function following(
  source: string,
  parts: SourceParts,
  { send, ...own }: Omit<Parameters<typeof tellingState>[2], 'clock'> & { readonly send: (fact: NodeFact) => void },
) {
  const { clock, nodeName, nextTurn = nextTurnOfHost, isLenient } = parts;
  const readClasses = admittingClasses(parts);
  const changes = changesOf(source, clock);
  const tell = tellingProblems(parts.onManifestProblem, send);
  const onState = tellingState(send, source, { ...own, clock });
  const common = {
    nodeName,
    clock,
    nextTurn,
    onState,
    ...(isLenient ? { isLenient: true } : {}),
    ...(readClasses ? { readClasses } : {}),
    onSet: (set: ManifestSet) => {
      for (const fact of changes(set)) tell(fact);
    },
  };
  return { common, onState, tell };
}

/** The classes that admit static pods: none in a cluster, whose API server admits pods, and a kubelet takes others as they are. */
function admittingClasses({ cluster, readClasses }: SourceParts): SourceParts['readClasses'] {
  return cluster === undefined ? (readClasses ?? (async () => new Map())) : undefined;
}

/** A fault of its own ends a source: nothing follows its pods any more. */
async function orBroken(
  following: Promise<void>,
  signal: AbortSignal,
  onState: (step: SourceStep) => void,
): Promise<void> {
  try {
    await following;
    if (!signal.aborted) throw new NodeFailure('InternalError', 'it has returned');
  } catch (error) {
    onState({ state: 'broken', failure: messageOf(error) });
    throw error;
  }
}
