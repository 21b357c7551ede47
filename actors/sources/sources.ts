/** Where pods come from: each source brings its full sets, side by side with the others. */
import type { SourceProblem } from '../../machines/shared/events.ts';
import type { RuntimeClasses } from '../../pod/api/runtimeClass.ts';
import type { Feed } from '../boundary.ts';
import type { Clock } from '../clock.ts';
import type { DurableFacts, NodeStore } from '../store/durableFacts.ts';
import { watchManifests } from './fileSource.ts';
import { type ManifestUrl, watchManifestUrl } from './httpSource.ts';
import { createManifestReader, type ReadManifests } from './manifestReader.ts';
import type { ManifestSet } from './manifestSet.ts';
import { keyOf } from './urlSecrets.ts';

const FILE_CHECK_MS = 20_000;

export interface SourceParts {
  readonly nodeName: string;
  readonly clock: Clock;
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
  readonly onError: (source: string, error: unknown) => void;
  /** Told of each problem and warning in a manifest once. */
  readonly onManifestProblem?: (level: 'error' | 'warning', file: string, path: string, message: string) => void;
}

/** The sources of a configuration, by the names under which they tell their sets. */
export const sourceNames = ({
  staticPodPath,
  manifestUrl,
}: Pick<SourceParts, 'staticPodPath' | 'manifestUrl'>): string[] => [
  ...(staticPodPath === undefined ? [] : ['file']),
  ...(manifestUrl === undefined ? [] : ['http']),
];

/** All sources as one feed; a fault in one ends no other. */
export function sourcesFeed(parts: SourceParts): Feed {
  return async (send, options) => {
    const readManifests = createManifestReader({ clock: parts.clock, signal: options.signal });
    const sources = [fileSource(parts, readManifests), httpSource(parts, readManifests)];
    const follow = async (source: Feed) => source(send, options);
    await Promise.all(sources.map((source) => follow(source).catch((error) => parts.onError('sources', error))));
  };
}

/** Static pods from files; nothing at all when no path is given. */
function fileSource(parts: SourceParts, readManifests: ReadManifests): Feed {
  const { clock, nodeName, durable, store, staticPodPath: path, fileCheckMs = FILE_CHECK_MS, onError } = parts;
  return async (send, { signal }) => {
    if (path === undefined) return;
    const tell = problemTeller(parts);
    await watchManifests({
      path,
      nodeName,
      ...(parts.isLenient ? { isLenient: true } : {}),
      listEveryMs: fileCheckMs,
      readManifests,
      clock,
      signal,
      lastGood: durable.manifests,
      ...(parts.readClasses ? { readClasses: parts.readClasses } : {}),
      onSet: (set) => {
        tell(set);
        const { pods, problems, warnings } = set;
        send({ type: 'config.podsChanged', source: 'file', pods, problems, warnings, at: clock.now() });
      },
      onManifest: ({ file, manifest }) => {
        const kept = manifest === null ? store.remove('manifests', file) : store.write('manifests', file, manifest);
        kept.catch((error) => onError('store', error));
      },
    });
  };
}

/** Static pods from a URL; nothing at all when none is given. */
function httpSource(parts: SourceParts, readManifests: ReadManifests): Feed {
  const { clock, nodeName, durable, store, manifestUrl, onError } = parts;
  return async (send, { signal }) => {
    if (manifestUrl === undefined) return;
    const key = keyOf(manifestUrl.url);
    const tell = problemTeller(parts);
    const keep = (kept: Promise<void>) => void kept.catch((error) => onError('store', error));
    for (const other of durable.fetched.keys()) if (other !== key) keep(store.remove('fetched', other));
    await watchManifestUrl({
      ...manifestUrl,
      nodeName,
      ...(parts.isLenient ? { isLenient: true } : {}),
      readManifests,
      clock,
      signal,
      lastGood: durable.fetched.get(key),
      ...(parts.readClasses ? { readClasses: parts.readClasses } : {}),
      onSet: (set) => {
        tell(set);
        const { pods, problems, warnings } = set;
        send({ type: 'config.podsChanged', source: 'http', pods, problems, warnings, at: clock.now() });
      },
      onUnread: (problems) => {
        tell({ problems, warnings: [] });
        send({ type: 'config.sourceUnread', source: 'http', problems });
      },
      onGood: (pods) => keep(store.write('fetched', key, [...pods])),
    });
  };
}

/** Tells each problem and warning once for as long as it stands. */
function problemTeller({ onManifestProblem }: SourceParts): (set: Pick<ManifestSet, 'problems' | 'warnings'>) => void {
  const tellNew = (level: 'error' | 'warning') => {
    let told: ReadonlySet<string> = new Set();
    return (problems: readonly SourceProblem[]) => {
      const now = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
      for (const [key, { file, path, message }] of now) {
        if (!told.has(key)) onManifestProblem?.(level, file, path, message);
      }
      told = new Set(now.keys());
    };
  };
  const [tellProblems, tellWarnings] = [tellNew('error'), tellNew('warning')];
  return ({ problems, warnings }) => {
    tellProblems(problems);
    tellWarnings(warnings);
  };
}
