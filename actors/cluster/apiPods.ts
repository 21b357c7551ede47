/** The API server as a source of pods: those that are bound to the node. */
import type { KubeClient } from '../../kube/client.ts';
import { PODS } from '../../kube/paths.ts';
import { type KubeObject, Reflector, type ReflectorStep } from '../../kube/reflector.ts';
import type { SourceProblem } from '../../machines/shared/events.ts';
import { readApiPod } from '../../pod/api/apiPod.ts';
import { NodeFailure } from '../../pod/failure.ts';
import { readMirror, type SeenMirror } from '../../pod/mirror.ts';
import { sameValue } from '../../pod/sameValue.ts';
import type { Feed } from '../boundary.ts';
import type { Clock } from '../clock.ts';
import { changesOf } from '../sources/changes.ts';
import type { ManifestSet } from '../sources/manifestSet.ts';
import { tellingState } from '../sources/sourceNews.ts';
import type { PodCache } from './podCache.ts';

export const API_SOURCE = 'api';

interface ApiPodsParts {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly jitter: () => number;
  /** Told what the server has. */
  readonly cache: Pick<PodCache, 'take' | 'told' | 'step'>;
  readonly onError: (source: string, error: unknown) => void;
}

/** Whatever version of a pod's status is the latest; whoever writes it too is not answered at once. */
const LATEST_STATUS = { type: 'status.changed', version: Number.MAX_SAFE_INTEGER, mayWait: true } as const;

/** Follows the pods until it is stopped. */
export function apiPods({ client, nodeName, clock, jitter, cache, onError }: ApiPodsParts): Feed {
  return async (send, { signal }) => {
    const changes = changesOf(API_SOURCE, clock);
    const onState = tellingState(send, API_SOURCE, { clock, signal, place: `pods bound to ${nodeName}` });
    const reader = new PodReader(clock);
    let mirrors: readonly SeenMirror[] = [];
    await new Reflector({
      ...{ client, path: PODS, query: { fieldSelector: `spec.nodeName=${nodeName}` }, clock, jitter, signal },
      onSet: (objects) => {
        const { set, mirrors: found } = reader.read(objects);
        cache.take(objects, found);
        if (!sameValue(found, mirrors)) send({ type: 'config.mirrorsChanged', mirrors: found });
        mirrors = found;
        for (const fact of changes(set)) send(fact);
        for (const uid of cache.told.editedIn(objects)) send({ ...LATEST_STATUS, uid });
      },
      onStep: (step: ReflectorStep) => {
        cache.step(step);
        onState(step);
      },
      onProblem: (problem) => onError('watch', new NodeFailure('FailedRead', `Pod ${problem}`)),
    }).run();
  };
}

/** A pod to run, or a mirror, which shows what the node runs by itself and is never run, whoever has made it. */
type Read = ReturnType<typeof readApiPod> | { readonly mirror: SeenMirror };

/** Reads objects, each once: what has not changed at the server stays the same pod. */
class PodReader {
  readonly #clock: Clock;
  #known = new Map<KubeObject, Read>();
  /** When each pod was first seen, by its UID. */
  #seen = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  read(objects: readonly KubeObject[]): { readonly set: ManifestSet; readonly mirrors: readonly SeenMirror[] } {
    const known = new Map(objects.map((object) => [object, this.#known.get(object) ?? this.#readOne(object)] as const));
    this.#known = known;
    const uids = new Set(objects.map(({ metadata: { uid = '' } }) => uid));
    for (const uid of this.#seen.keys()) if (!uids.has(uid)) this.#seen.delete(uid);
    const set = {
      pods: [...known.values()].flatMap((read) => ('pod' in read ? [read.pod] : [])),
      problems: [...known].flatMap(([object, read]) => ('problems' in read ? problemsOf(object, read.problems) : [])),
      warnings: [],
    };
    return { set, mirrors: [...known.values()].flatMap((read) => ('mirror' in read ? [read.mirror] : [])) };
  }

  #readOne(object: KubeObject): Read {
    const mirror = readMirror(object);
    if (mirror !== undefined) return { mirror };
    const { uid = '' } = object.metadata;
    const seenAt = this.#seen.get(uid) ?? this.#clock.now();
    this.#seen.set(uid, seenAt);
    return readApiPod(object, seenAt);
  }
}

function problemsOf(object: KubeObject, problems: readonly { readonly path: string; readonly message: string }[]) {
  const { namespace, name } = object.metadata;
  const pod = `${String(namespace)}/${String(name)}`;
  return problems.map(({ path, message }): SourceProblem => ({ file: `pod ${pod}`, path, message, pod }));
}
