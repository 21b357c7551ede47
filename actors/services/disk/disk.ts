/** Fills the ports of what a pod has on the host: its directories, volumes and cgroups. */

import type { Clock } from '../../../base/clock.ts';
import { goDuration } from '../../../base/duration.ts';
import { type FailureReason, NodeFailure } from '../../../base/failure.ts';
import { unlessAborted } from '../../../base/unlessAborted.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { allocatableOf, type NodeDescription } from '../../../cri/nodeDescription.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import { removeLogSymlinks } from '../../../host/pods/logLinks.ts';
import { preparePodDirectory, removePodLogs } from '../../../host/pods/podDirectory.ts';
import { hasOwnLogs } from '../../../host/pods/takePodDirectory.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import type { ObjectsInUse } from '../../../kubernetes/objects/podObjects.ts';
import type { Mounter } from '../../../volume/mount/mounter.ts';
import { removeSubPaths } from '../../../volume/mount/subPaths.ts';
import { removePodFiles } from '../../../volume/orphans.ts';
import type { ClusterContent } from '../../../volume/plugins/plugin.ts';
import { pluginFor } from '../../../volume/plugins/plugin.ts';
import { volumePlugins } from '../../../volume/plugins/plugins.ts';
import type { Services } from '../../boundary.ts';
import type { PodContent } from '../../objects/podContent.ts';
import type { Ownership } from '../../store/ownership.ts';
import type { ContainerObjects } from '../containers/containerObjects.ts';
import { createPodSerializer } from '../sandboxes/podSerializer.ts';
import { withTimeout } from '../withTimeout.ts';
import { isSafeToKill } from './ownCgroup.ts';
import { UnusedCgroups } from './unusedCgroups.ts';

type DiskServices = Pick<
  Services,
  'setUpCgroups' | 'preparePod' | 'prepareCgroup' | 'removeCgroup' | 'removePodData' | 'mountVolume' | 'unmountVolume'
>;

export interface DiskParts extends ClusterContent {
  readonly cri: Pick<Cri, 'listPodSandbox'>;
  readonly node: () => NodeDescription;
  readonly clock: Clock;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly ownership: Ownership;
  readonly variableObjects: Pick<ContainerObjects, 'forget'>;
  /** Absent where pods have no cgroups of their own, or no containers. */
  readonly cgroups?: Cgroups | undefined;
  /** Absent where pods can name none. */
  readonly inUse?: Pick<ObjectsInUse, 'follow' | 'release'> | undefined;
  readonly heldForPods?: PodContent['heldForPods'] | undefined;
}

export function diskServices(parts: DiskParts): DiskServices {
  const inTurn = createPodSerializer();
  const { mountVolume, unmountVolume, ...ofPod } = { ...podServices(parts), ...volumeServices(parts) };
  /** What fills a port of a whole pod. */
  const whole =
    <Input extends { readonly pod: Pod }, Output>(call: Call<Input, Output>): Filled<Input, Output> =>
    (input, { signal }) =>
      inTurn({ uid: input.pod.metadata.uid }, () => call(input, signal));
  /** What fills a port of one volume, within its limit. Of what is given up but does not end the volume keeps its turn. */
  const ofVolume =
    <Input extends VolumeInput, Output>(reason: FailureReason, call: Call<Input, Output>): Filled<Input, Output> =>
    (input, { signal }) => {
      const { pod, volume, limitMs } = input;
      const act = async (within: AbortSignal) => {
        const turn = inTurn({ uid: pod.metadata.uid, volume }, () => call(input, within));
        return unlessAborted(turn, within).catch((cause: unknown) => {
          if (!within.aborted || signal.aborted) throw cause;
          throw new NodeFailure(reason, `timed out after ${goDuration(limitMs)}`, { cause });
        });
      };
      return withTimeout(act, { clock: parts.clock, timeoutMs: limitMs, signal });
    };
  return {
    setUpCgroups: async () => (await parts.cgroups?.setUp()) ?? { outcome: 'unused', warnings: [] },
    prepareCgroup: whole(ofPod.prepareCgroup),
    preparePod: whole(ofPod.preparePod),
    removeCgroup: whole(ofPod.removeCgroup),
    removePodData: whole(ofPod.removePodData),
    mountVolume: ofVolume('FailedMount', mountVolume),
    unmountVolume: ofVolume('FailedUnmount', unmountVolume),
  };
}

type Call<Input, Output> = (input: Input, signal: AbortSignal) => Promise<Output>;
type Filled<Input, Output> = (input: Input, options: { readonly signal: AbortSignal }) => Promise<Output>;
type VolumeInput = Input<'mountVolume'>;
type Input<Port extends keyof DiskServices> = Parameters<DiskServices[Port]>[0];

function podServices(parts: DiskParts) {
  const { cri, layout, ownership, cgroups, inUse, variableObjects, heldForPods = [] } = parts;
  const unused = new UnusedCgroups(parts);
  return {
    prepareCgroup: async ({ pod }: Input<'prepareCgroup'>) => {
      await cgroups?.prepare(pod);
      return null;
    },
    preparePod: async ({ pod, ran }: Input<'preparePod'>, signal: AbortSignal) => {
      signal.throwIfAborted();
      // What it names is read while its directory and cgroup are made.
      inUse?.follow(pod);
      if (!(await unused.mayHave({ pod, ran }, { signal }))) throw foreignCgroup(pod);
      await ownership.take(pod.metadata, ran);
      await preparePodDirectory({ pod, layout, signal });
      return null;
    },
    removeCgroup: async ({ pod, ran }: Input<'removeCgroup'>, signal: AbortSignal) => {
      if (await isSafeToKill({ cri, ownership, cgroups }, { pod, ran }, { signal })) await cgroups?.remove(pod, signal);
      else await cgroups?.forget(pod.metadata.uid);
      return null;
    },
    removePodData: async ({ pod, keepsLogs = false }: Input<'removePodData'>, signal: AbortSignal) => {
      const { uid } = pod.metadata;
      for (const each of [unused, variableObjects, ...heldForPods]) each.forget(uid);
      inUse?.release(uid);
      await removePodData(parts, { pod, keepsLogs }, signal);
      return null;
    },
  };
}

async function removePodData(
  { layout, mounter, ownership }: Pick<DiskParts, 'layout' | 'mounter' | 'ownership'>,
  { pod: { metadata }, keepsLogs }: { readonly pod: Pod; readonly keepsLogs: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { maker } = ownership;
  const { uid } = metadata;
  const isOurs = await ownership.owns(metadata);
  // After a power cut there may be logs without a pod directory.
  if (!isOurs && !hasOwnLogs({ layout, maker, pod: metadata })) return;
  // A pod that nobody wants any more is known by its directories alone: its volumes are found there. They go last,
  // for their mark is what tells that all the rest is ours.
  await removeLogSymlinks(layout, metadata);
  if (!keepsLogs) await removePodLogs({ layout, maker, signal }, metadata);
  if (!isOurs) return;
  await removePodFiles({ uid, layout, mounter, maker, plugins: volumePlugins, signal });
  ownership.forget(uid);
}

function volumeServices({ node, clock, layout, mounter, ownership, ...content }: DiskParts) {
  return {
    mountVolume: async ({ pod, volume: name }: Input<'mountVolume'>, signal: AbortSignal) => {
      const volume = volumeNamed(pod, name);
      // The runtime mounts the image when it creates a container.
      if (volume.image !== undefined) return null;
      const { objects, tokens, trustBundles } = content;
      const given = { pod, volume, layout, mounter, allocatable: allocatableOf(node()), now: clock.now() };
      return pluginFor(volumePlugins, volume).mount({ ...given, objects, tokens, trustBundles, signal });
    },
    unmountVolume: async ({ pod, volume: name }: Input<'unmountVolume'>, signal: AbortSignal) => {
      const volume = volumeNamed(pod, name);
      if (!(await ownership.owns(pod.metadata))) return null;
      await removeSubPaths({ layout, mounter, signal }, { podUid: pod.metadata.uid, volume: name });
      // A kind that no plugin stands for was never mounted.
      const plugin = volumePlugins.find((each) => each.supports(volume));
      await plugin?.unmount({ podUid: pod.metadata.uid, volumeName: name, layout, mounter, signal });
      return null;
    },
  };
}

/** In one that somebody else made nothing is started, for at the end of a pod all that is in its cgroup is killed. */
function foreignCgroup({ metadata: { uid } }: Pod): NodeFailure {
  const message = `a cgroup for the pod UID ${uid} exists that this agent did not create: is another agent running this pod?`;
  return new NodeFailure('FailedCreatePodContainer', message);
}

function volumeNamed(pod: Pod, name: string): Volume {
  const found = pod.spec.volumes?.find((volume) => volume.name === name);
  if (found !== undefined) return found;
  throw new NodeFailure('FailedMount', `the pod has no volume ${name}`);
}
