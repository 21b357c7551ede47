/** Defines the interface between the page's server and the node or recording that the page shows. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type {
  ActorDetail,
  ActorHistory,
  Frame,
  Rail,
  ShownLog,
  ShownObject,
  ShownPayload,
  Snapshot,
  Story,
} from './protocol.ts';

/** Thrown if the requested object does not exist. The message is shown to the user. */
export class NotInspected extends Error {}

/** Live updates of a running node, which viewers can follow. */
export interface LiveUpdates {
  /** Returns the state as of the last frame if there is a viewer, otherwise the current state. */
  snapshot(): Snapshot;
  /**
   * Calls `viewer` with each frame until the returned function is called. The first frame contains the changes since
   * the snapshot that `snapshot` returns at the time of the call.
   */
  follow(viewer: (frame: Frame) => void): () => void;
}

/** Provides the page's data. Each method rejects with `NotInspected` if the requested object does not exist. */
export interface InspectedNode {
  /** Live updates of the node. Undefined for a recording. */
  readonly live?: LiveUpdates;
  /**
   * Returns the state at the given time, or the last recorded state before that time. If `at` is undefined, returns the
   * latest state.
   */
  moment(at?: number): Promise<Snapshot>;
  /** Returns the history of a pod between two times. An empty UID selects the node itself. */
  story(uid: string, from: number, to: number): Promise<Story>;
  rail(): Promise<Rail>;
  /** Returns the details of the actor at the given path. If `at` is undefined, returns the current details. */
  detail(path: string, at?: number): Promise<ActorDetail>;
  /** Returns the history of one actor from the recording, up to `at` or, if `at` is undefined, up to now. */
  actorHistory(path: string, at?: number): Promise<ActorHistory>;
  /** Returns the log of the actor's container. Undefined for a recording, which contains no logs. */
  log?(path: string, signal: AbortSignal): Promise<ShownLog>;
  object(uid: string, at?: number): Promise<ShownObject>;
  /** Returns the payload of the input that `actor` received from `source` at the time `at`. */
  entry(actor: string, source: string, at: number): Promise<ShownPayload>;
  /** Accepts a WebSocket connection that uses Stately's inspection protocol. Undefined for a recording. */
  readonly acceptStately?: (request: IncomingMessage, connection: Duplex, head: Buffer) => void;
  close(): Promise<void>;
}
