/** Prepares the volume mounts and environment files of a container before its creation. */

import { messageOf, NodeFailure } from '../../../base/failure.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import type { ContainerConfigInput } from '../../../cri/config/containerConfig.ts';
import { buildEnvironment, type EnvironmentInput, listEnvFiles } from '../../../cri/config/environment.ts';
import { listSubPaths, type SubPathRequest } from '../../../cri/config/mounts.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import type { Mounter } from '../../../volume/mount/mounter.ts';
import { type FindRuntimeHandler, resolveRuntimeHandler } from '../sandboxes/runtimeClasses.ts';
import { supportsRecursiveReadOnly } from '../sandboxes/runtimeFeatures.ts';

const CONFIG_ERROR = 'CreateContainerConfigError';
/** Maximum size of an environment file in bytes. It is limited because the variables become part of a CRI request. */
const MAX_ENV_FILE_BYTES = 64 * 1024;

interface MountDependencies {
  readonly cri: Cri;
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly findHandler: FindRuntimeHandler;
}

type MountInput = Pick<ContainerConfigInput, 'volumes'> & Omit<EnvironmentInput, 'envFiles'>;

/**
 * Resolves the container's environment, mounts its subPaths below the pod's directory (C26), and checks whether the
 * runtime supports recursive read-only mounts. The subPaths depend on the environment.
 */
export async function prepareMounts(
  dependencies: MountDependencies,
  input: MountInput,
  signal: AbortSignal,
): Promise<Pick<ContainerConfigInput, 'subPaths' | 'environment' | 'recursiveReadOnlyMounts'>> {
  const { pod, container } = input;
  const { cri, mounter, findHandler } = dependencies;
  const envFiles = await readEnvFiles(input, mounter, signal);
  const environment = buildEnvironment({ ...input, envFiles });
  const subPaths = await bindSubPaths(
    listSubPaths({ ...input, environment }),
    { ...dependencies, pod, container },
    signal,
  );
  const handler = () => resolveRuntimeHandler(pod.spec, findHandler);
  return {
    subPaths,
    environment,
    recursiveReadOnlyMounts: await supportsRecursiveReadOnly(cri, container, handler, { signal }),
  };
}

/** Mounts subPaths and returns their targets by the index of the volume mount. */
async function bindSubPaths(
  subPathRequests: readonly SubPathRequest[],
  {
    layout,
    mounter,
    pod,
    container,
  }: Pick<MountInput, 'pod' | 'container'> & Pick<MountDependencies, 'layout' | 'mounter'>,
  signal: AbortSignal,
): Promise<Record<number, string>> {
  const mountTasks = subPathRequests.map(({ volume, index, subPath, ...source }) => {
    const target = layout.subPathDir(pod.metadata.uid, volume, container.name, index);
    return { ...source, kind: 'bind' as const, subPath, target };
  });
  const subPathFailure = (volume: string | undefined, message: string, cause?: unknown) => {
    const errorPrefix = `failed to prepare subPath for volumeMount "${volume}" of container "${container.name}"`;
    return new NodeFailure(CONFIG_ERROR, `${errorPrefix}: ${message}`, { cause });
  };
  const mountResults = await mounter.runTasks(mountTasks, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw subPathFailure(subPathRequests[0]?.volume, messageOf(cause), cause);
  });
  for (const [position, { failure }] of mountResults.entries())
    if (failure !== undefined) throw subPathFailure(subPathRequests[position]?.volume, failure);
  return Object.fromEntries(subPathRequests.map(({ index }, position) => [index, mountTasks[position]?.target ?? '']));
}

/** Reads the existing files that define environment variables (C21). */
async function readEnvFiles(
  { container, volumes }: MountInput,
  mounter: Mounter,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const envFileRequests = listEnvFiles(container);
  const readTasks = envFileRequests.map(({ volume, path }) => {
    const mountedVolume = lookUp(volumes, volume);
    if (mountedVolume?.kind === 'path') {
      return { ...mountedVolume, kind: 'read' as const, path, maxBytes: MAX_ENV_FILE_BYTES };
    }
    throw new NodeFailure(CONFIG_ERROR, `cannot find the volume "${volume}" referenced by FileKeyRef`);
  });
  const envFileFailure = (message: string, cause?: unknown) =>
    new NodeFailure(CONFIG_ERROR, `couldn't parse env file: ${message}`, { cause });
  const results = await mounter.runTasks(readTasks, signal).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw envFileFailure(messageOf(cause), cause);
  });
  const files = new Map<string, string>();
  for (const [position, { volume, path }] of envFileRequests.entries()) {
    const { failure, text } = results[position] ?? {};
    if (failure !== undefined) throw envFileFailure(failure);
    if (text !== undefined) files.set(`${volume}/${path}`, text);
  }
  return files;
}
