/** Checks of the mounts and devices of a container (`ValidateVolumeMounts` and `ValidateVolumeDevices` of `core/validation`). */
import type { Problem } from '../problem.ts';
import type { Container, VolumeMount } from '../schema/container.ts';
import type { Volume } from '../schema/volume.ts';
import { forbidden, invalid, noBacksteps, notFound, oneOf, pathInVolume, required } from './words.ts';

/** The volumes of a pod that are valid, by name: a mount of another one is reported, too. */
export type ValidVolumes = ReadonlyMap<string, Volume>;

/** Checks that each mount names a volume and has a path of its own. */
export function validateMounts(container: Container, volumes: ValidVolumes, path: string): Problem[] {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const deviceNames = new Set(volumeDevices.map(({ name }) => name));
  const devicePaths = new Set(volumeDevices.map(({ devicePath }) => devicePath));
  const mountPaths = new Set<string>();
  return volumeMounts.flatMap((mount, index) => {
    const { name, mountPath } = mount;
    const at = `${path}[${index}]`;
    const isRepeated = mountPaths.has(mountPath);
    mountPaths.add(mountPath);
    return [
      ...(name === '' ? [required(`${at}.name`)] : []),
      ...(volumes.has(name) ? [] : [notFound(`${at}.name`, name)]),
      ...(mountPath === '' ? [required(`${at}.mountPath`)] : []),
      ...(isRepeated ? [invalid(`${at}.mountPath`, mountPath, 'must be unique')] : []),
      ...(deviceNames.has(name) ? [invalid(`${at}.name`, name, 'must not already exist in volumeDevices')] : []),
      ...(devicePaths.has(mountPath)
        ? [invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices')]
        : []),
      ...validateSubPaths(mount, path, at),
      ...validatePropagation(mount, container, `${path}.mountPropagation`),
      ...validateRecursiveReadOnly(mount, `${path}.recursiveReadOnly`),
    ];
  });
}

/** Kubernetes reports a wrong path without the index of its mount. */
function validateSubPaths({ subPath = '', subPathExpr = '' }: VolumeMount, path: string, at: string): Problem[] {
  const isBoth = subPath !== '' && subPathExpr !== '';
  return [
    ...(subPath === '' ? [] : pathInVolume(`${path}.subPath`, subPath)),
    ...(isBoth ? [invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive')] : []),
    ...(subPathExpr === '' ? [] : pathInVolume(`${path}.subPathExpr`, subPathExpr)),
  ];
}

function validatePropagation(
  { mountPropagation }: VolumeMount,
  { securityContext }: Container,
  path: string,
): Problem[] {
  const isForbidden = mountPropagation === 'Bidirectional' && securityContext?.privileged !== true;
  const why = 'Bidirectional mount propagation is available only to privileged containers';
  return [
    ...oneOf(path, mountPropagation, ['Bidirectional', 'HostToContainer', 'None']),
    ...(isForbidden ? [forbidden(path, why)] : []),
  ];
}

function validateRecursiveReadOnly(mount: VolumeMount, path: string): Problem[] {
  const { recursiveReadOnly, readOnly, mountPropagation = 'None' } = mount;
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible')
    return oneOf(path, recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible']);
  return [
    ...(readOnly ? [] : [forbidden(path, 'may only be specified when readOnly is true')]),
    ...(mountPropagation === 'None'
      ? []
      : [forbidden(path, 'may only be specified when mountPropagation is None or not specified')]),
  ];
}

/** Checks that each device names a claim and has a path of its own. */
export function validateDevices(
  { volumeMounts = [], volumeDevices = [] }: Container,
  volumes: ValidVolumes,
  path: string,
): Problem[] {
  const mountNames = new Set(volumeMounts.map(({ name }) => name));
  const mountPaths = new Set(volumeMounts.map(({ mountPath }) => mountPath));
  const names = new Set<string>();
  const paths = new Set<string>();
  return volumeDevices.flatMap(({ name, devicePath }, index) => {
    const at = `${path}[${index}]`;
    const [isRepeated, isPathRepeated] = [names.has(name), paths.has(devicePath)];
    const isUpwards = noBacksteps('', devicePath).length > 0;
    if (name !== '') names.add(name);
    if (!isUpwards) paths.add(devicePath);
    const volume = volumes.get(name);
    const isClaim = volume?.persistentVolumeClaim !== undefined || volume?.ephemeral !== undefined;
    const rule = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
    return [
      ...(name === '' ? [required(`${at}.name`)] : []),
      ...(isRepeated ? [invalid(`${at}.name`, name, 'must be unique')] : []),
      ...(volume !== undefined && !isClaim ? [invalid(`${at}.name`, name, rule)] : []),
      ...(volume === undefined ? [notFound(`${at}.name`, name)] : []),
      ...(devicePath === '' ? [required(`${at}.devicePath`)] : []),
      ...(isPathRepeated ? [invalid(`${at}.devicePath`, devicePath, 'must be unique')] : []),
      ...(isUpwards ? [invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')")] : []),
      ...(mountNames.has(name) ? [invalid(`${at}.name`, name, 'must not already exist in volumeMounts')] : []),
      ...(mountPaths.has(devicePath)
        ? [invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts')]
        : []),
    ];
  });
}
