/** Caches the Node object of this node as last reported by the watch. */

import type { Clock } from '../../../base/clock.ts';
import { sameValue } from '../../../base/sameValue.ts';
import { NODE, NODES } from '../../../kubeclient/paths.ts';
import type { KubeObject, ReflectorStep } from '../../../kubeclient/reflector.ts';
import { wholeValue } from '../../../kubernetes/api/quantity.ts';
import type { NodeAddress } from '../../../kubernetes/node/alternativeNames.ts';
import { isExtendedResource } from '../../../kubernetes/resources/requests.ts';
import type { OwnNodeState } from '../../../machines/shared/clusterFacts.ts';
import type { NodeFact } from '../../../machines/shared/events.ts';
import { parseNode } from '../nodeObjects.ts';
import type { Watch } from '../watch.ts';

/** The watched Node, with its parsed state. */
interface WatchedNode {
  readonly object: KubeObject;
  readonly state: OwnNodeState;
}

export class OwnNode {
  #object: KubeObject | null = null;
  #isWatching = false;
  readonly #firstList = Promise.withResolvers<void>();
  /** Called after each change of the Node. */
  onChange: () => void = () => {};

  /** The current Node. Null if the server has none, undefined while the watch is disconnected. */
  get current(): KubeObject | null | undefined {
    return this.#isWatching ? this.#object : undefined;
  }

  /**
   * The pod address ranges that the cluster has assigned to this node, separated by commas, which is the format in
   * which `updateNode` in `pkg/kubelet/kubelet_node_status.go` forwards them. Empty if none are assigned yet.
   */
  get podCidr(): string {
    return this.#object === null ? '' : (parseNode(this.#object).spec.podCIDRs ?? []).join(',');
  }

  /** Resolves after the first list, even if it is empty, or when the signal aborts. */
  listed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    const aborted = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
    return Promise.race([this.#firstList.promise, aborted]);
  }

  /** Replaces the cached Node with the first object of a list, or with null if the list is empty. */
  replace([object]: readonly KubeObject[]): void {
    this.#object = object ?? null;
    this.#firstList.resolve();
    this.onChange();
  }

  updateState({ state }: ReflectorStep): void {
    this.#isWatching = state === 'watching';
  }
}

/**
 * Returns the feed that watches the node's own Node. Sends the Node's state to the node agent whenever the state
 * changes. `onUid` is called with the UID of a new Node.
 */
export function ownNodeWatch(
  ownNode: OwnNode,
  nodeName: string,
  clock: Pick<Clock, 'now'>,
  onUid: (uid: string) => void = () => {},
): Watch<WatchedNode> {
  let reported: OwnNodeState | null | undefined;
  return {
    name: 'Node',
    place: `the Node ${nodeName}`,
    path: NODES,
    type: NODE,
    query: { fieldSelector: `metadata.name=${nodeName}` },
    onStep: (step) => ownNode.updateState(step),
    // The watch reports an unreadable Node as a problem and continues.
    transform: (object) => ({ object, state: ownNodeState(object) }),
    onSet: (objects, send: (fact: NodeFact) => void) => {
      ownNode.replace(objects.map(({ object }) => object));
      const node = objects[0]?.state ?? null;
      if (reported !== undefined && sameValue(reported, node)) return;
      if (node !== null && node.uid !== reported?.uid) onUid(node.uid);
      reported = node;
      send({ type: 'cluster.nodeSeen', node, at: clock.now() });
    },
  };
}

/** Extracts the part of a Node's state that its agent acts on. */
export function ownNodeState(object: unknown): OwnNodeState {
  const { metadata, spec, status } = parseNode(object);
  const { uid, labels = {}, deletionTimestamp } = metadata;
  const taints = (spec.taints ?? []).flatMap(({ key, value, effect: name }) => {
    const effect = EFFECTS.find((each) => each === name);
    return effect === undefined ? [] : [{ key, effect, ...(value === undefined ? {} : { value }) }];
  });
  const extended = extendedResourcesIn(status.allocatable);
  const hasExtended = Object.keys(extended).length > 0;
  const addresses = addressesIn(status.addresses);
  return {
    uid,
    labels,
    taints,
    isDoubted: isDoubted(status.conditions),
    ...(deletionTimestamp === undefined ? {} : { isBeingDeleted: true }),
    ...(hasExtended ? { extended } : {}),
    ...(addresses.length > 0 ? { addresses } : {}),
  };
}

function extendedResourcesIn(allocatable: unknown): Record<string, number> {
  const amounts = Object.entries(typeof allocatable === 'object' && allocatable !== null ? allocatable : {});
  const extended = amounts.filter(([name]) => isExtendedResource(name));
  return Object.fromEntries(extended.map(([name, amount]) => [name, wholeValue(String(amount))]));
}

const addressesIn = (addresses: unknown): readonly NodeAddress[] =>
  Array.isArray(addresses)
    ? addresses.flatMap(({ type, address }) =>
        typeof type === 'string' && typeof address === 'string' ? [{ type, address }] : [],
      )
    : [];

/** Taint effects that this node acts on. */
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

/** Whether the node lifecycle controller has marked the node unreachable, because it missed heartbeats. */
const isDoubted = (conditions: unknown): boolean =>
  Array.isArray(conditions) && conditions.some(({ type, status }) => type === 'Ready' && status === 'Unknown');
