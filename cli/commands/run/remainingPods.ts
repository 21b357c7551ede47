/** Finds and removes the pods that a stopped agent left on disk, for `statelet down`. */

import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { createLayout } from '../../../host/pods/layout.ts';
import { listPodDirectories } from '../../../host/pods/podDirectory.ts';
import { type Maker, readMarkingAgent } from '../../../host/pods/podMark.ts';
import { type ForeignPod, UNKNOWN_NAMESPACE } from '../../../kubernetes/lifecycle/observed.ts';
import type { stateLayout } from '../../../node/host/paths.ts';
import { hostMounter } from '../../../volume/mount/hostMounter.ts';
import { volumePlugins } from '../../../volume/plugins/plugins.ts';
import { removePodFiles } from '../../../volume/removePodFiles.ts';

type StateLayout = ReturnType<typeof stateLayout>;

interface RemainingPod {
  readonly uid: string;
  readonly directory: string;
  /**
   * The agent that created the directory. Undefined if the directory was not created by an agent with this root
   * directory.
   */
  readonly creator: Maker | undefined;
}

const layoutOf = ({ rootDirectory, podLogsDirectory }: StateLayout) =>
  createLayout({ rootDir: rootDirectory, podLogsDir: podLogsDirectory });

export async function listRemainingPods(stateDirectories: StateLayout): Promise<readonly RemainingPod[]> {
  const layout = layoutOf(stateDirectories);
  return (await listPodDirectories(layout)).map((uid) => {
    const directory = layout.podDir(uid);
    return { uid, directory, creator: readMarkingAgent(layout.files, directory, stateDirectories.rootDirectory) };
  });
}

/**
 * Unmounts and removes the files of pods whose processes have exited. Returns the pods of other agents, which are left
 * alone. Failures do not stop the removal of other pods, and are thrown together at the end.
 */
export async function removeRemainingPods(
  stateDirectories: StateLayout,
  signal: AbortSignal,
): Promise<readonly ForeignPod[]> {
  const layout = layoutOf(stateDirectories);
  const remainingPods = await listRemainingPods(stateDirectories);
  const failures: string[] = [];
  for (const { uid, creator: ownMark } of remainingPods) {
    if (ownMark === undefined) continue;
    await removePodFiles({ uid, layout, mounter: hostMounter, ownMark, plugins: volumePlugins, signal }).catch(
      (error: unknown) => void failures.push(messageOf(error)),
    );
  }
  if (failures.length > 0) throw new NodeFailure('LeftBehind', failures.join('\n'));
  const why = "it does not have this agent's mark";
  return remainingPods.flatMap(({ uid, directory, creator }) =>
    creator ? [] : [{ uid, namespace: UNKNOWN_NAMESPACE, name: uid, directory, sandboxes: [], why }],
  );
}
