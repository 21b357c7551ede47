/** Makes ready what a container mounts of volumes, before it is made. */
import type { Cri } from '../../cri/calls.ts';
import type { ContainerConfigInput } from '../../cri/containerConfig.ts';
import { environmentOf } from '../../cri/environment.ts';
import { subPathsOf } from '../../cri/mounts.ts';
import { NodeFailure } from '../../pod/failure.ts';
import { messageOf } from '../../volume/fileErrors.ts';
import type { Layout } from '../../volume/layout.ts';
import { bindSubPath } from '../../volume/subPaths.ts';
import { recursiveReadOnly } from './runtimeFeatures.ts';

type Wanted = Pick<ContainerConfigInput, 'pod' | 'container' | 'volumes' | 'sandboxIps' | 'node'>;

/** Mounts the parts of volumes that it asks for at paths of its pod's own (C26); asks the runtime what mounts it can make. */
export async function prepareMounts(
  { cri, layout }: { readonly cri: Cri; readonly layout: Layout },
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Pick<ContainerConfigInput, 'subPaths' | 'recursiveReadOnlyMounts'>> {
  const { pod, container, sandboxIps, node } = wanted;
  const environment = environmentOf(pod, container, sandboxIps, node);
  const subPaths: Record<number, string> = {};
  for (const part of subPathsOf({ ...wanted, environment })) {
    const to = { layout, podUid: pod.metadata.uid, container: container.name, signal };
    subPaths[part.index] = await bindSubPath({ ...part, ...to }).catch((cause) => {
      signal.throwIfAborted();
      const what = `failed to prepare subPath for volumeMount "${part.volume}" of container "${container.name}"`;
      throw new NodeFailure('CreateContainerConfigError', `${what}: ${messageOf(cause)}`, { cause });
    });
  }
  return { subPaths, recursiveReadOnlyMounts: await recursiveReadOnly(cri, container, '', { signal }) };
}
