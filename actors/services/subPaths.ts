/** Makes ready what a container mounts of volumes, before it is made. */
import { NodeFailure } from '../../pod/failure.ts';
import { messageOf } from '../../volume/fileErrors.ts';
import type { Layout } from '../../volume/layout.ts';
import { bindSubPath, type SubPath } from '../../volume/subPaths.ts';

interface ForContainer {
  readonly layout: Layout;
  readonly podUid: string;
  readonly container: string;
  readonly signal: AbortSignal;
}

/** Mounts each part at a path of the pod's own (C26): gives the paths by the mounts' indices. */
export async function prepareSubPaths(parts: readonly SubPath[], to: ForContainer): Promise<Record<number, string>> {
  const paths: Record<number, string> = {};
  for (const part of parts) {
    paths[part.index] = await bindSubPath({ ...part, ...to }).catch((cause) => {
      to.signal.throwIfAborted();
      const what = `failed to prepare subPath for volumeMount "${part.volume}" of container "${to.container}"`;
      throw new NodeFailure('CreateContainerConfigError', `${what}: ${messageOf(cause)}`, { cause });
    });
  }
  return paths;
}
