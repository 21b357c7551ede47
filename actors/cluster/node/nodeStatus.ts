/** Reports the node's status to the API server (`tryUpdateNodeStatus` of `pkg/kubelet/kubelet_node_status.go`). */

import { NodeFailure } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import type { JsonFields } from '../../../base/values/mergePatch.ts';
import type { CallOptions } from '../../../kubeclient/client.ts';
import { KubeError } from '../../../kubeclient/kubeError.ts';
import { NODE_TYPE, nodePath } from '../../../kubeclient/paths.ts';
import { type EventMessage, warning } from '../../../kubernetes/events/recordedEvent.ts';
import { type CloudSettings, cloudAnnotationFixes, withCloudAddresses } from '../../../kubernetes/node/cloud.ts';
import { conditionEvents, nodeEvent } from '../../../kubernetes/node/nodeConditions.ts';
import type { NodeObject } from '../../../kubernetes/node/nodeObject.ts';
import { changedConditions, nodeStatusChange, nodeStatusPatch } from '../../../kubernetes/node/nodeStatusPatch.ts';
import { labelFixes } from '../../../kubernetes/node/registeredNode.ts';
import { parseNode, readNode, type ServerNode } from '../nodeObjects.ts';
import type { HeartbeatClient } from './heartbeatClient.ts';
import type { OwnNode } from './ownNode.ts';

export interface NodeStatusDependencies {
  readonly client: HeartbeatClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly jitter: () => number;
  /** The Node as last reported by the watch. */
  readonly ownNode: Pick<OwnNode, 'current'>;
  readonly describe: (options: CallOptions) => Promise<NodeObject>;
  /** Absent if no cloud controller manages the node's addresses. */
  readonly cloud?: CloudSettings | undefined;
  /** Interval at which the status is written even if it is unchanged, in milliseconds. */
  readonly reportIntervalMs: number;
}

export interface PutStatus {
  readonly isWritten: boolean;
  /** Events to emit for changes since the last report. */
  readonly events: readonly EventMessage[];
}

/**
 * Maximum number of attempts. The first attempt uses the watched Node, and later attempts read the Node from the
 * server.
 */
const MAX_ATTEMPTS = 5;

export class NodeStatus {
  readonly #dependencies: NodeStatusDependencies;
  /**
   * Monotonic time of the last complete report. The wall clock is not used, because adjusting it backwards would delay
   * reports.
   */
  #lastReportAt: number | undefined;
  /** The server's response to the last write, which may be newer than the watched Node. */
  #response: ServerNode | undefined;
  /** Random delay of the next periodic report. Prevents all nodes from writing at the same time after an outage. */
  #delayMs = 0;
  /** Changes in the last report that the server did not store, because older servers ignore unknown fields. */
  #ignoredChange: JsonFields | undefined;
  #isUnschedulable = false;
  #hasReportedReboot = false;

  constructor(dependencies: NodeStatusDependencies) {
    this.#dependencies = dependencies;
  }

  async put(options: CallOptions): Promise<PutStatus> {
    const node = await this.#dependencies.describe(options);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const serverNode = await this.#readServerNode(attempt, options);
        const describedNode = withCloudAddresses(node, this.#dependencies.cloud, serverNode.status);
        return await this.#reportStatus(serverNode, describedNode, options);
      } catch (error) {
        if (options.signal.aborted || attempt === MAX_ATTEMPTS || this.#isUnreachable(error)) throw error;
      }
    }
  }

  /**
   * Whether the server is assumed to be unreachable, i.e. the watch is disconnected and the request has received no
   * response. In this case, retrying is pointless.
   */
  #isUnreachable(error: unknown): boolean {
    return this.#dependencies.ownNode.current === undefined && !(error instanceof KubeError);
  }

  async #readServerNode(attempt: number, options: CallOptions): Promise<ServerNode> {
    const { client, nodeName, ownNode } = this.#dependencies;
    const watchedNode = attempt === 1 ? ownNode.current : undefined;
    if (watchedNode === null) throw new NodeFailure('NotFound', `the API server has no Node ${nodeName}`);
    const path = nodePath(nodeName);
    if (watchedNode === undefined)
      return readNode(await client.get(path, { ...options, type: NODE_TYPE }), `GET ${path}`);
    const parsedNode = parseNode(watchedNode);
    return this.#response !== undefined && isNewer(this.#response, parsedNode) ? this.#response : parsedNode;
  }

  async #reportStatus(serverNode: ServerNode, node: NodeObject, options: CallOptions): Promise<PutStatus> {
    const { clock, jitter, reportIntervalMs } = this.#dependencies;
    const metadata = metadataFixes(node, serverNode);
    const statusChange = nodeStatusChange(serverNode.status, node);
    const isChanged =
      metadata !== undefined || (statusChange !== undefined && !isJsonEqual(statusChange, this.#ignoredChange));
    const isFirstReport = this.#lastReportAt === undefined;
    const isReportDue =
      this.#lastReportAt !== undefined && clock.monotonic() - this.#lastReportAt >= reportIntervalMs + this.#delayMs;
    const patch = nodeStatusPatch(serverNode.status, node);
    const mustWrite = isChanged || ((isReportDue || isFirstReport) && patch !== undefined);
    if (mustWrite) await this.#writeStatus({ ...(metadata && { metadata }), status: patch ?? {} }, node, options);
    if (isChanged || isFirstReport) this.#delayMs = reportIntervalMs * (jitter() - 0.5);
    else if (mustWrite) this.#delayMs = 0;
    if (mustWrite || isFirstReport) this.#lastReportAt = clock.monotonic();
    return { isWritten: mustWrite, events: this.#createEvents(serverNode, node) };
  }

  async #writeStatus(
    patch: { readonly metadata?: object; readonly status: JsonFields },
    node: NodeObject,
    options: CallOptions,
  ): Promise<void> {
    const { client, nodeName } = this.#dependencies;
    const path = `${nodePath(nodeName)}/status`;
    const response = readNode(await client.patch(path, patch, { ...options, type: NODE_TYPE }), `PATCH ${path}`);
    this.#response = response;
    this.#ignoredChange = nodeStatusChange(response.status, node);
  }

  /**
   * Returns the events for a reboot and for changed conditions and schedulability, in the order in which the kubelet
   * emits them.
   */
  #createEvents({ spec: { unschedulable = false }, status }: ServerNode, node: NodeObject): EventMessage[] {
    const { nodeName } = this.#dependencies;
    const events = [
      ...this.#rebootEvents(status, node),
      ...changedConditions(status, node).flatMap((condition) => conditionEvents(nodeName, condition)),
    ];
    if (unschedulable !== this.#isUnschedulable)
      events.push(nodeEvent(nodeName, unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable'));
    this.#isUnschedulable = unschedulable;
    return events;
  }

  #rebootEvents(server: JsonFields, { status: { nodeInfo } }: NodeObject): EventMessage[] {
    const { nodeName } = this.#dependencies;
    const { bootID } = nodeInfo;
    const reportedInfo = lookUp(server, 'nodeInfo');
    const previousBootId =
      typeof reportedInfo === 'object' && reportedInfo !== null && 'bootID' in reportedInfo ? reportedInfo.bootID : '';
    if (this.#hasReportedReboot || previousBootId === '' || previousBootId === bootID) return [];
    this.#hasReportedReboot = true;
    return [warning('Rebooted', `Node ${nodeName} has been rebooted, boot id: ${bootID}`)];
  }
}

/** Returns the required corrections to the Node's labels and annotations, or undefined if there are none. */
function metadataFixes(node: NodeObject, { metadata }: ServerNode): object | undefined {
  const allFixes = {
    labels: labelFixes(node, metadata.labels),
    annotations: cloudAnnotationFixes(node, metadata.annotations),
  };
  const requiredFixes = Object.entries(allFixes).filter(([, values]) => Object.keys(values).length > 0);
  return requiredFixes.length > 0 ? Object.fromEntries(requiredFixes) : undefined;
}

/** Compares resource versions, which are increasing numbers within a resource type. */
function isNewer({ metadata: response }: ServerNode, { metadata: watched }: ServerNode): boolean {
  const [responseVersion, watchedVersion] = [response, watched].map(({ resourceVersion = '' }) =>
    Number(resourceVersion),
  );
  return response.uid === watched.uid && Number(responseVersion) > Number(watchedVersion);
}
