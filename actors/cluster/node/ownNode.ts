/** Caches the Node object of this node as last reported by the watch. */

import type { Clock } from '../../../base/time/clock.ts';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { NODE_TYPE, NODES_PATH } from '../../../kubeclient/paths.ts';
import type { KubeObject, ReflectorState } from '../../../kubeclient/reflector.ts';
import { wholeValue } from '../../../kubernetes/api/values/quantity.ts';
import type { NodeAddress } from '../../../kubernetes/node/alternativeNames.ts';
import { isExtendedResource } from '../../../kubernetes/resources/requests.ts';
import type { OwnNodeState } from '../../../machines/shared/events/clusterFacts.ts';
import type { NodeFact } from '../../../machines/shared/events/events.ts';
import { parseNode } from '../nodeObjects.ts';
import type { ClusterWatch } from '../runWatch.ts';

/** The watched Node, with its parsed state. */
interface WatchedNode {
  readonly object: KubeObject;
  readonly state: OwnNodeState;
}

export class OwnNode {
  #object: KubeObject | null = null;
  #isWatchEstablished = false;
  readonly #firstList = Promise.withResolvers<void>();
  /** Called after each change of the Node. */
  onChange: () => void = () => {};

  /** The current Node. Null if the server has none, undefined while the watch is disconnected. */
  get current(): KubeObject | null | undefined {
    return this.#isWatchEstablished ? this.#object : undefined;
  }

  /**
   * The pod CIDRs that the cluster has assigned to this node, separated by commas (as in `updateNode` in
   * `pkg/kubelet/kubelet_node_status.go`). Empty if none have been assigned yet.
   */
  get podCidr(): string {
    return this.#object === null ? '' : (parseNode(this.#object).spec.podCIDRs ?? []).join(',');
  }

  /** Resolves after the first list, even if it is empty, or when the signal aborts. */
  listed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    const abortPromise = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
    return Promise.race([this.#firstList.promise, abortPromise]);
  }

  /** Replaces the cached Node with the first object of a list, or with null if the list is empty. */
  replace([object]: readonly KubeObject[]): void {
    this.#object = object ?? null;
    this.#firstList.resolve();
    this.onChange();
  }

  updateState({ state }: ReflectorState): void {
    this.#isWatchEstablished = state === 'watching';
  }
}

/**
 * Returns the watch of the node's own Node. It reports the Node's state to the node agent whenever the state changes,
 * and calls `onUid` with the UID of a new Node.
 */
export function ownNodeWatch(
  ownNode: OwnNode,
  nodeName: string,
  clock: Pick<Clock, 'now'>,
  onUid: (uid: string) => void = () => {},
): ClusterWatch<WatchedNode> {
  let lastReportedNode: OwnNodeState | null | undefined;
  return {
    name: 'Node',
    sourceName: `the Node ${nodeName}`,
    path: NODES_PATH,
    type: NODE_TYPE,
    query: { fieldSelector: `metadata.name=${nodeName}` },
    onStep: (step) => ownNode.updateState(step),
    // Throws if the Node is unreadable. The watch then reports a problem and continues.
    transform: (object) => ({ object, state: ownNodeState(object) }),
    onSet: (objects, send: (fact: NodeFact) => void) => {
      ownNode.replace(objects.map(({ object }) => object));
      const node = objects[0]?.state ?? null;
      if (lastReportedNode !== undefined && isJsonEqual(lastReportedNode, node)) return;
      if (node !== null && node.uid !== lastReportedNode?.uid) onUid(node.uid);
      lastReportedNode = node;
      send({ type: 'cluster.nodeSeen', node, at: clock.now() });
    },
  };
}

/** Extracts the part of a Node's state that its agent acts on. */
export function ownNodeState(object: unknown): OwnNodeState {
  const { metadata, spec, status } = parseNode(object);
  const { uid, labels = {}, deletionTimestamp } = metadata;
  const taints = (spec.taints ?? []).flatMap(({ key, value, effect: name }) => {
    const effect = TAINT_EFFECTS.find((each) => each === name);
    return effect === undefined ? [] : [{ key, effect, ...(value === undefined ? {} : { value }) }];
  });
  const extendedResources = parseExtendedResources(status.allocatable);
  const hasExtendedResources = Object.keys(extendedResources).length > 0;
  const addresses = parseAddresses(status.addresses);
  return {
    uid,
    labels,
    taints,
    isUnreachable: isMarkedUnreachable(status.conditions),
    ...(deletionTimestamp === undefined ? {} : { isBeingDeleted: true }),
    ...(hasExtendedResources ? { extendedResources } : {}),
    ...(addresses.length > 0 ? { addresses } : {}),
  };
}

function parseExtendedResources(allocatable: unknown): Record<string, number> {
  const resourceEntries = Object.entries(typeof allocatable === 'object' && allocatable !== null ? allocatable : {});
  const extendedEntries = resourceEntries.filter(([name]) => isExtendedResource(name));
  return Object.fromEntries(extendedEntries.map(([name, amount]) => [name, wholeValue(String(amount))]));
}

const parseAddresses = (addresses: unknown): readonly NodeAddress[] =>
  Array.isArray(addresses)
    ? addresses.flatMap(({ type, address }) =>
        typeof type === 'string' && typeof address === 'string' ? [{ type, address }] : [],
      )
    : [];

/** Taint effects that this node acts on. */
const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

/** Whether the node lifecycle controller has marked the node unreachable because of missed heartbeats. */
const isMarkedUnreachable = (conditions: unknown): boolean =>
  Array.isArray(conditions) && conditions.some(({ type, status }) => type === 'Ready' && status === 'Unknown');
