/** Formats the volumes of a pod as `kubectl describe` does. */
import type { Volume } from '../../kubernetes/api/schema/volume.ts';
import { indentLines } from './tabbed.ts';

export function describeVolumes(volumes: readonly Volume[] = []): string[] {
  if (volumes.length === 0) return ['Volumes:\t<none>'];
  return [
    'Volumes:',
    ...volumes.flatMap((volume) => [...indentLines(1, [`${volume.name}:`]), ...indentLines(2, sourceLines(volume))]),
  ];
}

/** Formatters for the kinds of volumes that are shown in detail. Any other kind is shown by its field name. */
const VOLUME_DESCRIBERS: { readonly [K in keyof Volume]?: (source: NonNullable<Volume[K]>) => string[] } = {
  hostPath: ({ path, type = '' }) => [
    'Type:\tHostPath (bare host directory volume)',
    `Path:\t${path}`,
    `HostPathType:\t${type}`,
  ],
  emptyDir: ({ medium = '', sizeLimit }) => [
    "Type:\tEmptyDir (a temporary directory that shares a pod's lifetime)",
    `Medium:\t${medium}`,
    `SizeLimit:\t${sizeLimit ?? '<unset>'}`,
  ],
  secret: ({ secretName = '', optional = false }) => [
    'Type:\tSecret (a volume populated by a Secret)',
    `SecretName:\t${secretName}`,
    `Optional:\t${optional}`,
  ],
  configMap: ({ name = '', optional = false }) => [
    'Type:\tConfigMap (a volume populated by a ConfigMap)',
    `Name:\t${name}`,
    `Optional:\t${optional}`,
  ],
  downwardAPI: ({ items = [] }) => [
    'Type:\tDownwardAPI (a volume populated by information about the pod)',
    'Items:',
    ...items.map(
      ({ path, fieldRef, resourceFieldRef }) => `  ${fieldRef?.fieldPath ?? resourceFieldRef?.resource} -> ${path}`,
    ),
  ],
  projected: ({ sources = [] }) => [
    'Type:\tProjected (a volume that contains injected data from multiple sources)',
    ...sources.flatMap(projectionLines),
  ],
  persistentVolumeClaim: ({ claimName, readOnly = false }) => [
    'Type:\tPersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)',
    `ClaimName:\t${claimName}`,
    `ReadOnly:\t${readOnly}`,
  ],
  image: ({ reference = '', pullPolicy = '' }) => [
    'Type:\tImage (a container image or OCI artifact)',
    `Reference:\t${reference}`,
    `PullPolicy:\t${pullPolicy}`,
  ],
  nfs: ({ server, path, readOnly = false }) => [
    'Type:\tNFS (an NFS mount that lasts the lifetime of a pod)',
    `Server:\t${server}`,
    `Path:\t${path}`,
    `ReadOnly:\t${readOnly}`,
  ],
};

type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

function projectionLines({ secret, configMap, downwardAPI, serviceAccountToken }: Projection): string[] {
  return [
    ...(secret ? [`SecretName:\t${secret.name ?? ''}`, `Optional:\t${secret.optional === true}`] : []),
    ...(downwardAPI ? ['DownwardAPI:\ttrue'] : []),
    ...(configMap ? [`ConfigMapName:\t${configMap.name ?? ''}`, `Optional:\t${configMap.optional === true}`] : []),
    ...(serviceAccountToken ? [`TokenExpirationSeconds:\t${serviceAccountToken.expirationSeconds ?? 3_600}`] : []),
  ];
}

function sourceLines(volume: Volume): string[] {
  for (const [kind, source] of Object.entries(volume)) {
    // Safe cast: each describer is stored under the field whose value it receives.
    const describe = VOLUME_DESCRIBERS[kind as keyof Volume] as ((source: unknown) => string[]) | undefined;
    if (describe) return describe(source);
  }
  return [`Type:\t${Object.keys(volume).find((key) => key !== 'name') ?? '<unknown>'}`];
}
