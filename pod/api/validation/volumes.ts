import { type Problem, shownValue } from '../problem.ts';
import type { Container, VolumeMount } from '../schema/container.ts';
import type { Volume } from '../schema/volume.ts';
import { validateDownwardApi, validateObject, validateProjected } from './projections.ts';
import { validateQuantity } from './resources.ts';
import { dnsLabel, duplicates, forbidden, invalid, pathInVolume, required } from './words.ts';

/** Names that are labels and unique, one source each, and the local sources' own rules. */
export function validateVolumes(volumes: readonly Volume[], path: string): Problem[] {
  const names = volumes.map(({ name }) => name);
  return [
    ...duplicates(names, (index) => `${path}[${index}].name`),
    ...volumes.flatMap((volume, index) => validateVolume(volume, `${path}[${index}]`)),
  ];
}

/** The sources in the order in which Kubernetes looks at them: the first counts. */
const ORDER = [
  ...['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret', 'nfs', 'iscsi'],
  ...['glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs', 'quobyte', 'downwardAPI', 'fc'],
  ...['flexVolume', 'configMap', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume'],
  ...['azureDisk', 'storageos', 'projected', 'scaleIO', 'csi', 'ephemeral', 'image'],
];

function validateVolume(volume: Volume, path: string): Problem[] {
  const [source, ...more] = Object.keys(volume)
    .filter((key) => key !== 'name')
    .sort((one, other) => ORDER.indexOf(one) - ORDER.indexOf(other));
  const { hostPath, emptyDir, downwardAPI, projected, configMap, secret, image } = volume;
  return [
    ...dnsLabel(`${path}.name`, volume.name),
    ...(source === undefined ? [required(path, 'must specify a volume type')] : []),
    ...more.map((each) => forbidden(`${path}.${each}`, 'may not specify more than 1 volume type')),
    ...(hostPath ? validateHostPath(hostPath.path, `${path}.hostPath.path`) : []),
    ...(emptyDir?.sizeLimit ? validateQuantity(emptyDir.sizeLimit, `${path}.emptyDir.sizeLimit`) : []),
    ...(image && !image.reference ? [required(`${path}.image.reference`)] : []),
    ...(downwardAPI ? validateDownwardApi(downwardAPI, `${path}.downwardAPI`) : []),
    ...(configMap ? validateObject(configMap, { field: 'name', name: configMap.name }, `${path}.configMap`) : []),
    ...(secret ? validateObject(secret, { field: 'secretName', name: secret.secretName }, `${path}.secret`) : []),
    ...(projected ? validateProjected(projected, `${path}.projected`) : []),
  ];
}

function validateHostPath(hostPath: string, path: string): Problem[] {
  if (hostPath === '') return [required(path)];
  if (!hostPath.startsWith('/')) return [invalid(path, hostPath, 'must be an absolute path')];
  return hostPath.split('/').includes('..') ? [invalid(path, hostPath, "must not contain '..'")] : [];
}

/** Mounts and devices of a container refer to volumes of the pod, each at a path of its own. */
export function validateMounts(container: Container, volumes: readonly Volume[], path: string): Problem[] {
  const { volumeMounts = [], volumeDevices = [] } = container;
  const known = new Map(volumes.map((volume) => [volume.name, volume]));
  const unknown = (name: string, at: string) =>
    known.has(name) ? [] : [{ path: at, message: `Not found: ${shownValue(name)}` }];
  const validateDevice = (name: string, at: string) => {
    const volume = known.get(name);
    if (volume === undefined || volume.persistentVolumeClaim || volume.ephemeral) return unknown(name, at);
    const rule = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
    return [invalid(at, name, rule)];
  };
  const paths = new Set<string>();
  return [
    ...volumeMounts.flatMap((mount, index) => unknown(mount.name, `${path}.volumeMounts[${index}].name`)),
    ...volumeDevices.flatMap((device, index) => validateDevice(device.name, `${path}.volumeDevices[${index}].name`)),
    ...volumeMounts.flatMap(({ mountPath }, index) => {
      const isRepeated = paths.has(mountPath);
      paths.add(mountPath);
      return isRepeated ? [invalid(`${path}.volumeMounts[${index}].mountPath`, mountPath, 'must be unique')] : [];
    }),
    ...volumeMounts.flatMap((mount, index) =>
      validateMount(mount, container.securityContext?.privileged ?? false, `${path}.volumeMounts[${index}]`),
    ),
  ];
}

function validateMount(mount: VolumeMount, privileged: boolean, path: string): Problem[] {
  const { mountPath, subPath, subPathExpr, mountPropagation, readOnly, recursiveReadOnly } = mount;
  const both = subPath && subPathExpr;
  const recursive = recursiveReadOnly === 'Enabled' || recursiveReadOnly === 'IfPossible';
  return [
    ...(mountPath === '' ? [required(`${path}.mountPath`)] : []),
    ...(mountPath.includes(':') ? [invalid(`${path}.mountPath`, mountPath, "must not contain ':'")] : []),
    ...(subPath ? pathInVolume(`${path}.subPath`, subPath) : []),
    ...(subPathExpr ? pathInVolume(`${path}.subPathExpr`, subPathExpr) : []),
    ...(both ? [invalid(`${path}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive')] : []),
    ...(mountPropagation === 'Bidirectional' && !privileged
      ? [
          forbidden(
            `${path}.mountPropagation`,
            'Bidirectional mount propagation is available only to privileged containers',
          ),
        ]
      : []),
    ...(recursive && !readOnly
      ? [forbidden(`${path}.recursiveReadOnly`, 'may only be specified when readOnly is true')]
      : []),
    ...(recursive && mountPropagation !== undefined && mountPropagation !== 'None'
      ? [forbidden(`${path}.recursiveReadOnly`, 'may only be specified when mountPropagation is None or not specified')]
      : []),
  ];
}
