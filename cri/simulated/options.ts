import type { TimerClock } from '../../base/time/clock.ts';
import type { ExecScript } from './calls/exec.ts';
import type { ImagesOption } from './calls/images.ts';
import type { BehaviourSource } from './commands/behaviour.ts';
import type { LoggedCall } from './faults/callNames.ts';
import type { LatencyOption } from './faults/latency.ts';
import type { RuntimeEffect } from './objects/views.ts';
import type { ServeStream, SimulatedPorts } from './streams/streams.ts';

/** Features that only some runtimes support. */
export interface RuntimeFeatures {
  readonly userNamespaces?: boolean;
  readonly supplementalGroupsPolicy?: boolean;
}

export interface SimulatedRuntimeOptions {
  readonly clock: TimerClock;
  /** Durations of calls. Defaults to the durations of containerd. */
  readonly latency?: LatencyOption;
  readonly images?: ImagesOption;
  /** Behaviours of containers by image name. */
  readonly behaviours?: Readonly<Record<string, BehaviourSource>>;
  readonly exec?: ExecScript;
  /** Serves exec, attach and port-forward (see `serveSimulatedStreams`). If undefined, these calls are refused. */
  readonly streams?: ServeStream;
  /** Returns a function that connects to a port of the pod. If undefined, no port is open. */
  readonly ports?: (pod: { readonly podUid: string }) => SimulatedPorts['dial'];
  /** Returns random numbers in [0, 1), from which IDs are derived. Defaults to a fixed sequence. */
  readonly random?: () => number;
  /** Whether stopping a missing object fails with NOT_FOUND, as in containerd up to 1.6. Later versions succeed. */
  readonly absentStopsFail?: boolean;
  /** Name and version that the runtime reports. Defaults to those of the simulated runtime. */
  readonly version?: { readonly runtimeName: string; readonly runtimeVersion: string };
  /** Optional features. Defaults to none. */
  readonly features?: RuntimeFeatures;
  /** Runtime handlers in addition to the default one. If undefined, any name is accepted. */
  readonly handlers?: readonly string[];
  /** Number of pod IP addresses that can be in use. Defaults to 65,000. */
  readonly addresses?: number;
  /**
   * Returns the additional IP addresses for a pod with this IPv4 address. If undefined, pods have only the IPv4
   * address.
   */
  readonly additionalIps?: (ip: string) => readonly string[];
  /** Whether `calls` records every received call. Defaults to true. Long runs disable it in order to save memory. */
  readonly logCalls?: boolean;
  /** Called before each call is executed. */
  readonly onCall?: (call: LoggedCall) => void;
  /**
   * Called immediately on each change to a container or sandbox, regardless of when the corresponding event is
   * delivered.
   */
  readonly onEffect?: (effect: RuntimeEffect) => void;
}
