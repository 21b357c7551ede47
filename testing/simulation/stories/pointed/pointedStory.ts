/** The parts of stories that lead to situations which drawn stories rarely reach. */
import type { Fate, Room } from '../../run/outside.ts';
import { container, type Manifest, type ManifestContainer, type ManifestSpec, manifest } from '../manifests.ts';
import type { Deed, Moment, Story } from '../story.ts';
import type { Struck } from '../striking.ts';

/** A story without faults by number. */
export interface PointedStory extends Pick<Story, 'moments' | 'cgroups' | 'objects'> {
  readonly struck: readonly Struck[];
  readonly lastsMs: number;
  /** Absent: one. */
  readonly seed?: number;
  /** Whether it is told of a node of a cluster. */
  readonly inCluster?: boolean;
}

/** In milliseconds. */
export const SECOND = 1_000;
/** A script as a command. */
export const shell = (script: string) => ['sh', '-c', script];
/** Takes no notice of being told to end. */
export const STUBBORN = shell('trap "" TERM; sleep 1d');
/** The runtime has failed, and is there. */
export const UNKNOWN: Fate = { kind: 'fail', code: 'UNKNOWN' };
/** The runtime is not there. */
export const AWAY: Fate = { kind: 'fail', code: 'UNAVAILABLE' };
/** What it is on is broken. */
export const BROKEN: Fate = { kind: 'fail', code: 'EIO' };
/** It is done, so many seconds later. */
export const late = (seconds: number): Fate => ({ kind: 'late', ms: seconds * SECOND });

/** A pod that stays the same whatever is changed of it. */
export const same = (name: string, spec: Partial<ManifestSpec>, metadata: object = {}): Manifest => {
  const pod = manifest(name, spec);
  return { ...pod, metadata: { ...pod.metadata, uid: `uid-of-${name}`, ...metadata } };
};

/** The container that each pod has. */
export const main = (more: Partial<ManifestContainer> = {}) => container('main', more);
/** The same with so much CPU. */
export const sized = (cpu: string, more: Partial<ManifestContainer> = {}) =>
  main({ resources: { requests: { cpu }, limits: { cpu } }, ...more });

/** A manifest is put there after so many seconds. */
export const apply = (seconds: number, pod: Manifest): Moment => ({
  at: seconds * SECOND,
  deed: { kind: 'apply', pod },
});
/** Something happens after so many seconds. */
export const at = (seconds: number, deed: Deed): Moment => ({ at: seconds * SECOND, deed });
/** A manifest is taken away, by the name in it. */
export const remove = (seconds: number, name: string) => at(seconds, { kind: 'remove', pod: `default/${name}-node-1` });
/** The agent is killed, and started again later. */
export const killAgent = (seconds: number, downSeconds = 0) =>
  at(seconds, { kind: 'killAgent', downMs: downSeconds * SECOND });
/** The agent is to end its pods and itself. */
export const drain = (seconds: number) => at(seconds, { kind: 'stopAgent', drains: true, downMs: SECOND });
/** The runtime is away for a while. */
export const runtimeDown = (seconds: number, downSeconds: number, keepContainers = true) =>
  at(seconds, { kind: 'runtimeDown', downMs: downSeconds * SECOND, keepContainers });
/** All calls to a room fail for a while. */
export const flaky = (seconds: number, room: Room, forSeconds: number) =>
  at(seconds, { kind: 'flaky', room, share: 1, forMs: forSeconds * SECOND });
/** A call fails, or comes late. */
export const strike = (
  room: Room,
  name: string,
  fate: Fate,
  more: Partial<Struck> & { about?: string } = {},
): Struck => {
  const { about, ...rest } = more;
  return { call: { room, name, ...(about === undefined ? {} : { about }) }, fate, ...rest };
};
/** A story of a minute, or as long as is said. */
export const told = (
  moments: readonly Moment[],
  struck: readonly Struck[] = [],
  lastsMs = 60 * SECOND,
): PointedStory => ({
  moments,
  struck,
  lastsMs,
});

/** The seed of a host on which pods of other agents share the cgroups. */
export const SHARED_SEED = 2;

/** An image that has to be pulled. */
export const secondImage = { image: 'registry.local/pulled:1' };

/** A pod that wants most of the node, of a priority. */
export const greedy = (name: string, priority: number, more: Partial<ManifestSpec> = {}) =>
  manifest(name, { priority, containers: [main({ resources: { requests: { cpu: '40' } } })], ...more });
