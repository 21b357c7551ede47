/** Implements the ports of a pod's directories, volumes and cgroups on the host. */

import { unlessAborted } from '../../../base/async/unlessAborted.ts';
import { type FailureReason, NodeFailure } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { goDuration } from '../../../base/time/duration.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { type NodeDescription, toAllocatableResources } from '../../../cri/nodeDescription.ts';
import type { Cgroups } from '../../../host/cgroup/cgroups.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import { removeLogSymlinks } from '../../../host/pods/logLinks.ts';
import { preparePodDirectory, removePodLogs } from '../../../host/pods/podDirectory.ts';
import { hasOwnLogs } from '../../../host/pods/takePodDirectory.ts';
import { findVolumeByName } from '../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import type { ObjectsInUse } from '../../../kubernetes/objects/podObjects.ts';
import type { Mounter } from '../../../volume/mount/mounter.ts';
import { removeSubPaths } from '../../../volume/mount/removeSubPaths.ts';
import type { ClusterContent } from '../../../volume/plugins/plugin.ts';
import { findPlugin } from '../../../volume/plugins/plugin.ts';
import { volumePlugins } from '../../../volume/plugins/plugins.ts';
import { removePodFiles } from '../../../volume/removePodFiles.ts';
import type { PortServices } from '../../boundary.ts';
import type { PodContent } from '../../objects/podContent.ts';
import type { Ownership } from '../../store/ownership.ts';
import type { ContainerObjects } from '../containers/containerObjects.ts';
import { createPodSerializer } from '../sandboxes/podSerializer.ts';
import { withTimeout } from '../withTimeout.ts';
import { isSafeToKill } from './ownCgroup.ts';
import { UnusedCgroups } from './unusedCgroups.ts';

type DiskServices = Pick<
  PortServices,
  'setUpCgroups' | 'preparePod' | 'prepareCgroup' | 'removeCgroup' | 'removePodData' | 'mountVolume' | 'unmountVolume'
>;

export interface DiskServiceDependencies extends ClusterContent {
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

export function diskServices(dependencies: DiskServiceDependencies): DiskServices {
  const serialize = createPodSerializer();
  const { mountVolume, unmountVolume, ...podPorts } = { ...podServices(dependencies), ...volumeServices(dependencies) };
  /** Wraps a port call that concerns a whole pod, so that it does not overlap with other calls for the pod. */
  const wrapPodCall =
    <Input extends { readonly pod: Pod }, Output>(call: DiskCall<Input, Output>): PortCall<Input, Output> =>
    (input, { signal }) =>
      serialize({ uid: input.pod.metadata.uid }, () => call(input, signal));
  /**
   * Wraps a port call that concerns one volume. Runs the calls for a volume sequentially and enforces the call's time
   * limit. A call that continues after its timeout still blocks later calls for the same volume.
   */
  const wrapVolumeCall =
    <Input extends VolumeInput, Output>(
      reason: FailureReason,
      call: DiskCall<Input, Output>,
    ): PortCall<Input, Output> =>
    (input, { signal }) => {
      const { pod, volume, limitMs } = input;
      const act = async (within: AbortSignal) => {
        const queuedCall = serialize({ uid: pod.metadata.uid, volume }, () => call(input, within));
        return unlessAborted(queuedCall, within).catch((cause: unknown) => {
          if (!within.aborted || signal.aborted) throw cause;
          throw new NodeFailure(reason, `timed out after ${goDuration(limitMs)}`, { cause });
        });
      };
      return withTimeout(act, { clock: dependencies.clock, timeoutMs: limitMs, signal });
    };
  return {
    setUpCgroups: async () => (await dependencies.cgroups?.setUp()) ?? { outcome: 'unused', warnings: [] },
    prepareCgroup: wrapPodCall(podPorts.prepareCgroup),
    preparePod: wrapPodCall(podPorts.preparePod),
    removeCgroup: wrapPodCall(podPorts.removeCgroup),
    removePodData: wrapPodCall(podPorts.removePodData),
    mountVolume: wrapVolumeCall('FailedMount', mountVolume),
    unmountVolume: wrapVolumeCall('FailedUnmount', unmountVolume),
  };
}

type DiskCall<Input, Output> = (input: Input, signal: AbortSignal) => Promise<Output>;
type PortCall<Input, Output> = (input: Input, options: { readonly signal: AbortSignal }) => Promise<Output>;
type VolumeInput = PortInput<'mountVolume'>;
type PortInput<Port extends keyof DiskServices> = Parameters<DiskServices[Port]>[0];

function podServices(dependencies: DiskServiceDependencies) {
  const { cri, layout, ownership, cgroups, inUse, variableObjects, podCaches = [] } = dependencies;
  const unusedCgroups = new UnusedCgroups(dependencies);
  return {
    prepareCgroup: async ({ pod }: PortInput<'prepareCgroup'>) => {
      await cgroups?.prepare(pod);
      return null;
    },
    preparePod: async ({ pod, ran }: PortInput<'preparePod'>, signal: AbortSignal) => {
      signal.throwIfAborted();
      // Start reading the referenced objects now, while the directory and cgroup are created.
      inUse?.follow(pod);
      if (!(await unusedCgroups.mayUse({ pod, ran }, { signal }))) throw createForeignCgroupFailure(pod);
      await ownership.take(pod.metadata, ran);
      await preparePodDirectory({ pod, layout, signal });
      return null;
    },
    removeCgroup: async ({ pod, ran }: PortInput<'removeCgroup'>, signal: AbortSignal) => {
      if (await isSafeToKill({ cri, ownership, cgroups }, { pod, ran }, { signal })) await cgroups?.remove(pod, signal);
      else await cgroups?.forget(pod.metadata.uid);
      return null;
    },
    removePodData: async ({ pod, keepsLogs = false }: PortInput<'removePodData'>, signal: AbortSignal) => {
      const { uid } = pod.metadata;
      for (const each of [unusedCgroups, variableObjects, ...podCaches]) each.forget(uid);
      inUse?.release(uid);
      await removePodData(dependencies, { pod, keepsLogs }, signal);
      return null;
    },
  };
}

async function removePodData(
  { layout, mounter, ownership }: Pick<DiskServiceDependencies, 'layout' | 'mounter' | 'ownership'>,
  { pod: { metadata }, keepsLogs }: { readonly pod: Pod; readonly keepsLogs: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { ownMark } = ownership;
  const { uid } = metadata;
  const isOwnPod = await ownership.owns(metadata);
  // Check the logs as well, because after a power failure a pod may have logs but no directory.
  if (!isOwnPod && !hasOwnLogs({ layout, maker: ownMark, pod: metadata })) return;
  // The directories of a pod that no source lists are the only record of the pod and its volumes. Remove them last,
  // because the owner mark in them proves that the pod's other files are ours.
  await removeLogSymlinks(layout, metadata);
  if (!keepsLogs) await removePodLogs({ layout, maker: ownMark, signal }, metadata);
  if (!isOwnPod) return;
  await removePodFiles({ uid, layout, mounter, ownMark, plugins: volumePlugins, signal });
  ownership.forgetPod(uid);
}

function volumeServices({ node, clock, layout, mounter, ownership, ...content }: DiskServiceDependencies) {
  return {
    mountVolume: async ({ pod, volume: name }: PortInput<'mountVolume'>, signal: AbortSignal) => {
      const volume = findVolume(pod, name);
      // An image volume needs no mount here, because the runtime mounts the image when it creates a container.
      if (volume.image !== undefined) return null;
      const { objects, tokens, trustBundles } = content;
      const mountInput = {
        pod,
        volume,
        layout,
        mounter,
        allocatable: toAllocatableResources(node()),
        tmpfsNoswap: node().tmpfsNoswap ?? false,
        now: clock.now(),
      };
      return findPlugin(volumePlugins, volume).mount({ ...mountInput, objects, tokens, trustBundles, signal });
    },
    unmountVolume: async ({ pod, volume: name }: PortInput<'unmountVolume'>, signal: AbortSignal) => {
      const volume = findVolume(pod, name);
      if (!(await ownership.owns(pod.metadata))) return null;
      await removeSubPaths({ layout, mounter, signal }, { podUid: pod.metadata.uid, volume: name });
      // A volume without a plugin was never mounted, so it need not be unmounted.
      const plugin = volumePlugins.find((each) => each.supportsVolume(volume));
      await plugin?.unmount({ podUid: pod.metadata.uid, volumeName: name, layout, mounter, signal });
      return null;
    },
  };
}

/**
 * Returns the failure for a pod whose cgroup is foreign. The pod must not start in it, because terminating the pod
 * kills all processes in its cgroup.
 */
function createForeignCgroupFailure({ metadata: { uid } }: Pod): NodeFailure {
  const message = `a cgroup for the pod UID ${uid} exists that this agent did not create: is another agent running this pod?`;
  return new NodeFailure('FailedCreatePodContainer', message);
}

function findVolume(pod: Pod, name: string): Volume {
  const matchingVolume = findVolumeByName(pod.spec, name);
  if (matchingVolume !== undefined) return matchingVolume;
  throw new NodeFailure('FailedMount', `the pod has no volume ${name}`);
}
