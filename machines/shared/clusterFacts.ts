/** What the node hears of its cluster beside its pods. */
import type { AdmissionNode } from '../../kubernetes/admission/node.ts';
import type { AlternativeNames, NodeAddress } from '../../kubernetes/node/alternativeNames.ts';
import type { EventQueueState } from '../node/eventQueue.ts';
import type { SourceState } from '../node/source.ts';
import type { TimerEvent } from './slots.ts';

/** The node's own Node object, as far as it concerns the node. */
export interface SeenNode extends Pick<AdmissionNode, 'labels' | 'taints'> {
  readonly uid: string;
  /** Whether the Node has a deletionTimestamp. Absent from older recordings. */
  readonly isBeingDeleted?: boolean;
  /** What others have said that it has for pods of devices of their own, in whole units; absent: nothing. */
  readonly extended?: Readonly<Record<string, number>>;
  /** The cluster has not heard of the node for a while, and says so. */
  readonly isDoubted: boolean;
  /** By which others reach it; absent from earlier recordings. */
  readonly addresses?: readonly NodeAddress[];
}

/** A set of objects that the node follows at the API server gets on otherwise than it did; `watch` is what it is shown as. */
type WatchFact = {
  readonly type: 'cluster.watchChanged';
  readonly watch: string;
  /** Null: it is followed no more. */
  readonly state: SourceState | null;
};

/** Events cannot be sent to the API server, or can again. */
type EventsFact = { readonly type: 'cluster.eventsChanged'; readonly state: EventQueueState };

/** What of the own Node concerns the node is another now; null where there is none. */
type NodeSeenFact = { readonly type: 'cluster.nodeSeen'; readonly node: SeenNode | null; readonly at: number };

/** Of what these pods name, a ConfigMap or a Secret is another than they have seen. */
type ObjectsFact = { readonly type: 'cluster.objectsChanged'; readonly uids: readonly string[] };

export type ClusterFact = WatchFact | EventsFact | NodeSeenFact | ObjectsFact;

/** What the registration hears: the runtime has answered for the first time. */
export type RegistrationEvent = { type: 'runtime.seen' } | TimerEvent;

/** What the lease hears: that there is a Node to hold it for. */
export type LeaseEvent = { type: 'node.registered' } | TimerEvent;

/** What a certificate hears: what it has to be good for. */
export type CertificateEvent =
  | { readonly type: 'certificate.namesChanged'; readonly names: AlternativeNames }
  | TimerEvent;
