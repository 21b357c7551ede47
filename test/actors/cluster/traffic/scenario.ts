/** A scenario that has been recorded with the kubelet, and is played on the node. */
import type { SimulatedServer } from '../../../../actors/simulated/connection.ts';
import type { Cluster } from '../../../fakes/cluster.ts';
import type { SimulatedNode, SimulatedNodeOptions } from '../../../fakes/node.ts';
import type { Sent } from './account.ts';
import type { NodeSent } from './nodeAccount.ts';
import type { SentRequest } from './recording.ts';

/** The image of all containers. */
export const IMAGE = 'statelet.local/busybox:1';

/** An action of a user or of the environment, at a time of the recording in milliseconds. */
export type Act = readonly [ms: number, act: (hands: Hands) => unknown];

/** A scenario that can be played. */
export interface Played {
  /** The name of the recording, e.g. `16-evict`. */
  readonly name: string;
  /** A description of what happens. */
  readonly title: string;
  /** The namespaces of its pods. */
  readonly namespaces: readonly string[];
  readonly runtime?: SimulatedNodeOptions['runtime'];
  /** The errors of the node that the scenario causes. */
  readonly fails?: RegExp;
  /** Returns the server that listens on a port of a pod at a time of the recording. */
  readonly serverAt?: (port: number, ms: number) => SimulatedServer | undefined;
  readonly acts: readonly Act[];
  /**
   * The end of the scenario. Requests until `settledMs` count as well, because the node checks files less often than
   * the kubelet.
   */
  readonly untilMs: number;
  readonly settledMs?: number;
  /** The start of the node, if it is part of the scenario. */
  readonly startsMs?: number;
  /** Whether the node starts without a certificate, and requests one as a bootstrapper. */
  readonly bootstraps?: boolean;
  /** Whether all requests of the node count, and not only those about its namespaces. */
  readonly isWhole?: boolean;
}

/** A scenario whose requests about pods are compared. */
export interface Scenario extends Played {
  /** The number of requests of the node. */
  readonly sends: Sent;
}

/** A scenario whose requests about the node itself are compared. */
export interface NodeScenario extends Played {
  readonly sendsOfNode: NodeSent;
  /** The recorded time ranges in milliseconds. Default: the whole scenario. */
  readonly windows?: readonly (readonly [from: number, until: number])[];
}

export interface Hands {
  readonly node: SimulatedNode;
  readonly cluster: Cluster;
  readonly ask: Cluster['ask'];
  /** Creates a pod `namespace/name`, and binds it to the node unless its spec names a node. */
  create(pod: string, spec: object, metadata?: object): Promise<void>;
  remove(pod: string, body?: object): Promise<void>;
  path(pod: string): string;
  /** Writes the manifest of a static pod, or removes it if there is no pod. */
  manifest(name: string, pod?: object): Promise<void>;
  /** Kills the agent. */
  kill(): void;
  /** Starts another agent. */
  start(): Promise<void>;
  /** Writes the termination message of a container to its file. */
  sayAtEnd(pod: string, container: string, words: string): Promise<void>;
}

/** Whether a request is part of a scenario. In a recording of some namespaces, only the requests about them are. */
export const isOf = (
  { namespaces, untilMs, settledMs = untilMs, isWhole = false }: Played,
  { ms, path }: SentRequest,
): boolean => ms <= settledMs && (isWhole || namespaces.some((name) => path.startsWith(`/api/v1/namespaces/${name}/`)));

/** Returns the requests in each recorded window of a scenario. */
export const inWindows = (
  { windows, untilMs }: NodeScenario,
  requests: readonly SentRequest[],
): readonly (readonly SentRequest[])[] =>
  (windows ?? [[0, untilMs]]).map(([from, until]) => requests.filter(({ ms }) => ms >= from && ms <= until));
