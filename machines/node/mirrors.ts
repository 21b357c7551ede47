/** Manages the mirror pods of the node's static pods. Each name that has or needs a mirror pod has an actor. */
import { assertEvent, enqueueActions } from 'xstate';
import { lookUp } from '../../base/lookUp.ts';
import { sameValue } from '../../base/sameValue.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { isStaticPod, sourceOf } from '../../kubernetes/api/staticPod.ts';
import type { ObservedMirror } from '../../kubernetes/mirror.ts';
import type { NamedMirror } from '../mirror/mirrorRecords.ts';
import type { NodeContext } from './context.ts';
import { type NodeActs, nodeSetup, sinkId } from './setup.ts';
import { haveSourcesSpoken } from './wanted.ts';

type Named = { readonly namespace: string; readonly name: string };

const keyOf = ({ namespace, name }: Named): string => `${namespace}/${name}`;
const mirrorId = (key: string) => `mirror/${key}` as const;

/** Version number that stands for the latest version of a status. */
const LATEST = Number.MAX_SAFE_INTEGER;

/** Returns the facts for each name that has a static pod or a mirror pod. */
function mirrorsNow(context: NodeContext): Map<string, NamedMirror> {
  const wanted = new Map(wantedStatic(context).map((pod) => [keyOf(pod.metadata), pod]));
  const seen = new Map(context.mirrors.seen.map((mirror) => [keyOf(mirror), mirror]));
  const ending = endingNames(context);
  const isKnown = haveSourcesSpoken(context);
  const nodeUid = nodeUidNow(context);
  const names: Named[] = [...Array.from(wanted.values(), ({ metadata }) => metadata), ...seen.values()];
  return new Map(
    names.map(({ namespace, name }) => {
      const key = keyOf({ namespace, name });
      const pod = wanted.get(key) ?? null;
      const isHeld = ending.has(key) || (pod === null && !isKnown);
      return [key, { namespace, name, pod, seen: seen.get(key) ?? null, isHeld, nodeUid }];
    }),
  );
}

/**
 * Returns the UID of the Node that owns new mirror pods: the Node in the watch or, before the watch has reported one,
 * the registered Node. Empty if there is none. No mirror pod is created while the Node is being deleted, because the
 * garbage collector would remove it at once (`tryReconcileMirrorPods` in `pkg/kubelet/kubelet.go`).
 */
function nodeUidNow({ registration, ownNode }: NodeContext): string {
  if (registration === undefined) return '';
  if (ownNode === undefined) return registration.uid;
  return ownNode === null || ownNode.isBeingDeleted ? '' : ownNode.uid;
}

/**
 * Returns the desired static pods. If several have the same name, the first one comes last and therefore wins in a Map.
 */
const wantedStatic = ({ desired }: NodeContext): Pod[] =>
  Object.values(desired)
    .flatMap((pods) => Object.values(pods).filter(isStaticPod))
    .reverse();

/** Returns the names of terminating pods that are not from the API server. */
const endingNames = ({ pods }: NodeContext): ReadonlySet<string> =>
  new Set(
    Object.values(pods).flatMap(({ pod, ending }) => (ending && sourceOf(pod) !== 'api' ? [keyOf(pod.metadata)] : [])),
  );

const isSame = ({ seen, ...one }: NamedMirror, { seen: otherSeen, ...other }: NamedMirror): boolean =>
  one.pod === other.pod && one.isHeld === other.isHeld && one.nodeUid === other.nodeUid && sameValue(seen, otherSeen);

const actions = {
  manageMirrors: nodeSetup.assign(({ context: { mirrors } }) => ({ mirrors: { ...mirrors, isKept: true } })),
  updateMirrors: enqueueActions(({ context, enqueue }: NodeActs) => {
    const { told, isKept } = context.mirrors;
    if (context.cluster === undefined || !isKept) return;
    const now = mirrorsNow(context);
    for (const [key, mirror] of now) {
      const { namespace, name, ...facts } = mirror;
      const before = lookUp(told, key);
      if (before === undefined) enqueue.spawnChild('mirror', { id: mirrorId(key), input: { namespace, name, facts } });
      else if (!isSame(before, mirror)) enqueue.sendTo(mirrorId(key), { type: 'mirror.changed', facts });
    }
    for (const key of Object.keys(told)) if (!now.has(key)) enqueue.stopChild(mirrorId(key));
    enqueue.assign({ mirrors: { ...context.mirrors, told: Object.fromEntries(now) } });
  }),
  /**
   * Records the mirror pods. The sinks then report the status of each static pod whose mirror pod has just appeared.
   */
  recordMirrors: enqueueActions(({ context, event, enqueue }: NodeActs) => {
    assertEvent(event, 'config.mirrorsChanged');
    const { mirrors } = event;
    const isNew = ({ uid }: ObservedMirror) => context.mirrors.seen.every((known) => known.uid !== uid);
    enqueue.assign({ mirrors: { ...context.mirrors, seen: mirrors } });
    for (const { hash: uid } of mirrors.filter(isNew)) {
      if (!Object.hasOwn(context.pods, uid)) continue;
      for (const name of context.sinks) enqueue.sendTo(sinkId(name), { type: 'status.changed', uid, version: LATEST });
    }
  }),
};

export const mirrorImplementations = { actions };
