/** The status of a Node at the API server, kept as its node says it is (`tryUpdateNodeStatus` of `pkg/kubelet/kubelet_node_status.go`). */

import type { Clock } from '../../../base/clock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import { lookUp } from '../../../base/lookUp.ts';
import type { JsonFields } from '../../../base/mergePatch.ts';
import { sameValue } from '../../../base/sameValue.ts';
import type { CallOptions } from '../../../kubeclient/client.ts';
import { KubeError } from '../../../kubeclient/kubeError.ts';
import { NODE, nodePath } from '../../../kubeclient/paths.ts';
import { type EventMessage, warning } from '../../../kubernetes/events/recordedEvent.ts';
import { type CloudSettings, cloudAnnotationFixes, withCloudAddresses } from '../../../kubernetes/node/cloud.ts';
import { conditionEvents, nodeEvent } from '../../../kubernetes/node/nodeConditions.ts';
import type { NodeObject } from '../../../kubernetes/node/nodeObject.ts';
import { changedConditions, nodeStatusChange, nodeStatusPatch } from '../../../kubernetes/node/nodeStatusPatch.ts';
import { labelFixes } from '../../../kubernetes/node/registeredNode.ts';
import { parseNode, readNode, type ServerNode } from '../nodeObjects.ts';
import type { HeartbeatClient } from './heartbeat.ts';
import type { OwnNode } from './ownNode.ts';

export interface NodeStatusParts {
  readonly client: HeartbeatClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly jitter: () => number;
  /** What the server has, as far as the node has heard. */
  readonly ownNode: Pick<OwnNode, 'current'>;
  /** The node as it is. */
  readonly describe: (options: CallOptions) => Promise<NodeObject>;
  /** Absent: no cloud's controller tells its addresses. */
  readonly cloud?: CloudSettings | undefined;
  /** The status is written again after so long, whatever it is, in milliseconds. */
  readonly reportMs: number;
}

export interface PutStatus {
  readonly isWritten: boolean;
  /** What the node has come to since the server heard of it last. */
  readonly events: readonly EventMessage[];
}

/** So often it is tried in one go: at first over the Node that is known, then over what the server says. */
const TRIES = 5;

export class NodeStatus {
  readonly #parts: NodeStatusParts;
  /** When the server has heard all of it last, by the clock's `monotonic`: setting a clock back delays nothing. */
  #toldAt: number | undefined;
  /** What it answered to that: for a moment newer than what is heard of it. */
  #answer: ServerNode | undefined;
  /** Added to the time until it is written again: not all nodes write when all their servers come back. */
  #delayMs = 0;
  /** What a server of an earlier version did not keep of what it was told. */
  #unkept: JsonFields | undefined;
  #isUnschedulable = false;
  #hasToldReboot = false;

  constructor(parts: NodeStatusParts) {
    this.#parts = parts;
  }

  async put(options: CallOptions): Promise<PutStatus> {
    const node = await this.#parts.describe(options);
    for (let tries = 1; ; tries += 1) {
      try {
        const found = await this.#found(tries, options);
        return await this.#tryOn(found, withCloudAddresses(node, this.#parts.cloud, found.status), options);
      } catch (error) {
        if (options.signal.aborted || tries === TRIES || this.#isAway(error)) throw error;
      }
    }
  }

  /** Nobody follows the Node, and nobody answers either: there is no server to try it with. */
  #isAway(error: unknown): boolean {
    return this.#parts.ownNode.current === undefined && !(error instanceof KubeError);
  }

  async #found(tries: number, options: CallOptions): Promise<ServerNode> {
    const { client, nodeName, ownNode } = this.#parts;
    const heard = tries === 1 ? ownNode.current : undefined;
    if (heard === null) throw new NodeFailure('NotFound', `the API server has no Node ${nodeName}`);
    const path = nodePath(nodeName);
    if (heard === undefined) return readNode(await client.get(path, { ...options, type: NODE }), `GET ${path}`);
    const known = parseNode(heard);
    return this.#answer !== undefined && isNewer(this.#answer, known) ? this.#answer : known;
  }

  async #tryOn(found: ServerNode, node: NodeObject, options: CallOptions): Promise<PutStatus> {
    const { clock, jitter, reportMs } = this.#parts;
    const metadata = wrongMetadata(node, found);
    const change = nodeStatusChange(found.status, node);
    const isChanged = metadata !== undefined || (change !== undefined && !sameValue(change, this.#unkept));
    const isFirst = this.#toldAt === undefined;
    const isDue = this.#toldAt !== undefined && clock.monotonic() - this.#toldAt >= reportMs + this.#delayMs;
    const patch = nodeStatusPatch(found.status, node);
    const mustWrite = isChanged || ((isDue || isFirst) && patch !== undefined);
    if (mustWrite) await this.#write({ ...(metadata && { metadata }), status: patch ?? {} }, node, options);
    if (isChanged || isFirst) this.#delayMs = reportMs * (jitter() - 0.5);
    else if (mustWrite) this.#delayMs = 0;
    if (mustWrite || isFirst) this.#toldAt = clock.monotonic();
    return { isWritten: mustWrite, events: this.#eventsOf(found, node) };
  }

  async #write(
    patch: { readonly metadata?: object; readonly status: JsonFields },
    node: NodeObject,
    options: CallOptions,
  ): Promise<void> {
    const { client, nodeName } = this.#parts;
    const path = `${nodePath(nodeName)}/status`;
    const answer = readNode(await client.patch(path, patch, { ...options, type: NODE }), `PATCH ${path}`);
    this.#answer = answer;
    this.#unkept = nodeStatusChange(answer.status, node);
  }

  /** In the order of a kubelet. */
  #eventsOf({ spec: { unschedulable = false }, status }: ServerNode, node: NodeObject): EventMessage[] {
    const { nodeName } = this.#parts;
    const events = [
      ...this.#rebootOf(status, node),
      ...changedConditions(status, node).flatMap((condition) => conditionEvents(nodeName, condition)),
    ];
    if (unschedulable !== this.#isUnschedulable)
      events.push(nodeEvent(nodeName, unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable'));
    this.#isUnschedulable = unschedulable;
    return events;
  }

  #rebootOf(server: JsonFields, { status: { nodeInfo } }: NodeObject): EventMessage[] {
    const { nodeName } = this.#parts;
    const { bootID } = nodeInfo;
    const info = lookUp(server, 'nodeInfo');
    const before = typeof info === 'object' && info !== null && 'bootID' in info ? info.bootID : '';
    if (this.#hasToldReboot || before === '' || before === bootID) return [];
    this.#hasToldReboot = true;
    return [warning('Rebooted', `Node ${nodeName} has been rebooted, boot id: ${bootID}`)];
  }
}

/** What of a Node's labels and annotations is not as its node needs it. */
function wrongMetadata(node: NodeObject, { metadata: found }: ServerNode): object | undefined {
  const wrong = {
    labels: labelFixes(node, found.labels),
    annotations: cloudAnnotationFixes(node, found.annotations),
  };
  const fields = Object.entries(wrong).filter(([, values]) => Object.keys(values).length > 0);
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

/** Versions of one kind of objects are numbers that grow. */
function isNewer({ metadata: one }: ServerNode, { metadata: other }: ServerNode): boolean {
  const [answered, heard] = [one, other].map(({ resourceVersion = '' }) => Number(resourceVersion));
  return one.uid === other.uid && Number(answered) > Number(heard);
}
