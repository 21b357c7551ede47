/** Validates volume sources whose data is stored on the network or on a block device (`core/validation`). */
import type { Problem } from '../../problem.ts';
import type { Volume } from '../../schema/volume.ts';
import { dnsSubdomainProblems } from '../metadata/nameRules.ts';
import {
  allInvalid,
  invalid,
  notSupported,
  required,
  tooLong,
  validateDnsLabel,
  validateOneOf,
  validateRange,
  validateRequiredText,
} from '../words.ts';

type VolumeCheck<K extends keyof Volume> = (source: NonNullable<Volume[K]>, path: string) => Problem[];

const validateSecretName = (reference: { readonly name?: string } | undefined, path: string): Problem[] =>
  reference === undefined ? [] : validateRequiredText(`${path}.secretRef.name`, reference.name);

const validateNotEmpty = (list: readonly string[], path: string): Problem[] =>
  list.length === 0 ? [required(path)] : [];

const gcePersistentDisk: VolumeCheck<'gcePersistentDisk'> = ({ pdName, partition }, path) => [
  ...validateRequiredText(`${path}.pdName`, pdName),
  ...validatePartition(partition, path),
];

const awsElasticBlockStore: VolumeCheck<'awsElasticBlockStore'> = ({ volumeID, partition }, path) => [
  ...validateRequiredText(`${path}.volumeID`, volumeID),
  ...validatePartition(partition, path),
];

/** Checks a partition number. Accepts 0, which means no partition, although the error message excludes 0. */
const validatePartition = (partition: number | undefined, path: string): Problem[] =>
  partition === 0 ? [] : validateRange(`${path}.partition`, partition, 1, 255);

const nfs: VolumeCheck<'nfs'> = ({ server, path: directory }, path) => [
  ...validateRequiredText(`${path}.server`, server),
  ...validateRequiredText(`${path}.path`, directory),
  ...(directory.startsWith('/') ? [] : [invalid(`${path}.path`, directory, 'must be an absolute path')]),
];

const ISCSI_NAME_FORMATS = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[A-Za-z0-9]{16}$/],
  ['naa', /^naa.[A-Za-z0-9]{32}$/],
] as const;

function validateIscsiName(name: string, path: string): Problem[] {
  const format = ISCSI_NAME_FORMATS.find(([prefix]) => name.startsWith(prefix));
  if (format === undefined) return [invalid(path, name, 'must be valid format starting with iqn, eui, or naa')];
  return format[1].test(name) ? [] : [invalid(path, name, 'must be valid format')];
}

const iscsi: VolumeCheck<'iscsi'> = (source, path) => {
  const { targetPortal, iqn, lun, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = source;
  const needsSecret = (chapAuthDiscovery || chapAuthSession) && secretRef === undefined;
  return [
    ...validateRequiredText(`${path}.targetPortal`, targetPortal),
    ...(iqn === '' ? [required(`${path}.iqn`)] : validateIscsiName(iqn, `${path}.iqn`)),
    ...validateRange(`${path}.lun`, lun, 0, 255),
    ...(needsSecret ? [required(`${path}.secretRef`)] : []),
    ...(initiatorName === undefined ? [] : validateIscsiName(initiatorName, `${path}.initiatorname`)),
  ];
};

const glusterfs: VolumeCheck<'glusterfs'> = ({ endpoints, path: directory }, path) => [
  ...validateRequiredText(`${path}.endpoints`, endpoints),
  ...validateRequiredText(`${path}.path`, directory),
];

const flocker: VolumeCheck<'flocker'> = ({ datasetName = '', datasetUUID = '' }, path) => [
  ...(datasetName === '' && datasetUUID === ''
    ? [required(path, 'one of datasetName and datasetUUID is required')]
    : []),
  ...(datasetName !== '' && datasetUUID !== ''
    ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
    : []),
  ...(datasetName.includes('/') ? [invalid(`${path}.datasetName`, datasetName, "must not contain '/'")] : []),
];

const rbd: VolumeCheck<'rbd'> = ({ monitors, image }, path) => [
  ...validateNotEmpty(monitors, `${path}.monitors`),
  ...validateRequiredText(`${path}.image`, image),
];

const cinder: VolumeCheck<'cinder'> = ({ volumeID, secretRef }, path) => [
  ...validateRequiredText(`${path}.volumeID`, volumeID),
  ...validateSecretName(secretRef, path),
];

const cephfs: VolumeCheck<'cephfs'> = ({ monitors }, path) => validateNotEmpty(monitors, `${path}.monitors`);

const quobyte: VolumeCheck<'quobyte'> = ({ registry, volume, tenant = '' }, path) => {
  const rule = 'must be a host:port pair or multiple pairs separated by commas';
  const isInvalidRegistry = registry.split(',').some((pair) => !/^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair));
  const registryProblems =
    registry === ''
      ? [required(`${path}.registry`, rule)]
      : tenant.length >= 65
        ? [required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters')]
        : isInvalidRegistry
          ? [invalid(`${path}.registry`, registry, rule)]
          : [];
  return [...registryProblems, ...validateRequiredText(`${path}.volume`, volume)];
};

const fc: VolumeCheck<'fc'> = ({ targetWWNs = [], wwids = [], lun }, path) => [
  ...(targetWWNs.length === 0 && wwids.length === 0
    ? [required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both')]
    : []),
  ...(targetWWNs.length > 0 && wwids.length > 0
    ? [invalid(`${path}.targetWWNs`, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')]
    : []),
  ...(targetWWNs.length === 0 ? [] : validateLun(lun, `${path}.lun`)),
];

const validateLun = (lun: number | undefined, path: string): Problem[] =>
  lun === undefined ? [required(path, 'lun is required if targetWWNs is specified')] : validateRange(path, lun, 0, 255);

const flexVolume: VolumeCheck<'flexVolume'> = ({ driver, options = {} }, path) => [
  ...validateRequiredText(`${path}.driver`, driver),
  ...Object.keys(options).flatMap((key) => {
    const [namespace = ''] = key.split('/');
    return /\.(kubernetes|k8s)\.io$/.test(`.${namespace.toLowerCase()}`)
      ? [invalid(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')]
      : [];
  }),
];

const azureFile: VolumeCheck<'azureFile'> = ({ secretName, shareName }, path) => [
  ...validateRequiredText(`${path}.secretName`, secretName),
  ...validateRequiredText(`${path}.shareName`, shareName),
];

const MANAGED_DISK_FORMAT =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_DISK_FORMAT = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

const azureDisk: VolumeCheck<'azureDisk'> = ({ diskName, diskURI, cachingMode, kind }, path) => {
  const isManaged = kind === 'Managed';
  const prefix = isManaged ? '/subscriptions/' : 'https://';
  const hasWrongPrefix = kind !== undefined && !diskURI.startsWith(prefix);
  return [
    ...validateRequiredText(`${path}.diskName`, diskName),
    ...validateRequiredText(`${path}.diskURI`, diskURI),
    ...validateOneOf(`${path}.cachingMode`, cachingMode, ['None', 'ReadOnly', 'ReadWrite']),
    ...validateOneOf(`${path}.kind`, kind, ['Dedicated', 'Managed', 'Shared']),
    ...(hasWrongPrefix
      ? [notSupported(`${path}.diskURI`, diskURI, [isManaged ? MANAGED_DISK_FORMAT : BLOB_DISK_FORMAT])]
      : []),
  ];
};

const vsphereVolume: VolumeCheck<'vsphereVolume'> = ({ volumePath }, path) =>
  validateRequiredText(`${path}.volumePath`, volumePath);

const photonPersistentDisk: VolumeCheck<'photonPersistentDisk'> = ({ pdID }, path) =>
  validateRequiredText(`${path}.pdID`, pdID);

const portworxVolume: VolumeCheck<'portworxVolume'> = ({ volumeID }, path) =>
  validateRequiredText(`${path}.volumeID`, volumeID);

const scaleIO: VolumeCheck<'scaleIO'> = ({ gateway, system, volumeName }, path) => [
  ...validateRequiredText(`${path}.gateway`, gateway),
  ...validateRequiredText(`${path}.system`, system),
  ...validateRequiredText(`${path}.volumeName`, volumeName),
];

const storageos: VolumeCheck<'storageos'> = ({ volumeName = '', volumeNamespace = '', secretRef }, path) => [
  ...(volumeName === '' ? [required(`${path}.volumeName`)] : validateDnsLabel(`${path}.volumeName`, volumeName)),
  ...(volumeNamespace === '' ? [] : validateDnsLabel(`${path}.volumeNamespace`, volumeNamespace)),
  ...validateSecretName(secretRef, path),
];

const MAX_DRIVER_BYTES = 63;

const csi: VolumeCheck<'csi'> = ({ driver, nodePublishSecretRef }, path) => {
  const secretName = nodePublishSecretRef?.name ?? '';
  const secretProblems =
    secretName === ''
      ? [required(`${path}.nodePublishSecretRef.name`)]
      : allInvalid(`${path}.name`, secretName, dnsSubdomainProblems(secretName));
  return [...validateDriver(driver, `${path}.driver`), ...(nodePublishSecretRef === undefined ? [] : secretProblems)];
};

function validateDriver(driver: string, path: string): Problem[] {
  if (driver === '') return [required(path)];
  return [
    ...(driver.length > MAX_DRIVER_BYTES ? [tooLong(path, MAX_DRIVER_BYTES)] : []),
    ...allInvalid(path, driver, dnsSubdomainProblems(driver.toLowerCase())),
  ];
}

export const networkVolumes = {
  gcePersistentDisk,
  awsElasticBlockStore,
  nfs,
  iscsi,
  glusterfs,
  flocker,
  rbd,
  cinder,
  cephfs,
  quobyte,
  fc,
  flexVolume,
  azureFile,
  azureDisk,
  vsphereVolume,
  photonPersistentDisk,
  portworxVolume,
  scaleIO,
  storageos,
  csi,
};
