/** Makes ready what a container needs of volumes, before it is made. */

import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { lookUp } from '../../../base/lookUp.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import type { ContainerConfigInput } from '../../../cri/config/containerConfig.ts';
import { envFilesOf, environmentOf } from '../../../cri/config/environment.ts';
import { type SubPathRequest, subPathsOf } from '../../../cri/config/mounts.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import type { Mounter } from '../../../volume/mount/mounter.ts';
import { type FindRuntimeHandler, runtimeHandlerOf } from '../sandboxes/runtimeClasses.ts';
import { supportsRecursiveReadOnly } from '../sandboxes/runtimeFeatures.ts';

const CONFIG_ERROR = 'CreateContainerConfigError';
/** What is read of it is sent to the runtime: in bytes. */
const LARGEST_ENV_FILE = 64 * 1024;

interface MountParts {
  readonly cri: Cri;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly findHandler: FindRuntimeHandler;
}

type Wanted = Pick<
  ContainerConfigInput,
  'pod' | 'container' | 'volumes' | 'sandboxIps' | 'services' | 'objects' | 'node'
>;

/** Mounts the parts of volumes that it asks for at paths of its pod's own (C26); asks the runtime what mounts it can make. */
export async function prepareMounts(
  parts: MountParts,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Pick<ContainerConfigInput, 'subPaths' | 'envFiles' | 'recursiveReadOnlyMounts'>> {
  const { pod, container } = wanted;
  const { cri, mounter, findHandler } = parts;
  const envFiles = await readEnvFiles(wanted, mounter, signal);
  const environment = environmentOf({ ...wanted, envFiles });
  const subPaths = await bindSubPaths(subPathsOf({ ...wanted, environment }), { ...parts, pod, container }, signal);
  const handler = () => runtimeHandlerOf(pod.spec, findHandler);
  return {
    subPaths,
    envFiles,
    recursiveReadOnlyMounts: await supportsRecursiveReadOnly(cri, container, handler, { signal }),
  };
}

/** Mounts parts of volumes; gives where, by the index of the mount. */
async function bindSubPaths(
  parts: readonly SubPathRequest[],
  { layout, mounter, pod, container }: Pick<Wanted, 'pod' | 'container'> & Pick<MountParts, 'layout' | 'mounter'>,
  signal: AbortSignal,
): Promise<Record<number, string>> {
  const tasks = parts.map(({ volume, index, subPath, ...place }) => {
    const target = layout.subPathDir(pod.metadata.uid, volume, container.name, index);
    return { ...place, kind: 'bind' as const, subPath, target };
  });
  const refuse = (volume: string | undefined, message: string, cause?: unknown) => {
    const what = `failed to prepare subPath for volumeMount "${volume}" of container "${container.name}"`;
    return new NodeFailure(CONFIG_ERROR, `${what}: ${message}`, { cause });
  };
  const answers = await mounter.inVolumes(tasks, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw refuse(parts[0]?.volume, messageOf(cause), cause);
  });
  for (const [at, { failure }] of answers.entries())
    if (failure !== undefined) throw refuse(parts[at]?.volume, failure);
  return Object.fromEntries(parts.map(({ index }, at) => [index, tasks[at]?.target ?? '']));
}

/** Reads the files that variables are taken from (C21), those that are there. */
async function readEnvFiles(
  { container, volumes }: Wanted,
  mounter: Mounter,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const wanted = envFilesOf(container);
  const tasks = wanted.map(({ volume, path }) => {
    const mounted = lookUp(volumes, volume);
    if (mounted?.kind === 'path') {
      return { ...mounted, kind: 'read' as const, path, largest: LARGEST_ENV_FILE };
    }
    throw new NodeFailure(CONFIG_ERROR, `cannot find the volume "${volume}" referenced by FileKeyRef`);
  });
  const unreadable = (message: string, cause?: unknown) =>
    new NodeFailure(CONFIG_ERROR, `couldn't parse env file: ${message}`, { cause });
  const answers = await mounter.inVolumes(tasks, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw unreadable(messageOf(cause), cause);
  });
  const files = new Map<string, string>();
  for (const [at, { volume, path }] of wanted.entries()) {
    const { failure, text } = answers[at] ?? {};
    if (failure !== undefined) throw unreadable(failure);
    if (text !== undefined) files.set(`${volume}/${path}`, text);
  }
  return files;
}
