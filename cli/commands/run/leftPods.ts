/** What `statelet down` learns of the pods of an agent that is gone, from their directories alone. */

import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { createLayout } from '../../../host/pods/layout.ts';
import { listPodDirectories } from '../../../host/pods/podDirectory.ts';
import { type Maker, readMaker } from '../../../host/pods/podMark.ts';
import { type ForeignPod, UNKNOWN_NAMESPACE } from '../../../kubernetes/lifecycle/observed.ts';
import type { stateLayout } from '../../../node/host/paths.ts';
import { hostMounter } from '../../../volume/mount/hostMounter.ts';
import { removePodFiles } from '../../../volume/orphans.ts';
import { volumePlugins } from '../../../volume/plugins/plugins.ts';

type Places = ReturnType<typeof stateLayout>;

interface LeftDirectory {
  readonly uid: string;
  readonly directory: string;
  /** Undefined of a directory that no agent over this root has made. */
  readonly maker: Maker | undefined;
}

const layoutOf = ({ rootDirectory, podLogsDirectory }: Places) =>
  createLayout({ rootDir: rootDirectory, podLogsDir: podLogsDirectory });

/** The directories of pods below a root directory. */
export async function leftDirectories(places: Places): Promise<readonly LeftDirectory[]> {
  const layout = layoutOf(places);
  return (await listPodDirectories(layout)).map((uid) => {
    const directory = layout.podDir(uid);
    return { uid, directory, maker: readMaker(layout.files, directory, places.rootDirectory) };
  });
}

/**
 * Unmounts and removes what is on disk of pods none of whose processes runs any more; gives those of other agents, which
 * stay. What cannot be removed hinders nothing else, and is told in the end.
 */
export async function removeLeft(places: Places, signal: AbortSignal): Promise<readonly ForeignPod[]> {
  const layout = layoutOf(places);
  const left = await leftDirectories(places);
  const failures: string[] = [];
  for (const { uid, maker } of left) {
    if (maker === undefined) continue;
    await removePodFiles({ uid, layout, mounter: hostMounter, maker, plugins: volumePlugins, signal }).catch(
      (error: unknown) => void failures.push(messageOf(error)),
    );
  }
  if (failures.length > 0) throw new NodeFailure('LeftBehind', failures.join('\n'));
  const why = "it does not have this agent's mark";
  return left.flatMap(({ uid, directory, maker }) =>
    maker ? [] : [{ uid, namespace: UNKNOWN_NAMESPACE, name: uid, directory, sandboxes: [], why }],
  );
}
