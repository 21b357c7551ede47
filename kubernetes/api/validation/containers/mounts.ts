/**
 * Validates the mounts and block devices of a container (`ValidateVolumeMounts` and `ValidateVolumeDevices` of
 * `core/validation`).
 */
import type { Problem } from '../../problem.ts';
import type { Container, VolumeMount } from '../../schema/container.ts';
import type { Volume } from '../../schema/volume.ts';
import {
  forbidden,
  invalid,
  notFound,
  required,
  validateNoBacksteps,
  validateOneOf,
  validatePathInVolume,
} from '../words.ts';

/** The valid volumes of a pod by name. Invalid volumes are not included, so their mounts are reported as well. */
export type ValidVolumes = ReadonlyMap<string, Volume>;

/** Checks that each mount references a volume and that mount paths are unique. */
export function validateMounts(container: Container, volumes: ValidVolumes, path: string): Problem[] {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const deviceNames = new Set(volumeDevices.map(({ name }) => name));
  const devicePaths = new Set(volumeDevices.map(({ devicePath }) => devicePath));
  const mountPaths = new Set<string>();
  return volumeMounts.flatMap((mount, index) => {
    const { name, mountPath } = mount;
    const itemPath = `${path}[${index}]`;
    const isRepeated = mountPaths.has(mountPath);
    mountPaths.add(mountPath);
    return [
      ...(name === '' ? [required(`${itemPath}.name`)] : []),
      ...(volumes.has(name) ? [] : [notFound(`${itemPath}.name`, name)]),
      ...(mountPath === '' ? [required(`${itemPath}.mountPath`)] : []),
      ...(isRepeated ? [invalid(`${itemPath}.mountPath`, mountPath, 'must be unique')] : []),
      ...(deviceNames.has(name) ? [invalid(`${itemPath}.name`, name, 'must not already exist in volumeDevices')] : []),
      ...(devicePaths.has(mountPath)
        ? [invalid(`${itemPath}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices')]
        : []),
      ...validateSubPaths(mount, path, itemPath),
      ...validatePropagation(mount, container, `${path}.mountPropagation`),
      ...validateRecursiveReadOnly(mount, `${path}.recursiveReadOnly`),
    ];
  });
}

/** Validates the subPath of a mount. Kubernetes reports an invalid subPath without the index of its mount. */
function validateSubPaths({ subPath = '', subPathExpr = '' }: VolumeMount, path: string, itemPath: string): Problem[] {
  const hasBothPaths = subPath !== '' && subPathExpr !== '';
  return [
    ...(subPath === '' ? [] : validatePathInVolume(`${path}.subPath`, subPath)),
    ...(hasBothPaths
      ? [invalid(`${itemPath}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive')]
      : []),
    ...(subPathExpr === '' ? [] : validatePathInVolume(`${path}.subPathExpr`, subPathExpr)),
  ];
}

function validatePropagation(
  { mountPropagation }: VolumeMount,
  { securityContext }: Container,
  path: string,
): Problem[] {
  const isForbidden = mountPropagation === 'Bidirectional' && securityContext?.privileged !== true;
  const reason = 'Bidirectional mount propagation is available only to privileged containers';
  return [
    ...validateOneOf(path, mountPropagation, ['Bidirectional', 'HostToContainer', 'None']),
    ...(isForbidden ? [forbidden(path, reason)] : []),
  ];
}

function validateRecursiveReadOnly(mount: VolumeMount, path: string): Problem[] {
  const { recursiveReadOnly, readOnly, mountPropagation = 'None' } = mount;
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible')
    return validateOneOf(path, recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible']);
  return [
    ...(readOnly ? [] : [forbidden(path, 'may only be specified when readOnly is true')]),
    ...(mountPropagation === 'None'
      ? []
      : [forbidden(path, 'may only be specified when mountPropagation is None or not specified')]),
  ];
}

/** Checks that each device references a claim and that device paths are unique. */
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
    const itemPath = `${path}[${index}]`;
    const [isRepeated, isPathRepeated] = [names.has(name), paths.has(devicePath)];
    const hasBacksteps = validateNoBacksteps('', devicePath).length > 0;
    if (name !== '') names.add(name);
    if (!hasBacksteps) paths.add(devicePath);
    const volume = volumes.get(name);
    const isClaimVolume = volume?.persistentVolumeClaim !== undefined || volume?.ephemeral !== undefined;
    const rule = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
    return [
      ...(name === '' ? [required(`${itemPath}.name`)] : []),
      ...(isRepeated ? [invalid(`${itemPath}.name`, name, 'must be unique')] : []),
      ...(volume !== undefined && !isClaimVolume ? [invalid(`${itemPath}.name`, name, rule)] : []),
      ...(volume === undefined ? [notFound(`${itemPath}.name`, name)] : []),
      ...(devicePath === '' ? [required(`${itemPath}.devicePath`)] : []),
      ...(isPathRepeated ? [invalid(`${itemPath}.devicePath`, devicePath, 'must be unique')] : []),
      ...(hasBacksteps ? [invalid(`${itemPath}.devicePath`, devicePath, "can not contain backsteps ('..')")] : []),
      ...(mountNames.has(name) ? [invalid(`${itemPath}.name`, name, 'must not already exist in volumeMounts')] : []),
      ...(mountPaths.has(devicePath)
        ? [invalid(`${itemPath}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts')]
        : []),
    ];
  });
}
