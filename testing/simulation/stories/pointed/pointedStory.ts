/** Building blocks of pointed stories. */
import type { CallFault, CallTarget } from '../../run/gate.ts';
import { container, type Manifest, type ManifestContainer, type ManifestSpec, manifest } from '../manifests.ts';
import type { Action, Story, TimedAction } from '../story.ts';
import type { TargetedFault } from '../variants/targetedFaults.ts';

/** A story whose faults are selected by the calls that they concern, not by the index of the call. */
export interface PointedStory
  extends Pick<Story, 'actions' | 'cgroups' | 'diskLayout' | 'evicts' | 'followsShutdown' | 'hasPlugin' | 'objects'> {
  readonly targetedFaults: readonly TargetedFault[];
  readonly lastsMs: number;
  /** Default: 1. */
  readonly seed?: number;
  /** Whether the node belongs to a cluster. */
  readonly inCluster?: boolean;
}

/** A second in milliseconds. */
export const SECOND = 1_000;
export const shell = (script: string) => ['sh', '-c', script];
/** Command that ignores SIGTERM. */
export const STUBBORN = shell('trap "" TERM; sleep 1d');
/** Fault of a call to the runtime that fails for an unknown reason. */
export const UNKNOWN: CallFault = { kind: 'fail', code: 'UNKNOWN' };
/** Fault of a call to a runtime that is unavailable. */
export const UNAVAILABLE: CallFault = { kind: 'fail', code: 'UNAVAILABLE' };
/** Fault of a call with an I/O error. */
export const BROKEN: CallFault = { kind: 'fail', code: 'EIO' };
/** Returns the fault of a call that takes effect `seconds` later. */
export const late = (seconds: number): CallFault => ({ kind: 'late', ms: seconds * SECOND });

/** Returns a pod with a fixed UID, so that it remains the same pod when its manifest changes. */
export const fixedPod = (name: string, spec: Partial<ManifestSpec>, metadata: object = {}): Manifest => {
  const pod = manifest(name, spec);
  return { ...pod, metadata: { ...pod.metadata, uid: `uid-of-${name}`, ...metadata } };
};

export const mainContainer = (more: Partial<ManifestContainer> = {}) => container('main', more);
/** Returns the container `main` with this CPU request and limit. */
export const sized = (cpu: string, more: Partial<ManifestContainer> = {}) =>
  mainContainer({ resources: { requests: { cpu }, limits: { cpu } }, ...more });

export const apply = (seconds: number, pod: Manifest): TimedAction => ({
  at: seconds * SECOND,
  action: { kind: 'apply', pod },
});
export const at = (seconds: number, action: Action): TimedAction => ({ at: seconds * SECOND, action });
/** Removes the manifest of a pod, given its name in the manifest. */
export const remove = (seconds: number, name: string) => at(seconds, { kind: 'remove', pod: `default/${name}-node-1` });
/** Kills the agent and starts a new one after `downSeconds`. */
export const killAgent = (seconds: number, downSeconds = 0) =>
  at(seconds, { kind: 'killAgent', downMs: downSeconds * SECOND });
/** Drains the node and stops the agent. */
export const drain = (seconds: number) => at(seconds, { kind: 'stopAgent', drains: true, downMs: SECOND });
/** Stops the runtime for `downSeconds`. */
export const runtimeDown = (seconds: number, downSeconds: number, keepContainers = true) =>
  at(seconds, { kind: 'runtimeDown', downMs: downSeconds * SECOND, keepContainers });
/** Makes all calls to a target fail for `forSeconds`. */
export const failCalls = (seconds: number, target: CallTarget, forSeconds: number) =>
  at(seconds, { kind: 'flaky', target, share: 1, forMs: forSeconds * SECOND });
/** Returns a fault of calls with this target and name. */
export const faultAt = (
  target: CallTarget,
  name: string,
  fault: CallFault,
  more: Partial<TargetedFault> & { about?: string } = {},
): TargetedFault => {
  const { about, ...rest } = more;
  return { call: { target, name, ...(about === undefined ? {} : { about }) }, fault, ...rest };
};
/** Returns a pointed story that lasts one minute by default. */
export const pointedStory = (
  actions: readonly TimedAction[],
  targetedFaults: readonly TargetedFault[] = [],
  lastsMs = 60 * SECOND,
): PointedStory => ({
  actions,
  targetedFaults,
  lastsMs,
});

/** Seed of a host on which the pods of other agents share the cgroups. */
export const SHARED_SEED = 2;

/** Image that has to be pulled. */
export const secondImage = { image: 'registry.local/pulled:1' };

/** Returns a pod that requests most of the node's CPUs. */
export const largePod = (name: string, priority: number, more: Partial<ManifestSpec> = {}) =>
  manifest(name, { priority, containers: [mainContainer({ resources: { requests: { cpu: '40' } } })], ...more });
