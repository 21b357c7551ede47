/** Manages the mirror pods of the node's static pods. Each name that has or needs a mirror pod has an actor. */
import { assertEvent, enqueueActions } from 'xstate';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { isStaticPod, sourceOf } from '../../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ObservedMirror } from '../../../kubernetes/mirror.ts';
import type { NamedMirror } from '../../mirror/mirrorRecords.ts';
import type { NodeContext } from '../context.ts';
import { type NodeActionArgs, nodeSetup, sinkId } from '../setup.ts';
import { haveAllSourcesListed } from './wanted.ts';

type NamespacedName = { readonly namespace: string; readonly name: string };

const podKey = ({ namespace, name }: NamespacedName): string => `${namespace}/${name}`;
const mirrorId = (key: string) => `mirror/${key}` as const;

/** Version number that represents the latest version of a status. */
const LATEST_VERSION = Number.MAX_SAFE_INTEGER;

/** Returns the facts for each name that has a static pod or a mirror pod. */
function currentMirrors(context: NodeContext): Map<string, NamedMirror> {
  const staticPods = new Map(desiredStaticPods(context).map((pod) => [podKey(pod.metadata), pod]));
  const mirrorPods = new Map(context.mirrors.observedMirrors.map((mirror) => [podKey(mirror), mirror]));
  const terminatingKeys = terminatingPodKeys(context);
  const areSourcesListed = haveAllSourcesListed(context);
  const nodeUid = currentNodeUid(context);
  const names: NamespacedName[] = [
    ...Array.from(staticPods.values(), ({ metadata }) => metadata),
    ...mirrorPods.values(),
  ];
  return new Map(
    names.map(({ namespace, name }) => {
      const key = podKey({ namespace, name });
      const pod = staticPods.get(key) ?? null;
      const isUpdateDeferred = terminatingKeys.has(key) || (pod === null && !areSourcesListed);
      return [
        key,
        {
          namespace,
          name,
          pod,
          observedMirror: mirrorPods.get(key) ?? null,
          isUpdateDeferred,
          nodeUid,
        },
      ];
    }),
  );
}

/**
 * Returns the UID of the Node that owns new mirror pods, or an empty string if no Node exists. The owner is the Node in
 * the watch or, until the watch has reported one, the registered Node. No mirror pod is created while the Node is being
 * deleted, because the garbage collector would remove it at once (`tryReconcileMirrorPods` in
 * `pkg/kubelet/kubelet.go`).
 */
function currentNodeUid({ registration, ownNode }: NodeContext): string {
  if (registration === undefined) return '';
  if (ownNode === undefined) return registration.uid;
  return ownNode === null || ownNode.isBeingDeleted ? '' : ownNode.uid;
}

/**
 * Returns the desired static pods, sorted so that the first of several pods with the same name comes last and therefore
 * wins in a Map.
 */
const desiredStaticPods = ({ desired }: NodeContext): Pod[] =>
  Object.values(desired)
    .flatMap((pods) => Object.values(pods).filter(isStaticPod))
    .reverse();

/** Returns `NAMESPACE/NAME` of each terminating pod whose source is not the API server. */
const terminatingPodKeys = ({ pods }: NodeContext): ReadonlySet<string> =>
  new Set(
    Object.values(pods).flatMap(({ pod, isTerminating }) =>
      isTerminating && sourceOf(pod) !== 'api' ? [podKey(pod.metadata)] : [],
    ),
  );

const isSameMirror = (
  { observedMirror, ...first }: NamedMirror,
  { observedMirror: otherObservedMirror, ...second }: NamedMirror,
): boolean =>
  first.pod === second.pod &&
  first.isUpdateDeferred === second.isUpdateDeferred &&
  first.nodeUid === second.nodeUid &&
  isJsonEqual(observedMirror, otherObservedMirror);

const actions = {
  manageMirrors: nodeSetup.assign(({ context: { mirrors } }) => ({ mirrors: { ...mirrors, isManaged: true } })),
  updateMirrors: enqueueActions(({ context, enqueue }: NodeActionArgs) => {
    const { sentFacts, isManaged } = context.mirrors;
    if (context.cluster === undefined || !isManaged) return;
    const mirrorsByKey = currentMirrors(context);
    for (const [key, mirror] of mirrorsByKey) {
      const { namespace, name, ...facts } = mirror;
      const previousMirror = lookUp(sentFacts, key);
      if (previousMirror === undefined)
        enqueue.spawnChild('mirror', { id: mirrorId(key), input: { namespace, name, facts } });
      else if (!isSameMirror(previousMirror, mirror)) enqueue.sendTo(mirrorId(key), { type: 'mirror.changed', facts });
    }
    for (const key of Object.keys(sentFacts)) if (!mirrorsByKey.has(key)) enqueue.stopChild(mirrorId(key));
    enqueue.assign({ mirrors: { ...context.mirrors, sentFacts: Object.fromEntries(mirrorsByKey) } });
  }),
  /**
   * Records the mirror pods. The sinks then report the status of each static pod whose mirror pod has just appeared.
   */
  recordMirrors: enqueueActions(({ context, event, enqueue }: NodeActionArgs) => {
    assertEvent(event, 'config.mirrorsChanged');
    const { mirrors } = event;
    const isNew = ({ uid }: ObservedMirror) =>
      context.mirrors.observedMirrors.every((observedMirror) => observedMirror.uid !== uid);
    enqueue.assign({ mirrors: { ...context.mirrors, observedMirrors: mirrors } });
    for (const { hash: uid } of mirrors.filter(isNew)) {
      if (!Object.hasOwn(context.pods, uid)) continue;
      for (const name of context.sinks)
        enqueue.sendTo(sinkId(name), { type: 'status.changed', uid, version: LATEST_VERSION });
    }
  }),
};

export const mirrorImplementations = { actions };
