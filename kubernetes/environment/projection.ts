/** Computes the files of downward API, ConfigMap, Secret and projected volumes. */

import { NodeFailure } from '../../base/failure.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { Volume } from '../api/schema/volume.ts';
import type { ConfigKind, ConfigObject } from '../objects/configObject.ts';
import { fieldValue, resourceValue } from './fieldRef.ts';

export interface ProjectedFile {
  /** Path relative to the volume. */
  readonly path: string;
  readonly data: Buffer;
  readonly mode: number;
  /** UID of the owner. Undefined means root. */
  readonly owner?: number;
}

export type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
type DownwardItems = NonNullable<NonNullable<Volume['downwardAPI']>['items']>;
/**
 * Projection of a ConfigMap or Secret. Without items, it contains all keys. The object must exist unless the projection
 * is optional.
 */
export type ObjectProjection = NonNullable<Projection['configMap']>;

const FILE_MODE = 0o644;
const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4096;
const NO_ADDRESSES = { podIps: [], hostIps: [] };

/** Returns the projections of a volume. A downwardAPI, configMap or secret volume has exactly one. */
export function projectionsOf({ downwardAPI, projected, configMap, secret }: Volume): readonly Projection[] {
  if (downwardAPI !== undefined) return [{ downwardAPI }];
  if (configMap !== undefined) return [{ configMap }];
  if (secret !== undefined) return [{ secret: { ...secret, name: secret.secretName ?? '' } }];
  return projected?.sources ?? [];
}

/** Returns the default mode of the volume's files. */
export const defaultModeOf = ({ downwardAPI, projected, configMap, secret }: Volume): number =>
  (downwardAPI ?? projected ?? configMap ?? secret)?.defaultMode ?? FILE_MODE;

/** Whether the content of a mounted volume may change when the labels, annotations or resources of its pod change. */
export const dependsOnPod = ({ downwardAPI, projected }: Volume): boolean =>
  downwardAPI !== undefined || projected !== undefined;

/** Whether the volume contains data from outside its pod, which may change independently of the pod. */
export const dependsOnObjects = (volume: Volume): boolean =>
  projectionsOf(volume).some(({ downwardAPI }) => downwardAPI === undefined);

/** Returns the field paths of the pod that the volume references. */
export const fieldPathsOf = (volume: Volume): string[] =>
  projectionsOf(volume).flatMap(
    ({ downwardAPI }) => downwardAPI?.items?.flatMap(({ fieldRef }) => fieldRef?.fieldPath ?? []) ?? [],
  );

/** Whether the volume is always read-only for containers, because its content does not belong to the pod. */
export const isReadOnly = (volume: Volume): boolean =>
  dependsOnPod(volume) || (volume.configMap ?? volume.secret ?? volume.image) !== undefined;

/**
 * Returns the files of a downward API source. Missing limits default to `allocatable` (quantities by resource). Throws
 * `FailedMount`.
 */
export const downwardFiles = (
  pod: Pod,
  volume: Volume,
  {
    items = [],
    allocatable,
  }: { readonly items?: DownwardItems; readonly allocatable: Readonly<Record<string, string>> },
): ProjectedFile[] =>
  items.map((item) => ({
    path: item.path,
    data: Buffer.from(downwardValue(pod, volume, item, allocatable)),
    mode: item.mode ?? defaultModeOf(volume),
  }));

/**
 * Returns the files of an object, for all keys or for the listed items. Returns none if an optional object does not
 * exist. Throws `FailedMount` with the kubelet's message if a required key does not exist.
 */
export function objectFiles(
  kind: ConfigKind,
  object: Pick<ConfigObject, 'data'> | undefined,
  { items = [], optional, mode }: ObjectProjection & { readonly mode: number },
): ProjectedFile[] {
  const { data } = object ?? { data: new Map() };
  if (items.length === 0) return Array.from(data, ([path, value]) => ({ path, data: toBuffer(value), mode }));
  return items.flatMap((item) => {
    const value = data.get(item.key);
    if (value !== undefined) return [{ path: item.path, data: toBuffer(value), mode: item.mode ?? mode }];
    if (optional) return [];
    const prefix =
      kind === 'Secret' ? 'references non-existent secret key' : 'configmap references non-existent config key';
    throw new NodeFailure('FailedMount', `${prefix}: ${item.key}`);
  });
}

const toBuffer = (value: string | Buffer): Buffer => (typeof value === 'string' ? Buffer.from(value) : value);

/**
 * Returns the files with normalized paths. If several files have the same path, the last one takes effect. Throws
 * `FailedMount` for a path outside the volume.
 */
export function normalizeFiles(files: readonly ProjectedFile[]): ProjectedFile[] {
  const fileByPath = new Map(files.map((file) => [normalizePath(file.path), file] as const));
  return Array.from(fileByPath, ([path, file]) => ({ ...file, path }));
}

function downwardValue(
  pod: Pod,
  volume: Volume,
  item: DownwardItems[number],
  allocatable: Readonly<Record<string, string>>,
): string {
  const { fieldRef, resourceFieldRef } = item;
  const value = fieldRef
    ? fieldValue(pod, fieldRef.fieldPath, NO_ADDRESSES)
    : resourceFieldRef && resourceValue(pod, resourceFieldRef, { allocatable });
  if (value !== undefined) return value;
  const field = fieldRef?.fieldPath ?? resourceFieldRef?.resource ?? '';
  throw mountFailure(volume, `unsupported fieldPath ${field} of ${item.path}`);
}

/**
 * Throws `FailedMount` for a source that the node cannot provide, unless it is optional. A node without an API server
 * cannot provide API objects. Pod certificates are not supported at all.
 */
export function throwUnlessOptional(volume: Volume, { secret, configMap, ...source }: Projection): void {
  const { serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (podCertificate !== undefined) {
    const message = `podCertificate of "${podCertificate.signerName}" is not available: this node does not request certificates for pods`;
    throw mountFailure(volume, message);
  }
  if ((secret ?? configMap ?? clusterTrustBundle)?.optional) return;
  const sourceDescription =
    (secret && `secret "${secret.name ?? ''}"`) ??
    (configMap && `configMap "${configMap.name ?? ''}"`) ??
    (serviceAccountToken && `serviceAccountToken "${serviceAccountToken.path}"`) ??
    (clusterTrustBundle && `clusterTrustBundle "${clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? ''}"`);
  if (sourceDescription !== undefined)
    throw mountFailure(volume, `${sourceDescription} is not available: this node has no API server`);
}

/**
 * Normalizes a path. Throws if the path points outside the volume or to a name that is reserved for the volume's
 * internal files.
 */
function normalizePath(path: string): string {
  const names = path.split('/');
  const problem =
    path === ''
      ? 'must not be empty: ""'
      : path.startsWith('/')
        ? `must be relative path: ${path}`
        : Buffer.byteLength(path) > MAX_PATH_BYTES
          ? `must be less than or equal to ${MAX_PATH_BYTES} characters`
          : names.includes('..')
            ? `must not contain '..': ${path}`
            : names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)
              ? `filenames must be less than or equal to ${MAX_NAME_BYTES} characters`
              : undefined;
  const plainNames = names.filter((name) => name !== '' && name !== '.');
  const nameProblem =
    plainNames.length === 0
      ? 'must not be empty: "."'
      : plainNames[0]?.startsWith('..')
        ? `must not start with '..': ${path}`
        : undefined;
  const pathProblem = problem ?? nameProblem;
  if (pathProblem !== undefined) throw new NodeFailure('FailedMount', `invalid path: ${pathProblem}`);
  return plainNames.join('/');
}

function mountFailure(volume: Volume, message: string): NodeFailure {
  return new NodeFailure('FailedMount', `volume "${volume.name}": ${message}`);
}
