/** Validates a pod's volumes (`ValidateVolumes` and `validateVolumeSource` of `core/validation`). */
import type { Problem } from '../../problem.ts';
import type { Volume } from '../../schema/volume.ts';
import { nanosOf } from '../../values/quantity.ts';
import type { ValidVolumes } from '../containers/mounts.ts';
import { dnsSubdomainProblems } from '../metadata/nameRules.ts';
import {
  allInvalid,
  duplicate,
  forbidden,
  invalid,
  required,
  validateFileMode,
  validateNoBacksteps,
  validateOneOf,
  validatePathInVolume,
  validateRequiredLabel,
  validateRequiredOneOf,
  validateRequiredText,
} from '../words.ts';
import { networkVolumes } from './networkVolumes.ts';
import { validateDownwardApi, validateKeys, validateProjected } from './projections.ts';
import { validateClaimTemplate } from './volumeClaims.ts';

/** The valid volumes, which containers may mount, and the problems of the invalid ones. */
export interface VolumeValidation {
  readonly validVolumes: ValidVolumes;
  readonly problems: readonly Problem[];
}

/** Checks that names are valid and unique, and that each volume has exactly one valid source. */
export function validateVolumes(volumes: readonly Volume[], podName: string, path: string): VolumeValidation {
  const validVolumes = new Map<string, Volume>();
  const createdClaims = new Set(volumes.filter(({ ephemeral }) => ephemeral).map(({ name }) => `${podName}-${name}`));
  const problems = volumes.flatMap((volume, index) => {
    const itemPath = `${path}[${index}]`;
    const volumeProblems = [
      ...validateSources(volume, podName, itemPath),
      ...validateRequiredLabel(`${itemPath}.name`, volume.name),
      ...(validVolumes.has(volume.name) ? [duplicate(`${itemPath}.name`, volume.name)] : []),
    ];
    if (volumeProblems.length === 0) validVolumes.set(volume.name, volume);
    const claim = volume.persistentVolumeClaim?.claimName ?? '';
    const rule = 'must not reference a PVC that gets created for an ephemeral volume';
    return [
      ...volumeProblems,
      ...(createdClaims.has(claim) ? [invalid(`${itemPath}.persistentVolumeClaim.claimName`, claim, rule)] : []),
    ];
  });
  return { validVolumes, problems };
}

type VolumeCheck<K extends keyof Volume> = (source: NonNullable<Volume[K]>, path: string) => Problem[];
type VolumeChecks = { readonly [K in Exclude<keyof Volume, 'name'>]-?: VolumeCheck<K> };

/** Checks of the source types, in the order of Kubernetes. Only the first source of a volume is validated. */
const VOLUME_CHECKS: VolumeChecks = {
  emptyDir: ({ sizeLimit = '0' }, path) =>
    nanosOf(sizeLimit) < 0n
      ? [forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: validateHostPath,
  gitRepo: ({ repository, directory = '' }, path) => [
    ...validateRequiredText(`${path}.repository`, repository),
    ...validatePathInVolume(`${path}.directory`, directory),
  ],
  gcePersistentDisk: networkVolumes.gcePersistentDisk,
  awsElasticBlockStore: networkVolumes.awsElasticBlockStore,
  secret: ({ secretName, defaultMode, items }, path) => [
    ...validateRequiredText(`${path}.secretName`, secretName),
    ...validateFileMode(`${path}.defaultMode`, defaultMode),
    ...validateKeys(items, path),
  ],
  nfs: networkVolumes.nfs,
  iscsi: networkVolumes.iscsi,
  glusterfs: networkVolumes.glusterfs,
  flocker: networkVolumes.flocker,
  persistentVolumeClaim: ({ claimName }, path) => validateRequiredText(`${path}.claimName`, claimName),
  rbd: networkVolumes.rbd,
  cinder: networkVolumes.cinder,
  cephfs: networkVolumes.cephfs,
  quobyte: networkVolumes.quobyte,
  downwardAPI: validateDownwardApi,
  fc: networkVolumes.fc,
  flexVolume: networkVolumes.flexVolume,
  configMap: ({ name, defaultMode, items }, path) => [
    ...validateRequiredText(`${path}.name`, name),
    ...validateFileMode(`${path}.defaultMode`, defaultMode),
    ...validateKeys(items, path),
  ],
  azureFile: networkVolumes.azureFile,
  vsphereVolume: networkVolumes.vsphereVolume,
  photonPersistentDisk: networkVolumes.photonPersistentDisk,
  portworxVolume: networkVolumes.portworxVolume,
  azureDisk: networkVolumes.azureDisk,
  storageos: networkVolumes.storageos,
  projected: validateProjected,
  scaleIO: networkVolumes.scaleIO,
  csi: networkVolumes.csi,
  ephemeral: ({ volumeClaimTemplate }, path) =>
    volumeClaimTemplate === undefined
      ? [required(`${path}.volumeClaimTemplate`)]
      : validateClaimTemplate(volumeClaimTemplate, `${path}.volumeClaimTemplate`),
  image: ({ reference, pullPolicy }, path) => [
    ...validateRequiredText(`${path}.reference`, reference),
    ...validateRequiredOneOf(`${path}.pullPolicy`, pullPolicy, ['Always', 'IfNotPresent', 'Never']),
  ],
};

/** Names that Kubernetes uses in messages for fields whose actual names differ. */
const PROBLEM_NAMES: ReadonlyMap<string, string> = new Map([['gcePersistentDisk', 'persistentDisk']]);
const EXCLUSION_NAMES: ReadonlyMap<string, string> = new Map([
  ['downwardAPI', 'downwarAPI'],
  ['cephfs', 'cephFS'],
]);

// Safe cast, because the keys are those of `VOLUME_CHECKS`.
const SOURCE_TYPES = Object.keys(VOLUME_CHECKS) as (keyof VolumeChecks)[];

function validateSources(volume: Volume, podName: string, path: string): Problem[] {
  const [first, ...excess] = SOURCE_TYPES.filter((kind) => volume[kind] !== undefined);
  if (first === undefined) return [required(path, 'must specify a volume type')];
  return [
    ...validateSource(first, volume, `${path}.${PROBLEM_NAMES.get(first) ?? first}`),
    ...(first === 'iscsi' ? validateInitiatorLength(volume, `${path}.name`) : []),
    ...(first === 'ephemeral' ? validateClaimName(volume.name, podName, `${path}.name`) : []),
    ...excess.map((kind) =>
      forbidden(`${path}.${EXCLUSION_NAMES.get(kind) ?? kind}`, 'may not specify more than 1 volume type'),
    ),
  ];
}

function validateSource<K extends keyof VolumeChecks>(kind: K, volume: Volume, path: string): Problem[] {
  const source = volume[kind];
  // Safe cast, because each entry of `VOLUME_CHECKS` checks the source of its own key, which TypeScript cannot infer.
  const check = VOLUME_CHECKS[kind] as unknown as VolumeCheck<K>;
  return source === undefined ? [] : check(source, path);
}

function validateInitiatorLength({ name, iscsi }: Volume, path: string): Problem[] {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal}`.length <= 64) return [];
  const rule =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return [invalid(path, name, rule)];
}

/** Checks the name of an ephemeral volume's claim, which consists of the pod's name and the volume's name. */
function validateClaimName(name: string, podName: string, path: string): Problem[] {
  if (name === '' || podName === '') return [];
  const claim = `${podName}-${name}`;
  const rules = dnsSubdomainProblems(claim).map((rule) => `PVC name ${JSON.stringify(claim)}: ${rule}`);
  return allInvalid(path, name, rules);
}

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

function validateHostPath({ path: hostPath, type }: NonNullable<Volume['hostPath']>, path: string): Problem[] {
  if (hostPath === '') return [required(`${path}.path`)];
  return [...validateNoBacksteps(`${path}.path`, hostPath), ...validateOneOf(`${path}.type`, type, HOST_PATH_TYPES)];
}
