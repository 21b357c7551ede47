/** Defines facts about the cluster, except facts about its pods. */
import type { AdmissionNode } from '../../../kubernetes/admission/node.ts';
import type { AlternativeNames, NodeAddress } from '../../../kubernetes/node/alternativeNames.ts';
import type { EventQueueState } from '../../node/cluster/eventQueue.ts';
import type { SourceState } from '../../node/pods/source.ts';
import type { TimerEvent } from './slots.ts';

/** The properties of the node's own Node object that the node uses. */
export interface OwnNodeState extends Pick<AdmissionNode, 'labels' | 'taints'> {
  readonly uid: string;
  /** Whether the Node has a deletionTimestamp. Absent from older recordings. */
  readonly isBeingDeleted?: boolean;
  /**
   * Extended resources in whole units that other components, such as device plugins, have added to the Node. Undefined
   * if there are none.
   */
  readonly extendedResources?: Readonly<Record<string, number>>;
  /** Whether the cluster has marked the node as unreachable. */
  readonly isUnreachable: boolean;
  /** Addresses of the node. Absent from older recordings. */
  readonly addresses?: readonly NodeAddress[];
}

/** The state of a watch has changed. `watch` is its display name. */
type WatchFact = {
  readonly type: 'cluster.watchChanged';
  readonly watch: string;
  /** Null if the watch has been stopped. */
  readonly state: SourceState | null;
};

/** The queue of events for the API server has changed its state, i.e. events have to wait, or sending has resumed. */
type EventsFact = { readonly type: 'cluster.eventsChanged'; readonly state: EventQueueState };

/** The node's own Node object has changed. Null if there is none. */
type OwnNodeFact = { readonly type: 'cluster.nodeSeen'; readonly node: OwnNodeState | null; readonly at: number };

/** A ConfigMap or Secret to which the pods with these UIDs refer has changed. */
type ObjectsFact = { readonly type: 'cluster.objectsChanged'; readonly uids: readonly string[] };

export type ClusterFact = WatchFact | EventsFact | OwnNodeFact | ObjectsFact;

/** `runtime.seen` means that the runtime has responded for the first time. */
export type RegistrationEvent = { type: 'runtime.seen' } | TimerEvent;

/** `node.registered` means that the Node exists and therefore needs a lease. */
export type LeaseEvent = { type: 'node.registered' } | TimerEvent;

/** `certificate.namesChanged` means that the certificate has to cover different names. */
export type CertificateEvent =
  | { readonly type: 'certificate.namesChanged'; readonly names: AlternativeNames }
  | TimerEvent;
