/** Checks of a pod's volumes (`ValidateVolumes` and `validateVolumeSource` of `core/validation`). */
import type { Problem } from '../problem.ts';
import { nanosOf } from '../quantity.ts';
import type { Volume } from '../schema/volume.ts';
import type { ValidVolumes } from './mounts.ts';
import { dnsSubdomain } from './nameRules.ts';
import { networkVolumes } from './networkVolumes.ts';
import { validateDownwardApi, validateKeys, validateProjected } from './projections.ts';
import { validateClaimTemplate } from './volumeClaims.ts';
import {
  allInvalid,
  duplicate,
  fileMode,
  forbidden,
  invalid,
  noBacksteps,
  oneOf,
  pathInVolume,
  required,
  requiredLabel,
  requiredOneOf,
  requiredText,
} from './words.ts';

/** The valid volumes, which containers may mount, and what is wrong with the others. */
export interface CheckedVolumes {
  readonly valid: ValidVolumes;
  readonly problems: readonly Problem[];
}

/** Checks that names are unique labels and that each volume has one valid source. */
export function validateVolumes(volumes: readonly Volume[], podName: string, path: string): CheckedVolumes {
  const valid = new Map<string, Volume>();
  const created = new Set(volumes.filter(({ ephemeral }) => ephemeral).map(({ name }) => `${podName}-${name}`));
  const problems = volumes.flatMap((volume, index) => {
    const at = `${path}[${index}]`;
    const own = [
      ...validateSources(volume, podName, at),
      ...requiredLabel(`${at}.name`, volume.name),
      ...(valid.has(volume.name) ? [duplicate(`${at}.name`, volume.name)] : []),
    ];
    if (own.length === 0) valid.set(volume.name, volume);
    const claim = volume.persistentVolumeClaim?.claimName ?? '';
    const rule = 'must not reference a PVC that gets created for an ephemeral volume';
    return [...own, ...(created.has(claim) ? [invalid(`${at}.persistentVolumeClaim.claimName`, claim, rule)] : [])];
  });
  return { valid, problems };
}

type Check<K extends keyof Volume> = (source: NonNullable<Volume[K]>, path: string) => Problem[];
type Checks = { readonly [K in Exclude<keyof Volume, 'name'>]-?: Check<K> };

/** The check of each source, in the order in which Kubernetes looks at them: only the first is checked. */
const CHECKS: Checks = {
  emptyDir: ({ sizeLimit = '0' }, path) =>
    nanosOf(sizeLimit) < 0n
      ? [forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: validateHostPath,
  gitRepo: ({ repository, directory = '' }, path) => [
    ...requiredText(`${path}.repository`, repository),
    ...pathInVolume(`${path}.directory`, directory),
  ],
  gcePersistentDisk: networkVolumes.gcePersistentDisk,
  awsElasticBlockStore: networkVolumes.awsElasticBlockStore,
  secret: ({ secretName, defaultMode, items }, path) => [
    ...requiredText(`${path}.secretName`, secretName),
    ...fileMode(`${path}.defaultMode`, defaultMode),
    ...validateKeys(items, path),
  ],
  nfs: networkVolumes.nfs,
  iscsi: networkVolumes.iscsi,
  glusterfs: networkVolumes.glusterfs,
  flocker: networkVolumes.flocker,
  persistentVolumeClaim: ({ claimName }, path) => requiredText(`${path}.claimName`, claimName),
  rbd: networkVolumes.rbd,
  cinder: networkVolumes.cinder,
  cephfs: networkVolumes.cephfs,
  quobyte: networkVolumes.quobyte,
  downwardAPI: validateDownwardApi,
  fc: networkVolumes.fc,
  flexVolume: networkVolumes.flexVolume,
  configMap: ({ name, defaultMode, items }, path) => [
    ...requiredText(`${path}.name`, name),
    ...fileMode(`${path}.defaultMode`, defaultMode),
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
    ...requiredText(`${path}.reference`, reference),
    ...requiredOneOf(`${path}.pullPolicy`, pullPolicy, ['Always', 'IfNotPresent', 'Never']),
  ],
};

/** Kubernetes names these fields differently in some problems. */
const CHECKED_AS: ReadonlyMap<string, string> = new Map([['gcePersistentDisk', 'persistentDisk']]);
const EXCLUDED_AS: ReadonlyMap<string, string> = new Map([
  ['downwardAPI', 'downwarAPI'],
  ['cephfs', 'cephFS'],
]);

// The keys are those of the table above.
const KINDS = Object.keys(CHECKS) as (keyof Checks)[];

function validateSources(volume: Volume, podName: string, path: string): Problem[] {
  const [first, ...others] = KINDS.filter((kind) => volume[kind] !== undefined);
  if (first === undefined) return [required(path, 'must specify a volume type')];
  return [
    ...validateSource(first, volume, `${path}.${CHECKED_AS.get(first) ?? first}`),
    ...(first === 'iscsi' ? initiatorTooLong(volume, `${path}.name`) : []),
    ...(first === 'ephemeral' ? validateClaimName(volume.name, podName, `${path}.name`) : []),
    ...others.map((kind) =>
      forbidden(`${path}.${EXCLUDED_AS.get(kind) ?? kind}`, 'may not specify more than 1 volume type'),
    ),
  ];
}

function validateSource<K extends keyof Checks>(kind: K, volume: Volume, path: string): Problem[] {
  const source = volume[kind];
  // The table has for each kind the check of its own source, which TypeScript cannot follow by key.
  const check = CHECKS[kind] as unknown as Check<K>;
  return source === undefined ? [] : check(source, path);
}

function initiatorTooLong({ name, iscsi }: Volume, path: string): Problem[] {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal}`.length <= 64) return [];
  const rule =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  return [invalid(path, name, rule)];
}

/** The claim of an ephemeral volume is named after the pod and the volume. */
function validateClaimName(name: string, podName: string, path: string): Problem[] {
  if (name === '' || podName === '') return [];
  const claim = `${podName}-${name}`;
  const rules = dnsSubdomain(claim).map((rule) => `PVC name ${JSON.stringify(claim)}: ${rule}`);
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
  return [...noBacksteps(`${path}.path`, hostPath), ...oneOf(`${path}.type`, type, HOST_PATH_TYPES)];
}
