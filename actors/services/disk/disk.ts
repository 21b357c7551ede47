/** Implements the ports of a pod's directories, volumes and cgroups on the host. */

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
  /** Undefined if the agent does not manage pod cgroups, e.g. with a simulated runtime. */
  readonly cgroups?: Cgroups | undefined;
  /** Undefined if pods cannot reference any objects. */
  readonly inUse?: Pick<ObjectsInUse, 'follow' | 'release'> | undefined;
  readonly podCaches?: PodContent['podCaches'] | undefined;
}

export function diskServices(parts: DiskParts): DiskServices {
  const serialize = createPodSerializer();
  const { mountVolume, unmountVolume, ...podPorts } = { ...podServices(parts), ...volumeServices(parts) };
  /** Wraps a port call that concerns the whole pod. */
  const podPort =
    <Input extends { readonly pod: Pod }, Output>(call: Call<Input, Output>): PortCall<Input, Output> =>
    (input, { signal }) =>
      serialize({ uid: input.pod.metadata.uid }, () => call(input, signal));
  /**
   * Wraps a port call that concerns one volume, with its time limit. A call that times out but continues still blocks
   * later calls for its volume.
   */
  const volumePort =
    <Input extends VolumeInput, Output>(reason: FailureReason, call: Call<Input, Output>): PortCall<Input, Output> =>
    (input, { signal }) => {
      const { pod, volume, limitMs } = input;
      const act = async (within: AbortSignal) => {
        const turn = serialize({ uid: pod.metadata.uid, volume }, () => call(input, within));
        return unlessAborted(turn, within).catch((cause: unknown) => {
          if (!within.aborted || signal.aborted) throw cause;
          throw new NodeFailure(reason, `timed out after ${goDuration(limitMs)}`, { cause });
        });
      };
      return withTimeout(act, { clock: parts.clock, timeoutMs: limitMs, signal });
    };
  return {
    setUpCgroups: async () => (await parts.cgroups?.setUp()) ?? { outcome: 'unused', warnings: [] },
    prepareCgroup: podPort(podPorts.prepareCgroup),
    preparePod: podPort(podPorts.preparePod),
    removeCgroup: podPort(podPorts.removeCgroup),
    removePodData: podPort(podPorts.removePodData),
    mountVolume: volumePort('FailedMount', mountVolume),
    unmountVolume: volumePort('FailedUnmount', unmountVolume),
  };
}

type Call<Input, Output> = (input: Input, signal: AbortSignal) => Promise<Output>;
type PortCall<Input, Output> = (input: Input, options: { readonly signal: AbortSignal }) => Promise<Output>;
type VolumeInput = Input<'mountVolume'>;
type Input<Port extends keyof DiskServices> = Parameters<DiskServices[Port]>[0];

function podServices(parts: DiskParts) {
  const { cri, layout, ownership, cgroups, inUse, variableObjects, podCaches = [] } = parts;
  const unusedCgroups = new UnusedCgroups(parts);
  return {
    prepareCgroup: async ({ pod }: Input<'prepareCgroup'>) => {
      await cgroups?.prepare(pod);
      return null;
    },
    preparePod: async ({ pod, ran }: Input<'preparePod'>, signal: AbortSignal) => {
      signal.throwIfAborted();
      // Start reading the referenced objects now, while the directory and cgroup are created.
      inUse?.follow(pod);
      if (!(await unusedCgroups.mayUse({ pod, ran }, { signal }))) throw foreignCgroup(pod);
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
      for (const each of [unusedCgroups, variableObjects, ...podCaches]) each.forget(uid);
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
  // After a power failure there may be logs without a pod directory.
  if (!isOurs && !hasOwnLogs({ layout, maker, pod: metadata })) return;
  // An unwanted pod is only known by its directories, which also name its volumes. The directories are removed last,
  // because the owner mark in the directory proves that everything else is ours.
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
      const mountInput = { pod, volume, layout, mounter, allocatable: allocatableOf(node()), now: clock.now() };
      return pluginFor(volumePlugins, volume).mount({ ...mountInput, objects, tokens, trustBundles, signal });
    },
    unmountVolume: async ({ pod, volume: name }: Input<'unmountVolume'>, signal: AbortSignal) => {
      const volume = volumeNamed(pod, name);
      if (!(await ownership.owns(pod.metadata))) return null;
      await removeSubPaths({ layout, mounter, signal }, { podUid: pod.metadata.uid, volume: name });
      // A volume without a plugin was never mounted.
      const plugin = volumePlugins.find((each) => each.supports(volume));
      await plugin?.unmount({ podUid: pod.metadata.uid, volumeName: name, layout, mounter, signal });
      return null;
    },
  };
}

/**
 * Returns the failure for a pod whose cgroup is foreign. The pod must not start in it, because terminating the pod
 * kills all processes in its cgroup.
 */
function foreignCgroup({ metadata: { uid } }: Pod): NodeFailure {
  const message = `a cgroup for the pod UID ${uid} exists that this agent did not create: is another agent running this pod?`;
  return new NodeFailure('FailedCreatePodContainer', message);
}

function volumeNamed(pod: Pod, name: string): Volume {
  const match = pod.spec.volumes?.find((volume) => volume.name === name);
  if (match !== undefined) return match;
  throw new NodeFailure('FailedMount', `the pod has no volume ${name}`);
}
