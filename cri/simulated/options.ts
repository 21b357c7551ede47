import type { BehaviourSource } from './behaviour.ts';
import type { LoggedCall } from './callNames.ts';
import type { Clock } from './clock.ts';
import type { ExecScript } from './exec.ts';
import type { ImagesOption } from './images.ts';
import type { LatencyOption } from './latency.ts';
import type { ServeStream, SimulatedPorts } from './streams.ts';
import type { RuntimeEffect } from './views.ts';

/** What only some runtimes can do. */
export interface RuntimeCan {
  readonly userNamespaces?: boolean;
  readonly supplementalGroupsPolicy?: boolean;
}

/** What a simulated runtime is made of. */
export interface SimulatedRuntimeOptions {
  readonly clock: Clock;
  /** As a real containerd's when absent. */
  readonly latency?: LatencyOption;
  readonly images?: ImagesOption;
  /** By image name. */
  readonly behaviours?: Readonly<Record<string, BehaviourSource>>;
  readonly exec?: ExecScript;
  /** Serves exec, attach and port-forward (`serveSimulatedStreams`); absent: they are refused. */
  readonly streams?: ServeStream;
  /** The ports of a pod that somebody listens at; absent: none. */
  readonly ports?: (pod: { readonly podUid: string }) => SimulatedPorts['dial'];
  /** Numbers in [0, 1) that ids are made of; the same ones every time when absent. */
  readonly random?: () => number;
  /** Whether stopping what does not exist fails with NOT_FOUND, as containerd up to 1.6 does; later ones succeed. */
  readonly absentStopsFail?: boolean;
  /** Name and version that the runtime reports; its own if undefined. */
  readonly version?: { readonly runtimeName: string; readonly runtimeVersion: string };
  /** What it can do that only some runtimes can: nothing when absent. */
  readonly features?: RuntimeCan;
  /** The runtime handlers that it has beside the default one; absent: any name will do. */
  readonly handlers?: readonly string[];
  /** How many pods can have an address at a time; 65,000 when absent. */
  readonly addresses?: number;
  /** The further addresses of a pod that has an IPv4 address; absent: pods have that address alone. */
  readonly additionalIps?: (ip: string) => readonly string[];
  /** Whether `calls` keeps every call that arrives; true when absent. A long run does without. */
  readonly logCalls?: boolean;
  /** Hears of each call before anything is done about it. */
  readonly onCall?: (call: LoggedCall) => void;
  /** Hears of each change to containers and sandboxes at the moment it happens, whatever becomes of its event. */
  readonly onEffect?: (effect: RuntimeEffect) => void;
}
