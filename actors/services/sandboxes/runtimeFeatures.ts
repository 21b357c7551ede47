/** Checks optional features of the runtime, which are queried only when a pod needs one. */

import { NodeFailure } from '../../../base/failure.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import type { VersionResponse } from '../../../cri/generated/runtime.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { MountedVolumes } from '../../../kubernetes/mountedVolume.ts';

type FirstVersions = Readonly<Record<string, readonly [major: number, minor: number]>>;

/** First version of each runtime that mounts images. A runtime that is not listed is assumed to mount them. */
const IMAGE_VOLUME_VERSIONS: FirstVersions = { containerd: [2, 1], 'cri-o': [1, 31] };

/**
 * First version of each runtime that mounts a subPath of an image. An older runtime ignores the field and mounts the
 * whole image. `test/e2e_node/image_volume.go` requires containerd 2.2. The CRI has had the field since 1.33, and
 * CRI-O's versions match those of the CRI.
 */
const IMAGE_SUB_PATH_VERSIONS: FirstVersions = { containerd: [2, 2], 'cri-o': [1, 33] };

/**
 * Fails with `CreateContainerError` if the container mounts an image and the runtime is known not to support this,
 * because the runtime would create the container without the image. Called after the pull so that a failed pull is
 * reported first, as in the kubelet (C16).
 */
export async function requireImageVolumes(
  cri: Pick<Cri, 'version'>,
  { volumeMounts = [] }: Pick<Container, 'volumeMounts'>,
  volumes: MountedVolumes,
  options: CallOptions,
): Promise<void> {
  const imageMounts = volumeMounts.filter(({ name }) => lookUp(volumes, name)?.kind === 'image');
  if (imageMounts.length === 0) return;
  const version = await cri.version({ version: '' }, options);
  for (const { name, subPath = '', subPathExpr = '' } of imageMounts) {
    requireVersion(
      version,
      IMAGE_VOLUME_VERSIONS,
      `ImageVolumeMountFailed: volume "${name}": the runtime has no image volumes`,
    );
    const usesSubPath = subPath !== '' || subPathExpr !== '';
    const missingSubPath = `ImageVolumeMountFailed: volume "${name}": the runtime has no subPath of images`;
    if (usesSubPath) requireVersion(version, IMAGE_SUB_PATH_VERSIONS, missingSubPath);
  }
}

/**
 * First version of each runtime that supports `stopSignal`. The CRI has had this field since 1.33, the version that
 * also added image subPaths.
 */
const STOP_SIGNAL_VERSIONS = IMAGE_SUB_PATH_VERSIONS;

/** Fails with `CreateContainerError` if the container sets a `stopSignal` that the runtime is known to ignore. */
export async function requireStopSignal(
  cri: Pick<Cri, 'version'>,
  { lifecycle }: Pick<Container, 'lifecycle'>,
  options: CallOptions,
): Promise<void> {
  const { stopSignal } = lifecycle ?? {};
  if (stopSignal === undefined) return;
  const version = await cri.version({ version: '' }, options);
  requireVersion(version, STOP_SIGNAL_VERSIONS, `stopSignal ${stopSignal}: the runtime cannot set it`);
}

function requireVersion(
  { runtimeName, runtimeVersion }: Pick<VersionResponse, 'runtimeName' | 'runtimeVersion'>,
  firstVersions: FirstVersions,
  missingFeature: string,
): void {
  const [major, minor] = lookUp(firstVersions, runtimeName) ?? [0, 0];
  const [hasMajor = 0, hasMinor = 0] = runtimeVersion.replace(/^v/, '').split('.').map(Number);
  if (hasMajor > major || (hasMajor === major && hasMinor >= minor)) return;
  const message = `${missingFeature} (${runtimeName} ${runtimeVersion}; available from ${runtimeName} ${major}.${minor})`;
  throw new NodeFailure('CreateContainerError', message);
}

/**
 * Whether the runtime supports recursive read-only mounts. Queries the runtime only if the container requests such a
 * mount.
 */
export async function supportsRecursiveReadOnly(
  cri: Cri,
  container: Container,
  readHandler: () => Promise<string>,
  options: CallOptions,
): Promise<boolean> {
  const requestsRecursiveReadOnly = (container.volumeMounts ?? []).some(
    ({ recursiveReadOnly: mode = 'Disabled' }) => mode !== 'Disabled',
  );
  if (!requestsRecursiveReadOnly) return false;
  const handler = await readHandler();
  const { runtimeHandlers } = await cri.status({ verbose: false }, options);
  const matchingHandler = runtimeHandlers.find(({ name }) => name === handler);
  return matchingHandler?.features?.recursiveReadOnlyMounts ?? false;
}

/**
 * Fails if the runtime does not support user namespaces, because the pod would otherwise run in the host's user
 * namespace and have more privileges than intended.
 */
export async function requireUserNamespaces(cri: Pick<Cri, 'status'>, handler: string, options: CallOptions) {
  const { runtimeHandlers } = await cri.status({ verbose: false }, options);
  if (runtimeHandlers.find(({ name }) => name === handler)?.features?.userNamespaces) return;
  const runtimeDescription = handler === '' ? 'runtime' : `RuntimeClass handler "${handler}"`;
  const message = `can't set \`spec.hostUsers: false\`, ${runtimeDescription} does not support user namespaces`;
  throw new NodeFailure('FailedCreatePodSandBox', `Failed to create pod sandbox: ${message}`);
}
