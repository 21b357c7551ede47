/** Fills the ports of what a pod has on the host: its directories, volumes and cgroups. */

import type { Cri } from '../../cri/calls.ts';
import { allocatableOf, type NodeFacts } from '../../cri/nodeFacts.ts';
import type { PodCgroups } from '../../host/cgroup/podCgroups.ts';
import type { Layout } from '../../host/pods/layout.ts';
import { removeLogSymlinks } from '../../host/pods/logLinks.ts';
import { preparePodDirectory, removePodLogs } from '../../host/pods/podDirectory.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import type { Volume } from '../../pod/api/schema/volume.ts';
import { NodeFailure } from '../../pod/failure.ts';
import { removePodFiles } from '../../volume/orphans.ts';
import { pluginFor } from '../../volume/plugin.ts';
import { volumePlugins } from '../../volume/plugins.ts';
import { removeSubPaths } from '../../volume/subPaths.ts';
import type { Services } from '../boundary.ts';
import type { Clock } from '../clock.ts';
import type { Ownership } from '../store/ownership.ts';
import { requireImageVolumes } from './runtimeFeatures.ts';

type DiskServices = Pick<
  Services,
  'setUpCgroups' | 'preparePod' | 'prepareCgroup' | 'removeCgroup' | 'removePodData' | 'mountVolume' | 'unmountVolume'
>;

export interface DiskParts {
  readonly cri: Pick<Cri, 'version'>;
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly layout: Layout;
  readonly ownership: Ownership;
  /** Absent where pods have no cgroups of their own, or no containers. */
  readonly cgroups?: PodCgroups | undefined;
}

export function diskServices(parts: DiskParts): DiskServices {
  const inTurn = createTurns();
  /** What fills a port of a pod, in turn with the pod's others. */
  const turned =
    <Input extends { readonly pod: Pod }, Output>(
      call: (input: Input, signal: AbortSignal) => Promise<Output>,
    ): ((input: Input, options: { readonly signal: AbortSignal }) => Promise<Output>) =>
    (input, { signal }) =>
      inTurn(input.pod.metadata.uid, () => call(input, signal));
  const services = { ...podServices(parts), ...volumeServices(parts) };
  return {
    setUpCgroups: async () => (await parts.cgroups?.setUp()) ?? { outcome: 'unused', warnings: [] },
    prepareCgroup: turned(services.prepareCgroup),
    preparePod: turned(services.preparePod),
    removeCgroup: turned(services.removeCgroup),
    removePodData: turned(services.removePodData),
    mountVolume: turned(services.mountVolume),
    unmountVolume: turned(services.unmountVolume),
  };
}

type Input<Port extends keyof DiskServices> = Parameters<DiskServices[Port]>[0];

function podServices({ layout, ownership, cgroups }: DiskParts) {
  const { maker } = ownership;
  return {
    prepareCgroup: async ({ pod }: Input<'prepareCgroup'>) => {
      await cgroups?.prepare(pod);
      return null;
    },
    preparePod: async ({ pod, ran }: Input<'preparePod'>, signal: AbortSignal) => {
      signal.throwIfAborted();
      if (cgroups?.has(pod) && !(await isOurs(ownership, { pod, ran }))) throw foreignCgroup(pod);
      await ownership.claim(pod.metadata, ran);
      await preparePodDirectory({ pod, layout, signal });
      return null;
    },
    removeCgroup: async ({ pod, ran }: Input<'removeCgroup'>, signal: AbortSignal) => {
      if (await isOurs(ownership, { pod, ran })) await cgroups?.remove(pod, signal);
      return null;
    },
    removePodData: async ({ pod }: Input<'removePodData'>, signal: AbortSignal) => {
      const { uid } = pod.metadata;
      if (!(await ownership.owns(pod.metadata))) return null;
      // A pod that nobody wants any more is known by its directories alone: its volumes are found there. They go last,
      // for their mark is what tells that all the rest is ours.
      await removeLogSymlinks(layout, pod.metadata);
      await removePodLogs({ layout, maker, signal }, pod.metadata);
      await removePodFiles({ uid, layout, maker, plugins: volumePlugins, signal });
      ownership.forget(uid);
      return null;
    },
  };
}

function volumeServices({ cri, node, clock, layout, ownership }: DiskParts) {
  return {
    mountVolume: async ({ pod, volume: name }: Input<'mountVolume'>, signal: AbortSignal) => {
      const volume = volumeNamed(pod, name);
      if (volume.image !== undefined) {
        await requireImageVolumes(cri, name, { signal });
        return { hostPath: '' };
      }
      const given = { pod, volume, layout, allocatable: allocatableOf(node), now: clock.now() };
      return pluginFor(volumePlugins, volume).mount({ ...given, signal });
    },
    unmountVolume: async ({ pod, volume: name }: Input<'unmountVolume'>, signal: AbortSignal) => {
      const volume = volumeNamed(pod, name);
      if (!(await ownership.owns(pod.metadata))) return null;
      await removeSubPaths(layout, { podUid: pod.metadata.uid, volume: name }, signal);
      // A kind that no plugin stands for was never mounted.
      const plugin = volumePlugins.find((each) => each.supports(volume));
      await plugin?.unmount({ podUid: pod.metadata.uid, volumeName: name, layout, signal });
      return null;
    },
  };
}

/**
 * What is done to one pod's files is done one after the other, also when nobody waits for the first any more: a removal
 * must not be overtaken by what it is to remove.
 */
function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return <T>(uid: string, act: () => Promise<T>): Promise<T> => {
    const turn = (last.get(uid) ?? Promise.resolve()).then(act, act);
    last.set(uid, turn);
    const forget = () => {
      if (last.get(uid) === turn) last.delete(uid);
    };
    turn.then(forget, forget);
    return turn;
  };
}

/**
 * Whether the cgroup of this pod's name is one that this agent had made for it, or has adopted: the pod's directory is
 * made before it and removed after it, and who has a sandbox here has had one. Beside a sandbox of another agent it is not.
 */
export async function isOurs(
  ownership: Pick<Ownership, 'owns' | 'hasCgroupAlone'>,
  { pod, ran }: { readonly pod: Pod; readonly ran: readonly string[] },
): Promise<boolean> {
  if (!ownership.hasCgroupAlone(pod.metadata.uid)) return false;
  return ran.length > 0 || (await ownership.owns(pod.metadata));
}

/** In one that somebody else made nothing is started, for at the end of a pod all that is in its cgroup is killed. */
function foreignCgroup({ metadata: { uid } }: Pod): NodeFailure {
  const message = `there is a cgroup for a pod of the UID ${uid}, and this agent has not made it: does another agent run this pod?`;
  return new NodeFailure('FailedCreatePodContainer', message);
}

function volumeNamed(pod: Pod, name: string): Volume {
  const found = pod.spec.volumes?.find((volume) => volume.name === name);
  if (found !== undefined) return found;
  throw new NodeFailure('FailedMount', `the pod has no volume ${name}`);
}
