/** A static pod has no API server behind it, so it may not refer to anything that lives there (C24). */
import { containersOf } from '../containers.ts';
import type { Problem } from '../problem.ts';
import type { Container } from '../schema/container.ts';
import type { PodSpec } from '../schema/pod.ts';
import type { Volume } from '../schema/volume.ts';
import { forbidden } from './words.ts';

/** Something in a pod that refers to an object of an API server. */
interface Reference {
  readonly path: string;
  /** The kind of object, as a kubelet names it. */
  readonly resource: string;
  /** The pod can do without it: the reference says so, or nothing comes of it. */
  readonly isOptional: boolean;
}

/**
 * Refuses each reference, as a kubelet does. One that is lenient, for manifests that were written for a cluster, takes
 * what a pod can do without.
 */
export function validateStatic(spec: PodSpec, isLenient: boolean): Problem[] {
  const references = [...podReferences(spec), ...volumeReferences(spec), ...containerReferences(spec)];
  const refused = references.filter(({ isOptional }) => !(isLenient && isOptional));
  return [
    ...refused.map(({ path, resource, isOptional }) => {
      const hint = isOptional ? ' (accepted with --lenient-manifests)' : '';
      return { path, message: `static pods may not reference ${resource}${hint}` };
    }),
    ...(spec.ephemeralContainers?.length
      ? [forbidden('spec.ephemeralContainers', 'static pods may not have ephemeral containers')]
      : []),
  ];
}

const isOptional = (reference: object): boolean => 'optional' in reference && reference.optional === true;

function podReferences({
  serviceAccountName,
  serviceAccount,
  imagePullSecrets = [],
  resourceClaims,
}: PodSpec): Reference[] {
  const account = serviceAccountName ? 'serviceAccountName' : 'serviceAccount';
  return [
    ...(serviceAccountName || serviceAccount
      ? [{ path: `spec.${account}`, resource: 'serviceaccounts', isOptional: !serviceAccountName }]
      : []),
    ...imagePullSecrets.flatMap(({ name }, index) =>
      name ? [{ path: `spec.imagePullSecrets[${index}]`, resource: 'secrets', isOptional: true }] : [],
    ),
    ...(resourceClaims?.length ? [{ path: 'spec.resourceClaims', resource: 'resourceclaims', isOptional: false }] : []),
  ];
}

/** Kinds of volumes whose data is an object of the API server, or is found by one. */
const VOLUMES = {
  secret: 'secrets',
  configMap: 'configmaps',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  azureFile: 'secrets',
} as const;

const PROJECTIONS = {
  secret: 'secrets',
  configMap: 'configmaps',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
} as const;

/** Volumes that may name a secret with the credentials for what they mount. */
const WITH_SECRETS = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const;

/** What cannot be mounted here anyway says so at the mount, and a lenient node leaves it to that. */
const MOUNT_SAYS: ReadonlySet<string> = new Set(['csi', 'glusterfs', 'azureFile']);

/** The entries of an object whose keys are known. */
const entriesOf = <K extends string, V>(object: Readonly<Record<K, V>>) => Object.entries(object) as [K, V][];

function volumeReferences({ volumes = [] }: PodSpec): Reference[] {
  return volumes.flatMap((volume, index) => ofVolume(volume, `spec.volumes[${index}]`));
}

function ofVolume(volume: Volume, path: string): Reference[] {
  const own = entriesOf(VOLUMES).flatMap(([kind, resource]) => {
    const source = volume[kind];
    return source === undefined
      ? []
      : [{ path: `${path}.${kind}`, resource, isOptional: isOptional(source) || MOUNT_SAYS.has(kind) }];
  });
  const credentials = WITH_SECRETS.filter((kind) => volume[kind]?.secretRef?.name).map((kind) => ({
    ...{ path: `${path}.${kind}.secretRef`, resource: 'secrets', isOptional: true },
  }));
  const projected = (volume.projected?.sources ?? []).flatMap((projection, index) =>
    entriesOf(PROJECTIONS).flatMap(([kind, resource]) => {
      const source = projection[kind];
      const at = `${path}.projected.sources[${index}].${kind}`;
      return source === undefined ? [] : [{ path: at, resource, isOptional: isOptional(source) }];
    }),
  );
  return [...own, ...credentials, ...projected];
}

function containerReferences(spec: PodSpec): Reference[] {
  return containersOf(spec).flatMap(({ container, field, index }) =>
    ofContainer(container).map((each) => ({ ...each, path: `spec.${field}[${index}].${each.path}` })),
  );
}

function ofContainer({ env = [], envFrom = [] }: Container): Reference[] {
  const reference = (path: string, resource: string, source: object | undefined): Reference[] =>
    source === undefined ? [] : [{ path, resource, isOptional: isOptional(source) }];
  return [
    ...env.flatMap(({ valueFrom }, index) => [
      ...reference(`env[${index}].valueFrom.secretKeyRef`, 'secrets', valueFrom?.secretKeyRef),
      ...reference(`env[${index}].valueFrom.configMapKeyRef`, 'configmaps', valueFrom?.configMapKeyRef),
    ]),
    ...envFrom.flatMap(({ secretRef, configMapRef }, index) => [
      ...reference(`envFrom[${index}].secretRef`, 'secrets', secretRef),
      ...reference(`envFrom[${index}].configMapRef`, 'configmaps', configMapRef),
    ]),
  ];
}
