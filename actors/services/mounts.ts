/** Makes ready what a container needs of volumes, before it is made. */
import type { Cri } from '../../cri/calls.ts';
import type { ContainerConfigInput } from '../../cri/containerConfig.ts';
import { envFilesOf, environmentOf } from '../../cri/environment.ts';
import { subPathsOf } from '../../cri/mounts.ts';
import { messageOf } from '../../host/files/fileErrors.ts';
import { readInside } from '../../host/files/safeOpen.ts';
import type { Layout } from '../../host/pods/layout.ts';
import { NodeFailure } from '../../pod/failure.ts';
import { lookUp } from '../../pod/lookUp.ts';
import { bindSubPath } from '../../volume/subPaths.ts';
import { type FindRuntimeHandler, runtimeHandlerOf } from './runtimeClasses.ts';
import { recursiveReadOnly } from './runtimeFeatures.ts';

const CONFIG_ERROR = 'CreateContainerConfigError';
/** What is read of it is sent to the runtime: in bytes. */
const LARGEST_ENV_FILE = 64 * 1024;

interface MountParts {
  readonly cri: Cri;
  readonly layout: Layout;
  readonly findHandler: FindRuntimeHandler;
}

type Wanted = Pick<ContainerConfigInput, 'pod' | 'container' | 'volumes' | 'sandboxIps' | 'node'>;

/** Mounts the parts of volumes that it asks for at paths of its pod's own (C26); asks the runtime what mounts it can make. */
export async function prepareMounts(
  { cri, layout, findHandler }: MountParts,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Pick<ContainerConfigInput, 'subPaths' | 'envFiles' | 'recursiveReadOnlyMounts'>> {
  const { pod, container } = wanted;
  const envFiles = await readEnvFiles(wanted);
  const environment = environmentOf({ ...wanted, envFiles });
  const subPaths: Record<number, string> = {};
  for (const part of subPathsOf({ ...wanted, environment })) {
    const to = { layout, podUid: pod.metadata.uid, container: container.name, signal };
    subPaths[part.index] = await bindSubPath({ ...part, ...to }).catch((cause) => {
      signal.throwIfAborted();
      const what = `failed to prepare subPath for volumeMount "${part.volume}" of container "${container.name}"`;
      throw new NodeFailure(CONFIG_ERROR, `${what}: ${messageOf(cause)}`, { cause });
    });
  }
  const handler = () => runtimeHandlerOf(pod.spec, findHandler);
  return { subPaths, envFiles, recursiveReadOnlyMounts: await recursiveReadOnly(cri, container, handler, { signal }) };
}

/** Reads the files that variables are taken from (C21), those that are there. */
async function readEnvFiles({ container, volumes }: Wanted): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const { volume, path } of envFilesOf(container)) {
    const hostPath = lookUp(volumes, volume);
    if (!hostPath) throw new NodeFailure(CONFIG_ERROR, `cannot find the volume "${volume}" referenced by FileKeyRef`);
    const text = await readInside(hostPath, path, LARGEST_ENV_FILE).catch((cause) => {
      throw new NodeFailure(CONFIG_ERROR, `couldn't parse env file: ${messageOf(cause)}`, { cause });
    });
    if (text !== undefined) files.set(`${volume}/${path}`, text);
  }
  return files;
}
