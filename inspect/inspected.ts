/** What the page can ask of whatever it shows: a node that runs, or a recording. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type {
  ActorHistory,
  Detail,
  Frame,
  Rail,
  ShownLog,
  ShownObject,
  ShownPayload,
  Snapshot,
  Story,
} from './protocol.ts';

/** What is asked for is not there, or not any more: the message is for people. */
export class NotInspected extends Error {}

/** What goes on, and can be followed. */
export interface Live {
  /** While somebody follows it is what the last frame has left. */
  snapshot(): Snapshot;
  /** Tells of every frame until the function that it gives is called: they go on from a snapshot of this moment. */
  follow(viewer: (frame: Frame) => void): () => void;
}

/** Each question rejects with a `NotInspected` where there is nothing of it. */
export interface Inspected {
  /** Absent of a recording. */
  readonly live?: Live;
  /** A moment of the past, or what is recorded last before it; without one the last of all. */
  moment(at?: number): Promise<Snapshot>;
  /** What happened to a pod; with an empty UID to the node itself. */
  story(uid: string, from: number, to: number): Promise<Story>;
  rail(): Promise<Rail>;
  /** Of one actor, by its path; without a moment as it is now. */
  detail(path: string, at?: number): Promise<Detail>;
  /** Returns the history of one actor, which has to be read from the recording, until `at` or, if that is undefined, until now. */
  actorHistory(path: string, at?: number): Promise<ActorHistory>;
  /** The log of the container that an actor is, or is part of, as it is now; absent of a recording, which has no logs. */
  log?(path: string, signal: AbortSignal): Promise<ShownLog>;
  object(uid: string, at?: number): Promise<ShownObject>;
  /** What entered an actor at a moment from a source. */
  entry(actor: string, source: string, at: number): Promise<ShownPayload>;
  /** Takes over a connection of an inspector that speaks Stately's protocol; absent of a recording. */
  readonly stately?: (request: IncomingMessage, connection: Duplex, head: Buffer) => void;
  close(): Promise<void>;
}
