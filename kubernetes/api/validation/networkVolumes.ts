/** Validates volume sources whose data is on the network or on a block device (`core/validation`). */
import type { Problem } from '../problem.ts';
import type { Volume } from '../schema/volume.ts';
import { dnsSubdomain } from './nameRules.ts';
import {
  allInvalid,
  dnsLabel,
  inRange,
  invalid,
  notSupported,
  oneOf,
  required,
  requiredText,
  tooLong,
} from './words.ts';

type Check<K extends keyof Volume> = (source: NonNullable<Volume[K]>, path: string) => Problem[];

const requiredSecretName = (reference: { readonly name?: string } | undefined, path: string): Problem[] =>
  reference === undefined ? [] : requiredText(`${path}.secretRef.name`, reference.name);

const nonEmpty = (list: readonly string[], path: string): Problem[] => (list.length === 0 ? [required(path)] : []);

const gcePersistentDisk: Check<'gcePersistentDisk'> = ({ pdName, partition }, path) => [
  ...requiredText(`${path}.pdName`, pdName),
  ...validatePartition(partition, path),
];

const awsElasticBlockStore: Check<'awsElasticBlockStore'> = ({ volumeID, partition }, path) => [
  ...requiredText(`${path}.volumeID`, volumeID),
  ...validatePartition(partition, path),
];

/** Accepts 0, which means no partition, although the message excludes 0. */
const validatePartition = (partition: number | undefined, path: string): Problem[] =>
  partition === 0 ? [] : inRange(`${path}.partition`, partition, 1, 255);

const nfs: Check<'nfs'> = ({ server, path: directory }, path) => [
  ...requiredText(`${path}.server`, server),
  ...requiredText(`${path}.path`, directory),
  ...(directory.startsWith('/') ? [] : [invalid(`${path}.path`, directory, 'must be an absolute path')]),
];

const ISCSI_NAMES = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[A-Za-z0-9]{16}$/],
  ['naa', /^naa.[A-Za-z0-9]{32}$/],
] as const;

function validateIscsiName(name: string, path: string): Problem[] {
  const format = ISCSI_NAMES.find(([prefix]) => name.startsWith(prefix));
  if (format === undefined) return [invalid(path, name, 'must be valid format starting with iqn, eui, or naa')];
  return format[1].test(name) ? [] : [invalid(path, name, 'must be valid format')];
}

const iscsi: Check<'iscsi'> = (source, path) => {
  const { targetPortal, iqn, lun, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = source;
  const needsSecret = (chapAuthDiscovery || chapAuthSession) && secretRef === undefined;
  return [
    ...requiredText(`${path}.targetPortal`, targetPortal),
    ...(iqn === '' ? [required(`${path}.iqn`)] : validateIscsiName(iqn, `${path}.iqn`)),
    ...inRange(`${path}.lun`, lun, 0, 255),
    ...(needsSecret ? [required(`${path}.secretRef`)] : []),
    ...(initiatorName === undefined ? [] : validateIscsiName(initiatorName, `${path}.initiatorname`)),
  ];
};

const glusterfs: Check<'glusterfs'> = ({ endpoints, path: directory }, path) => [
  ...requiredText(`${path}.endpoints`, endpoints),
  ...requiredText(`${path}.path`, directory),
];

const flocker: Check<'flocker'> = ({ datasetName = '', datasetUUID = '' }, path) => [
  ...(datasetName === '' && datasetUUID === ''
    ? [required(path, 'one of datasetName and datasetUUID is required')]
    : []),
  ...(datasetName !== '' && datasetUUID !== ''
    ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
    : []),
  ...(datasetName.includes('/') ? [invalid(`${path}.datasetName`, datasetName, "must not contain '/'")] : []),
];

const rbd: Check<'rbd'> = ({ monitors, image }, path) => [
  ...nonEmpty(monitors, `${path}.monitors`),
  ...requiredText(`${path}.image`, image),
];

const cinder: Check<'cinder'> = ({ volumeID, secretRef }, path) => [
  ...requiredText(`${path}.volumeID`, volumeID),
  ...requiredSecretName(secretRef, path),
];

const cephfs: Check<'cephfs'> = ({ monitors }, path) => nonEmpty(monitors, `${path}.monitors`);

const quobyte: Check<'quobyte'> = ({ registry, volume, tenant = '' }, path) => {
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
  return [...registryProblems, ...requiredText(`${path}.volume`, volume)];
};

const fc: Check<'fc'> = ({ targetWWNs = [], wwids = [], lun }, path) => [
  ...(targetWWNs.length === 0 && wwids.length === 0
    ? [required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both')]
    : []),
  ...(targetWWNs.length > 0 && wwids.length > 0
    ? [invalid(`${path}.targetWWNs`, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')]
    : []),
  ...(targetWWNs.length === 0 ? [] : validateLun(lun, `${path}.lun`)),
];

const validateLun = (lun: number | undefined, path: string): Problem[] =>
  lun === undefined ? [required(path, 'lun is required if targetWWNs is specified')] : inRange(path, lun, 0, 255);

const flexVolume: Check<'flexVolume'> = ({ driver, options = {} }, path) => [
  ...requiredText(`${path}.driver`, driver),
  ...Object.keys(options).flatMap((key) => {
    const [namespace = ''] = key.split('/');
    return /\.(kubernetes|k8s)\.io$/.test(`.${namespace.toLowerCase()}`)
      ? [invalid(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')]
      : [];
  }),
];

const azureFile: Check<'azureFile'> = ({ secretName, shareName }, path) => [
  ...requiredText(`${path}.secretName`, secretName),
  ...requiredText(`${path}.shareName`, shareName),
];

const MANAGED_DISK = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_DISK = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

const azureDisk: Check<'azureDisk'> = ({ diskName, diskURI, cachingMode, kind }, path) => {
  const isManaged = kind === 'Managed';
  const prefix = isManaged ? '/subscriptions/' : 'https://';
  const hasWrongPrefix = kind !== undefined && !diskURI.startsWith(prefix);
  return [
    ...requiredText(`${path}.diskName`, diskName),
    ...requiredText(`${path}.diskURI`, diskURI),
    ...oneOf(`${path}.cachingMode`, cachingMode, ['None', 'ReadOnly', 'ReadWrite']),
    ...oneOf(`${path}.kind`, kind, ['Dedicated', 'Managed', 'Shared']),
    ...(hasWrongPrefix ? [notSupported(`${path}.diskURI`, diskURI, [isManaged ? MANAGED_DISK : BLOB_DISK])] : []),
  ];
};

const vsphereVolume: Check<'vsphereVolume'> = ({ volumePath }, path) => requiredText(`${path}.volumePath`, volumePath);

const photonPersistentDisk: Check<'photonPersistentDisk'> = ({ pdID }, path) => requiredText(`${path}.pdID`, pdID);

const portworxVolume: Check<'portworxVolume'> = ({ volumeID }, path) => requiredText(`${path}.volumeID`, volumeID);

const scaleIO: Check<'scaleIO'> = ({ gateway, system, volumeName }, path) => [
  ...requiredText(`${path}.gateway`, gateway),
  ...requiredText(`${path}.system`, system),
  ...requiredText(`${path}.volumeName`, volumeName),
];

const storageos: Check<'storageos'> = ({ volumeName = '', volumeNamespace = '', secretRef }, path) => [
  ...(volumeName === '' ? [required(`${path}.volumeName`)] : dnsLabel(`${path}.volumeName`, volumeName)),
  ...(volumeNamespace === '' ? [] : dnsLabel(`${path}.volumeNamespace`, volumeNamespace)),
  ...requiredSecretName(secretRef, path),
];

const MAX_DRIVER_BYTES = 63;

const csi: Check<'csi'> = ({ driver, nodePublishSecretRef }, path) => {
  const secretName = nodePublishSecretRef?.name ?? '';
  const secretProblems =
    secretName === ''
      ? [required(`${path}.nodePublishSecretRef.name`)]
      : allInvalid(`${path}.name`, secretName, dnsSubdomain(secretName));
  return [...validateDriver(driver, `${path}.driver`), ...(nodePublishSecretRef === undefined ? [] : secretProblems)];
};

function validateDriver(driver: string, path: string): Problem[] {
  if (driver === '') return [required(path)];
  return [
    ...(driver.length > MAX_DRIVER_BYTES ? [tooLong(path, MAX_DRIVER_BYTES)] : []),
    ...allInvalid(path, driver, dnsSubdomain(driver.toLowerCase())),
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
