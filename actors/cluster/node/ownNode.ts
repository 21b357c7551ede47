/** The node's own Node object as the API server has it, as far as the node has heard. */

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

/** The Node, and what of it concerns the node. */
interface Kept {
  readonly object: KubeObject;
  readonly seen: OwnNodeState;
}

export class OwnNode {
  #object: KubeObject | null = null;
  #isFollowed = false;
  readonly #heard = Promise.withResolvers<void>();
  /** Is called when the server has sent the Node. */
  onChange: () => void = () => {};

  /** As the server has it now; null where it has none, undefined where nobody can tell. */
  get current(): KubeObject | null | undefined {
    return this.#isFollowed ? this.#object : undefined;
  }

  /**
   * The addresses that the cluster has assigned to the pods of this node, separated by commas as `updateNode` in
   * `pkg/kubelet/kubelet_node_status.go` passes them on. Empty if there are none yet.
   */
  get podCidr(): string {
    return this.#object === null ? '' : (parseNode(this.#object).spec.podCIDRs ?? []).join(',');
  }

  /** Resolves once the server has said which Node there is, be it none, or the signal aborts. */
  heard(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    const aborted = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
    return Promise.race([this.#heard.promise, aborted]);
  }

  /** All that the server has under the node's name. */
  take([object]: readonly KubeObject[]): void {
    this.#object = object ?? null;
    this.#heard.resolve();
    this.onChange();
  }

  step({ state }: ReflectorStep): void {
    this.#isFollowed = state === 'watching';
  }
}

/** Follows it, and tells what of it concerns the node when that has changed; `onUid` hears which Node it is now. */
export function ownNodeWatch(
  ownNode: OwnNode,
  nodeName: string,
  clock: Pick<Clock, 'now'>,
  onUid: (uid: string) => void = () => {},
): Watch<Kept> {
  let told: OwnNodeState | null | undefined;
  return {
    name: 'Node',
    place: `the Node ${nodeName}`,
    path: NODES,
    type: NODE,
    query: { fieldSelector: `metadata.name=${nodeName}` },
    onStep: (step) => ownNode.step(step),
    // One that cannot be read is told as a problem, and ends no watch.
    transform: (object) => ({ object, seen: seenNode(object) }),
    onSet: (kept, send: (fact: NodeFact) => void) => {
      ownNode.take(kept.map(({ object }) => object));
      const node = kept[0]?.seen ?? null;
      if (told !== undefined && sameValue(told, node)) return;
      if (node !== null && node.uid !== told?.uid) onUid(node.uid);
      told = node;
      send({ type: 'cluster.nodeSeen', node, at: clock.now() });
    },
  };
}

/** What of a Node concerns its node. */
export function seenNode(object: unknown): OwnNodeState {
  const { metadata, spec, status } = parseNode(object);
  const { uid, labels = {}, deletionTimestamp } = metadata;
  const taints = (spec.taints ?? []).flatMap(({ key, value, effect: name }) => {
    const effect = EFFECTS.find((each) => each === name);
    return effect === undefined ? [] : [{ key, effect, ...(value === undefined ? {} : { value }) }];
  });
  const extended = extendedIn(status.allocatable);
  const isAny = Object.keys(extended).length > 0;
  const addresses = addressesIn(status.addresses);
  return {
    uid,
    labels,
    taints,
    isDoubted: isDoubted(status.conditions),
    ...(deletionTimestamp === undefined ? {} : { isBeingDeleted: true }),
    ...(isAny ? { extended } : {}),
    ...(addresses.length > 0 ? { addresses } : {}),
  };
}

function extendedIn(allocatable: unknown): Record<string, number> {
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

/** What others may mean is not for this node to act on. */
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

/** As a controller writes it that has not heard of the node for a while. */
const isDoubted = (conditions: unknown): boolean =>
  Array.isArray(conditions) && conditions.some(({ type, status }) => type === 'Ready' && status === 'Unknown');
