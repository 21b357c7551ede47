/**
 * Checks that a static pod does not reference API objects, because it must run without an API server (C24). ConfigMaps
 * and Secrets are an exception if the source of the pod can provide them.
 */
import type { ConfigKind } from '../../../objects/configObject.ts';
import { containersOf } from '../../pods/containers.ts';
import { formatValue, type Problem } from '../../problem.ts';
import type { Container } from '../../schema/container.ts';
import type { PodSpec } from '../../schema/pod.ts';
import type { Volume } from '../../schema/volume.ts';

/** A reference from a pod to an API object. */
interface SpecReference {
  readonly path: string;
  /** Resource of the object, as named in the kubelet's message. */
  readonly resource: string;
  /** Whether the pod can run without the object, because the reference is optional or has no effect. */
  readonly isOptional: boolean;
  /** The object in the pod's namespace. Undefined if the source of the pod cannot provide objects of its kind. */
  readonly object?: NamedObject | undefined;
}

interface NamedObject {
  readonly kind: ConfigKind;
  readonly name: string;
}

/** A reference of a static pod to a ConfigMap or Secret, with its path in the manifest. */
export interface RequiredObject extends NamedObject {
  readonly path: string;
  /** Whether the pod can run without the object. */
  readonly isOptional: boolean;
}

/** Settings for the check of references. */
export interface StaticRules {
  /** Whether to accept references that the pod can run without, for manifests that were written for a cluster. */
  readonly isLenient: boolean;
  /** Whether to accept references to ConfigMaps and Secrets, because the caller checks them with `requiredObjects`. */
  readonly acceptsObjects?: boolean;
}

/**
 * Reports each unacceptable reference and each projection without a source, like the kubelet (`HasAPIObjectReference`).
 */
export function validateStatic(spec: PodSpec, { isLenient, acceptsObjects = false }: StaticRules): Problem[] {
  const rejectedReferences = refusedReferences(spec, isLenient).filter(
    ({ object }) => !acceptsObjects || object === undefined,
  );
  return [...rejectedReferences.map(problemOf), ...emptyProjectionProblems(spec)];
}

function emptyProjectionProblems({ volumes = [] }: PodSpec): Problem[] {
  return volumes.flatMap(({ name, projected }, volume) =>
    (projected?.sources ?? []).flatMap((source, index) =>
      Object.keys(source).length > 0
        ? []
        : [
            {
              path: `spec.volumes[${volume}].projected.sources[${index}]`,
              message: `unknown source for projected volume ${formatValue(name)}`,
            },
          ],
    ),
  );
}

/**
 * Returns the objects that the source of a pod should provide. An object is repeated for each path that references it.
 */
export function requiredObjects(spec: PodSpec, isLenient: boolean): RequiredObject[] {
  return refusedReferences(spec, isLenient).flatMap(({ object, path, isOptional }) =>
    object === undefined ? [] : [{ ...object, path, isOptional }],
  );
}

function refusedReferences(spec: PodSpec, isLenient: boolean): SpecReference[] {
  const references = [...podReferences(spec), ...volumeReferences(spec), ...containerReferences(spec)];
  return references.filter(({ isOptional }) => !(isLenient && isOptional));
}

function problemOf({ path, resource, isOptional }: SpecReference): Problem {
  const hint = isOptional ? ' (accepted with --lenient-manifests)' : '';
  return { path, message: `static pods may not reference ${resource}${hint}` };
}

const toNamedObject = (kind: ConfigKind, name: string | undefined): NamedObject | undefined =>
  name ? { kind, name } : undefined;

const isOptional = (reference: object): boolean => 'optional' in reference && reference.optional === true;

function podReferences({
  serviceAccountName,
  serviceAccount,
  imagePullSecrets = [],
  resourceClaims,
}: PodSpec): SpecReference[] {
  const accountField = serviceAccountName ? 'serviceAccountName' : 'serviceAccount';
  return [
    ...(serviceAccountName || serviceAccount
      ? [{ path: `spec.${accountField}`, resource: 'serviceaccounts', isOptional: !serviceAccountName }]
      : []),
    ...imagePullSecrets.flatMap(({ name }, index) =>
      name
        ? [
            {
              path: `spec.imagePullSecrets[${index}]`,
              resource: 'secrets',
              isOptional: true,
              object: toNamedObject('Secret', name),
            },
          ]
        : [],
    ),
    ...(resourceClaims?.length ? [{ path: 'spec.resourceClaims', resource: 'resourceclaims', isOptional: false }] : []),
  ];
}

/**
 * Volume types that need an API object, mapped to the object's resource as named in the kubelet's message. The object
 * contains the data of the volume or its location.
 */
const VOLUME_RESOURCES = {
  secret: 'secrets',
  configMap: 'configmaps',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  azureFile: 'secrets',
} as const;

const PROJECTION_RESOURCES = {
  secret: 'secrets',
  configMap: 'configmaps',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
} as const;

/** Volume types with an optional Secret that contains credentials. */
const TYPES_WITH_SECRET = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const;

/**
 * Volume types that this node cannot mount. A lenient node accepts them here, because mounting them later fails with a
 * specific message.
 */
const UNSUPPORTED_TYPES: ReadonlySet<string> = new Set(['csi', 'glusterfs', 'azureFile']);

/** Safe cast, because `K` lists all keys of these constants. */
const typedEntries = <K extends string, V>(object: Readonly<Record<K, V>>) => Object.entries(object) as [K, V][];

function volumeReferences({ volumes = [] }: PodSpec): SpecReference[] {
  return volumes.flatMap((volume, index) => referencesOfVolume(volume, `spec.volumes[${index}]`));
}

/** Returns the objects that a volume or projection references, by source type. */
const objectsByType = (configMap: string | undefined, secret: string | undefined) =>
  new Map([
    ['configMap', toNamedObject('ConfigMap', configMap)],
    ['secret', toNamedObject('Secret', secret)],
  ]);

function referencesOfVolume(volume: Volume, path: string): SpecReference[] {
  const objects = objectsByType(volume.configMap?.name, volume.secret?.secretName);
  const volumeSources = typedEntries(VOLUME_RESOURCES).flatMap(([kind, resource]) => {
    const source = volume[kind];
    if (source === undefined) return [];
    const canRunWithoutObject = isOptional(source) || UNSUPPORTED_TYPES.has(kind);
    return [{ path: `${path}.${kind}`, resource, isOptional: canRunWithoutObject, object: objects.get(kind) }];
  });
  const credentialReferences = TYPES_WITH_SECRET.filter((kind) => volume[kind]?.secretRef?.name).map((kind) => ({
    path: `${path}.${kind}.secretRef`,
    resource: 'secrets',
    isOptional: true,
  }));
  const projectedReferences = (volume.projected?.sources ?? []).flatMap((projection, index) => {
    const objects = objectsByType(projection.configMap?.name, projection.secret?.name);
    return typedEntries(PROJECTION_RESOURCES).flatMap(([kind, resource]) => {
      const source = projection[kind];
      const problemPath = `${path}.projected.sources[${index}].${kind}`;
      return source === undefined
        ? []
        : [{ path: problemPath, resource, isOptional: isOptional(source), object: objects.get(kind) }];
    });
  });
  return [...volumeSources, ...credentialReferences, ...projectedReferences];
}

function containerReferences(spec: PodSpec): SpecReference[] {
  return containersOf(spec).flatMap(({ container, field, index }) =>
    referencesOfContainer(container).map((each) => ({ ...each, path: `spec.${field}[${index}].${each.path}` })),
  );
}

function referencesOfContainer({ env = [], envFrom = [] }: Container): SpecReference[] {
  const toReferences = (path: string, kind: ConfigKind, keySource: VariableSource | undefined): SpecReference[] => {
    const resource = kind === 'Secret' ? 'secrets' : 'configmaps';
    return keySource === undefined
      ? []
      : [{ path, resource, isOptional: isOptional(keySource), object: toNamedObject(kind, keySource.name) }];
  };
  return [
    ...env.flatMap(({ valueFrom }, index) => [
      ...toReferences(`env[${index}].valueFrom.secretKeyRef`, 'Secret', valueFrom?.secretKeyRef),
      ...toReferences(`env[${index}].valueFrom.configMapKeyRef`, 'ConfigMap', valueFrom?.configMapKeyRef),
    ]),
    ...envFrom.flatMap(({ secretRef, configMapRef }, index) => [
      ...toReferences(`envFrom[${index}].secretRef`, 'Secret', secretRef),
      ...toReferences(`envFrom[${index}].configMapRef`, 'ConfigMap', configMapRef),
    ]),
  ];
}

interface VariableSource {
  readonly name?: string | undefined;
}
