/**
 * A static pod has no API server behind it, so it may not refer to objects of one (C24). ConfigMaps and Secrets are the
 * exception, because the source of the pod may have them.
 */
import type { ConfigKind } from '../../objects/configObject.ts';
import { containersOf } from '../containers.ts';
import { type Problem, shownValue } from '../problem.ts';
import type { Container } from '../schema/container.ts';
import type { PodSpec } from '../schema/pod.ts';
import type { Volume } from '../schema/volume.ts';

/** Something in a pod that refers to an object of an API server. */
interface Reference {
  readonly path: string;
  /** The kind of object, as a kubelet names it. */
  readonly resource: string;
  /** The pod can do without it: the reference says so, or nothing comes of it. */
  readonly isOptional: boolean;
  /** The object, in the pod's namespace, if it is of a kind that the source of the pod may have. */
  readonly object?: NamedObject | undefined;
}

interface NamedObject {
  readonly kind: ConfigKind;
  readonly name: string;
}

/** A ConfigMap or Secret that a static pod names, at a path of its manifest. */
export interface Need extends NamedObject {
  readonly path: string;
  /** Whether the pod can run without the object. */
  readonly isOptional: boolean;
}

/** How references are judged. */
export interface StaticRules {
  /** What a pod can do without is taken: for manifests that were written for a cluster. */
  readonly isLenient: boolean;
  /** Whether ConfigMaps and Secrets may be named, because the caller checks `needsOf`. */
  readonly seesNeeds?: boolean;
}

/** Refuses each reference and each projection without a source, as a kubelet does (`HasAPIObjectReference`). */
export function validateStatic(spec: PodSpec, { isLenient, seesNeeds = false }: StaticRules): Problem[] {
  const refused = refusedReferences(spec, isLenient).filter(({ object }) => !seesNeeds || object === undefined);
  return [...refused.map(problemOf), ...emptyProjections(spec)];
}

function emptyProjections({ volumes = [] }: PodSpec): Problem[] {
  return volumes.flatMap(({ name, projected }, volume) =>
    (projected?.sources ?? []).flatMap((source, index) =>
      Object.keys(source).length > 0
        ? []
        : [
            {
              path: `spec.volumes[${volume}].projected.sources[${index}]`,
              message: `unknown source for projected volume ${shownValue(name)}`,
            },
          ],
    ),
  );
}

/** Returns the objects that the source of a pod should have, once for each path that names one. */
export function needsOf(spec: PodSpec, isLenient: boolean): Need[] {
  return refusedReferences(spec, isLenient).flatMap(({ object, path, isOptional }) =>
    object === undefined ? [] : [{ ...object, path, isOptional }],
  );
}

function refusedReferences(spec: PodSpec, isLenient: boolean): Reference[] {
  const references = [...podReferences(spec), ...volumeReferences(spec), ...containerReferences(spec)];
  return references.filter(({ isOptional }) => !(isLenient && isOptional));
}

function problemOf({ path, resource, isOptional }: Reference): Problem {
  const hint = isOptional ? ' (accepted with --lenient-manifests)' : '';
  return { path, message: `static pods may not reference ${resource}${hint}` };
}

const named = (kind: ConfigKind, name: string | undefined): NamedObject | undefined =>
  name ? { kind, name } : undefined;

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
      name
        ? [
            {
              path: `spec.imagePullSecrets[${index}]`,
              resource: 'secrets',
              isOptional: true,
              object: named('Secret', name),
            },
          ]
        : [],
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

/** By the kind of source that names them. */
const objectsNamed = (configMap: string | undefined, secret: string | undefined) =>
  new Map([
    ['configMap', named('ConfigMap', configMap)],
    ['secret', named('Secret', secret)],
  ]);

function ofVolume(volume: Volume, path: string): Reference[] {
  const objects = objectsNamed(volume.configMap?.name, volume.secret?.secretName);
  const own = entriesOf(VOLUMES).flatMap(([kind, resource]) => {
    const source = volume[kind];
    if (source === undefined) return [];
    const mayLack = isOptional(source) || MOUNT_SAYS.has(kind);
    return [{ path: `${path}.${kind}`, resource, isOptional: mayLack, object: objects.get(kind) }];
  });
  const credentials = WITH_SECRETS.filter((kind) => volume[kind]?.secretRef?.name).map((kind) => ({
    path: `${path}.${kind}.secretRef`,
    resource: 'secrets',
    isOptional: true,
  }));
  const projected = (volume.projected?.sources ?? []).flatMap((projection, index) => {
    const objects = objectsNamed(projection.configMap?.name, projection.secret?.name);
    return entriesOf(PROJECTIONS).flatMap(([kind, resource]) => {
      const source = projection[kind];
      const at = `${path}.projected.sources[${index}].${kind}`;
      return source === undefined
        ? []
        : [{ path: at, resource, isOptional: isOptional(source), object: objects.get(kind) }];
    });
  });
  return [...own, ...credentials, ...projected];
}

function containerReferences(spec: PodSpec): Reference[] {
  return containersOf(spec).flatMap(({ container, field, index }) =>
    ofContainer(container).map((each) => ({ ...each, path: `spec.${field}[${index}].${each.path}` })),
  );
}

function ofContainer({ env = [], envFrom = [] }: Container): Reference[] {
  const reference = (path: string, kind: ConfigKind, source: SourceOfVariables | undefined): Reference[] => {
    const resource = kind === 'Secret' ? 'secrets' : 'configmaps';
    return source === undefined
      ? []
      : [{ path, resource, isOptional: isOptional(source), object: named(kind, source.name) }];
  };
  return [
    ...env.flatMap(({ valueFrom }, index) => [
      ...reference(`env[${index}].valueFrom.secretKeyRef`, 'Secret', valueFrom?.secretKeyRef),
      ...reference(`env[${index}].valueFrom.configMapKeyRef`, 'ConfigMap', valueFrom?.configMapKeyRef),
    ]),
    ...envFrom.flatMap(({ secretRef, configMapRef }, index) => [
      ...reference(`envFrom[${index}].secretRef`, 'Secret', secretRef),
      ...reference(`envFrom[${index}].configMapRef`, 'ConfigMap', configMapRef),
    ]),
  ];
}

interface SourceOfVariables {
  readonly name?: string | undefined;
}
