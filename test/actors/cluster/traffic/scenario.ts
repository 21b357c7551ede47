/** The recorded scenarios, as they are played. */
import type { SimulatedServer } from '../../../../actors/simulated/connection.ts';
import type { Cluster } from '../../../fakes/cluster.ts';
import type { SimulatedNode, SimulatedNodeOptions } from '../../../fakes/node.ts';
import type { Sent } from './account.ts';
import type { NodeSent } from './nodeAccount.ts';
import type { SentRequest } from './recording.ts';

/** The image of all containers. */
export const IMAGE = 'statelet.local/busybox:1';

/** What a user, or the world, does at a moment of the recording, in milliseconds. */
export type Act = readonly [ms: number, act: (hands: Hands) => unknown];

/** What is played. */
export interface Played {
  /** That of the recording: `16-evict`. */
  readonly name: string;
  /** What happens. */
  readonly title: string;
  /** Those of its pods. */
  readonly namespaces: readonly string[];
  readonly runtime?: SimulatedNodeOptions['runtime'];
  /** What fails on the node in the course of it. */
  readonly fails?: RegExp;
  /** Who listens in a pod, at a moment of the recording. */
  readonly serverAt?: (port: number, ms: number) => SimulatedServer | undefined;
  readonly acts: readonly Act[];
  /** When it is over; what the node does until `settledMs` counts as well, as it looks for files less often. */
  readonly untilMs: number;
  readonly settledMs?: number;
  /** When the node starts, where that is part of it. */
  readonly startsMs?: number;
  /** Whether it has no certificate yet, and asks for one as a bootstrapper. */
  readonly bootstraps?: boolean;
  /** Whether it has all that the node sends, not only what is about its namespaces. */
  readonly isWhole?: boolean;
}

/** Of which what is about pods is compared. */
export interface Scenario extends Played {
  /** How much the node sends. */
  readonly sends: Sent;
}

/** Of which what is about the node itself is compared. */
export interface NodeScenario extends Played {
  readonly sendsOfNode: NodeSent;
  /** When it was recorded, from and until; all the time where it does not say. */
  readonly windows?: readonly (readonly [from: number, until: number])[];
}

export interface Hands {
  readonly node: SimulatedNode;
  readonly cluster: Cluster;
  readonly ask: Cluster['ask'];
  /** Makes a pod, `namespace/name`; the scheduler binds it to the node unless its spec names that. */
  create(pod: string, spec: object, metadata?: object): Promise<void>;
  remove(pod: string, body?: object): Promise<void>;
  path(pod: string): string;
  /** Writes the manifest of a static pod; without one it goes. */
  manifest(name: string, pod?: object): Promise<void>;
  /** The agent is gone at once. */
  kill(): void;
  /** Another agent takes its place. */
  start(): Promise<void>;
  /** What a container writes to the file for its last words. */
  sayAtEnd(pod: string, container: string, words: string): Promise<void>;
}

/** Of a recording of some namespaces only their own requests are compared. */
export const isOf = (
  { namespaces, untilMs, settledMs = untilMs, isWhole = false }: Played,
  { ms, path }: SentRequest,
): boolean => ms <= settledMs && (isWhole || namespaces.some((name) => path.startsWith(`/api/v1/namespaces/${name}/`)));

/** What of it was sent each time that it was recorded. */
export const inWindows = (
  { windows, untilMs }: NodeScenario,
  requests: readonly SentRequest[],
): readonly (readonly SentRequest[])[] =>
  (windows ?? [[0, untilMs]]).map(([from, until]) => requests.filter(({ ms }) => ms >= from && ms <= until));
