/** Building blocks of pointed stories. */
import type { CallFault, CallTarget } from '../../run/gate.ts';
import { container, type Manifest, type ManifestContainer, type ManifestSpec, manifest } from '../manifests.ts';
import type { Action, Story, TimedAction } from '../story.ts';
import type { TargetedFault } from '../variants/targetedFaults.ts';

/** A story whose faults are selected by the calls they concern, not by index. */
export interface PointedStory
  extends Pick<Story, 'actions' | 'cgroups' | 'diskLayout' | 'evicts' | 'followsShutdown' | 'hasPlugin' | 'objects'> {
  readonly targetedFaults: readonly TargetedFault[];
  readonly lastsMs: number;
  /** Default: 1. */
  readonly seed?: number;
  /** Whether the node belongs to a cluster. */
  readonly inCluster?: boolean;
}

/** Milliseconds. */
export const SECOND = 1_000;
export const shell = (script: string) => ['sh', '-c', script];
/** A command that ignores SIGTERM. */
export const STUBBORN = shell('trap "" TERM; sleep 1d');
/** A failure of the runtime itself. */
export const UNKNOWN: CallFault = { kind: 'fail', code: 'UNKNOWN' };
/** The runtime is unavailable. */
export const UNAVAILABLE: CallFault = { kind: 'fail', code: 'UNAVAILABLE' };
/** An I/O error. */
export const BROKEN: CallFault = { kind: 'fail', code: 'EIO' };
/** The call takes effect `seconds` later. */
export const late = (seconds: number): CallFault => ({ kind: 'late', ms: seconds * SECOND });

/** Returns a pod with a fixed UID, so that it remains the same pod when its manifest changes. */
export const fixedPod = (name: string, spec: Partial<ManifestSpec>, metadata: object = {}): Manifest => {
  const pod = manifest(name, spec);
  return { ...pod, metadata: { ...pod.metadata, uid: `uid-of-${name}`, ...metadata } };
};

export const mainContainer = (more: Partial<ManifestContainer> = {}) => container('main', more);
/** The container `main` with this CPU request and limit. */
export const sized = (cpu: string, more: Partial<ManifestContainer> = {}) =>
  mainContainer({ resources: { requests: { cpu }, limits: { cpu } }, ...more });

export const apply = (seconds: number, pod: Manifest): TimedAction => ({
  at: seconds * SECOND,
  action: { kind: 'apply', pod },
});
export const at = (seconds: number, action: Action): TimedAction => ({ at: seconds * SECOND, action });
/** Removes a manifest by the name in it. */
export const remove = (seconds: number, name: string) => at(seconds, { kind: 'remove', pod: `default/${name}-node-1` });
/** Kills the agent and starts it again after `downSeconds`. */
export const killAgent = (seconds: number, downSeconds = 0) =>
  at(seconds, { kind: 'killAgent', downMs: downSeconds * SECOND });
/** Drains the node and stops the agent. */
export const drain = (seconds: number) => at(seconds, { kind: 'stopAgent', drains: true, downMs: SECOND });
/** Stops the runtime for `downSeconds`. */
export const runtimeDown = (seconds: number, downSeconds: number, keepContainers = true) =>
  at(seconds, { kind: 'runtimeDown', downMs: downSeconds * SECOND, keepContainers });
/** Makes all calls to a room fail for `forSeconds`. */
export const failCalls = (seconds: number, target: CallTarget, forSeconds: number) =>
  at(seconds, { kind: 'flaky', target, share: 1, forMs: forSeconds * SECOND });
/** A fault at the calls with this name. */
export const faultAt = (
  target: CallTarget,
  name: string,
  fault: CallFault,
  more: Partial<TargetedFault> & { about?: string } = {},
): TargetedFault => {
  const { about, ...rest } = more;
  return { call: { target, name, ...(about === undefined ? {} : { about }) }, fault, ...rest };
};
/** A pointed story, by default of one minute. */
export const pointedStory = (
  actions: readonly TimedAction[],
  targetedFaults: readonly TargetedFault[] = [],
  lastsMs = 60 * SECOND,
): PointedStory => ({
  actions,
  targetedFaults,
  lastsMs,
});

/** The seed of a host on which the pods of other agents share the cgroups. */
export const SHARED_SEED = 2;

/** An image that has to be pulled. */
export const secondImage = { image: 'registry.local/pulled:1' };

/** A pod that requests most of the node. */
export const largePod = (name: string, priority: number, more: Partial<ManifestSpec> = {}) =>
  manifest(name, { priority, containers: [mainContainer({ resources: { requests: { cpu: '40' } } })], ...more });
