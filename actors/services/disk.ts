/** Fills the ports of what a pod has on the host: its directories, volumes and cgroups. */
import { allocatableOf, type NodeFacts } from '../../cri/nodeFacts.ts';
import { cgroupParent } from '../../cri/sandboxConfig.ts';
import { NodeFailure } from '../../pod/failure.ts';
import type { Pod } from '../../pod/schema/pod.ts';
import type { Volume } from '../../pod/schema/volume.ts';
import { removeCgroupTree } from '../../volume/cgroups.ts';
import type { Layout } from '../../volume/layout.ts';
import { removeLogSymlinks } from '../../volume/logLinks.ts';
import { removeOrphan } from '../../volume/orphans.ts';
import { pluginFor } from '../../volume/plugin.ts';
import { volumePlugins } from '../../volume/plugins.ts';
import { preparePodDirectory, removePodLogs } from '../../volume/podDirectory.ts';
import { removeSubPaths } from '../../volume/subPaths.ts';
import type { Services } from '../boundary.ts';
import type { Clock } from '../clock.ts';
import { createAlarm } from '../feeds/alarm.ts';

type DiskServices = Pick<Services, 'preparePod' | 'removePodData' | 'mountVolume' | 'unmountVolume'>;

export function diskServices({ node, layout, clock }: { node: NodeFacts; layout: Layout; clock: Clock }): DiskServices {
  const inTurn = createTurns();
  const wait = (ms: number, signal: AbortSignal) => createAlarm(clock, signal).wait(clock.now() + ms);
  return {
    preparePod: ({ pod }, { signal }) =>
      inTurn(pod.metadata.uid, async () => {
        await preparePodDirectory({ pod, layout, signal });
        return null;
      }),
    removePodData: ({ pod }, { signal }) =>
      inTurn(pod.metadata.uid, async () => {
        const { uid } = pod.metadata;
        await Promise.all([
          // A pod that nobody wants any more is known by its directories alone: its volumes are found there.
          removeOrphan({ uid, layout, plugins: volumePlugins, signal }),
          removeLogSymlinks(layout, pod.metadata).then(() => removePodLogs(layout, pod.metadata, signal)),
          removeCgroupTree({ path: cgroupParent(pod, node), signal, wait }),
        ]);
        return null;
      }),
    mountVolume: ({ pod, volume: name }, { signal }) =>
      inTurn(pod.metadata.uid, () => {
        const volume = volumeNamed(pod, name);
        const given = { pod, volume, layout, allocatable: allocatableOf(node), now: clock.now() };
        return pluginFor(volumePlugins, volume).mount({ ...given, signal });
      }),
    unmountVolume: ({ pod, volume: name }, { signal }) =>
      inTurn(pod.metadata.uid, async () => {
        const volume = volumeNamed(pod, name);
        await removeSubPaths(layout, { podUid: pod.metadata.uid, volume: name }, signal);
        // A kind that no plugin stands for was never mounted.
        const plugin = volumePlugins.find((each) => each.supports(volume));
        await plugin?.unmount({ podUid: pod.metadata.uid, volumeName: name, layout, signal });
        return null;
      }),
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

function volumeNamed(pod: Pod, name: string): Volume {
  const found = pod.spec.volumes?.find((volume) => volume.name === name);
  if (found !== undefined) return found;
  throw new NodeFailure('FailedMount', `the pod has no volume ${name}`, { retryable: false });
}
