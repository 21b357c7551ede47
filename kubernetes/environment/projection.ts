/** The files that a volume shows: fields of its own pod, and what it takes from ConfigMaps and Secrets. */

import { NodeFailure } from '../../base/failure.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { Volume } from '../api/schema/volume.ts';
import type { ConfigKind, ConfigObject } from '../objects/configObject.ts';
import { fieldValue, resourceValue } from './fieldRef.ts';

export interface ProjectedFile {
  /** Relative to the volume. */
  readonly path: string;
  readonly data: Buffer;
  readonly mode: number;
  /** The user who owns it; absent: root. */
  readonly owner?: number;
}

export type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
type DownwardItems = NonNullable<NonNullable<Volume['downwardAPI']>['items']>;
/** What of an object a volume shows: all keys of one that has to be there, unless it says otherwise. */
export type ObjectProjection = NonNullable<Projection['configMap']>;

const FILE_MODE = 0o644;
const LONGEST_NAME = 255;
const LONGEST_PATH = 4096;
const NO_ADDRESSES = { podIps: [], hostIps: [] };

/** The parts that a volume shows, a volume of one part as well. */
export function projectionsOf({ downwardAPI, projected, configMap, secret }: Volume): readonly Projection[] {
  if (downwardAPI !== undefined) return [{ downwardAPI }];
  if (configMap !== undefined) return [{ configMap }];
  if (secret !== undefined) return [{ secret: { ...secret, name: secret.secretName ?? '' } }];
  return projected?.sources ?? [];
}

/** The rights of its files where they have none of their own. */
export const modeOf = ({ downwardAPI, projected, configMap, secret }: Volume): number =>
  (downwardAPI ?? projected ?? configMap ?? secret)?.defaultMode ?? FILE_MODE;

/** Whether what the volume shows can change while it is mounted: with the labels, annotations or resources of its pod. */
export const followsPod = ({ downwardAPI, projected }: Volume): boolean =>
  downwardAPI !== undefined || projected !== undefined;

/** Whether it shows what others than its pod have, and may change. */
export const showsObjects = (volume: Volume): boolean =>
  projectionsOf(volume).some(({ downwardAPI }) => downwardAPI === undefined);

/** The fields of its pod that the volume shows. */
export const fieldsShown = (volume: Volume): string[] =>
  projectionsOf(volume).flatMap(
    ({ downwardAPI }) => downwardAPI?.items?.flatMap(({ fieldRef }) => fieldRef?.fieldPath ?? []) ?? [],
  );

/** Whether containers can only read the volume, whatever they ask for: what it shows is not theirs. */
export const isReadOnly = (volume: Volume): boolean =>
  followsPod(volume) || (volume.configMap ?? volume.secret ?? volume.image) !== undefined;

/** Fields of the pod; `allocatable` (quantities by resource) stands in for limits that are not set. Throws `FailedMount`. */
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
    data: Buffer.from(textOf(pod, volume, item, allocatable)),
    mode: item.mode ?? modeOf(volume),
  }));

/**
 * The keys of an object, or those that are named; an object that may be missing, and is, has none. Throws `FailedMount`
 * for a key that has to be there, in the words of a kubelet.
 */
export function objectFiles(
  kind: ConfigKind,
  object: Pick<ConfigObject, 'data'> | undefined,
  { items = [], optional, mode }: ObjectProjection & { readonly mode: number },
): ProjectedFile[] {
  const { data } = object ?? { data: new Map() };
  if (items.length === 0) return Array.from(data, ([path, value]) => ({ path, data: bytesOf(value), mode }));
  return items.flatMap((item) => {
    const value = data.get(item.key);
    if (value !== undefined) return [{ path: item.path, data: bytesOf(value), mode: item.mode ?? mode }];
    if (optional) return [];
    const prefix =
      kind === 'Secret' ? 'references non-existent secret key' : 'configmap references non-existent config key';
    throw new NodeFailure('FailedMount', `${prefix}: ${item.key}`);
  });
}

const bytesOf = (value: string | Buffer): Buffer => (typeof value === 'string' ? Buffer.from(value) : value);

/** What a volume shows by clean paths, each once: of two at one path the later. Throws `FailedMount` for one that leads out. */
export function cleanFiles(files: readonly ProjectedFile[]): ProjectedFile[] {
  const byPath = new Map(files.map((file) => [cleanPath(file.path), file] as const));
  return Array.from(byPath, ([path, file]) => ({ ...file, path }));
}

function textOf(
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
  throw refusal(volume, `unsupported fieldPath ${field} of ${item.path}`);
}

/**
 * Fails with `FailedMount` for a source that the node cannot read: an object of an API server on a node without one, or a
 * certificate for the pod, which the node does not request even in a cluster. Returns for an optional source.
 */
export function refuseUnlessOptional(volume: Volume, { secret, configMap, ...source }: Projection): void {
  const { serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (podCertificate !== undefined) {
    const message = `podCertificate of "${podCertificate.signerName}" is not available: this node does not request certificates for pods`;
    throw refusal(volume, message);
  }
  if ((secret ?? configMap ?? clusterTrustBundle)?.optional) return;
  const named =
    (secret && `secret "${secret.name ?? ''}"`) ??
    (configMap && `configMap "${configMap.name ?? ''}"`) ??
    (serviceAccountToken && `serviceAccountToken "${serviceAccountToken.path}"`) ??
    (clusterTrustBundle && `clusterTrustBundle "${clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? ''}"`);
  if (named !== undefined) throw refusal(volume, `${named} is not available: this node has no API server`);
}

/** A path of one or more plain names: nothing of it may lead out of the volume, or where the volume keeps its own. */
function cleanPath(path: string): string {
  const names = path.split('/');
  const problem =
    path === ''
      ? 'must not be empty: ""'
      : path.startsWith('/')
        ? `must be relative path: ${path}`
        : Buffer.byteLength(path) > LONGEST_PATH
          ? `must be less than or equal to ${LONGEST_PATH} characters`
          : names.includes('..')
            ? `must not contain '..': ${path}`
            : names.some((name) => Buffer.byteLength(name) > LONGEST_NAME)
              ? `filenames must be less than or equal to ${LONGEST_NAME} characters`
              : undefined;
  const plain = names.filter((name) => name !== '' && name !== '.');
  const own =
    plain.length === 0
      ? 'must not be empty: "."'
      : plain[0]?.startsWith('..')
        ? `must not start with '..': ${path}`
        : undefined;
  const found = problem ?? own;
  if (found !== undefined) throw new NodeFailure('FailedMount', `invalid path: ${found}`);
  return plain.join('/');
}

function refusal(volume: Volume, message: string): NodeFailure {
  return new NodeFailure('FailedMount', `volume "${volume.name}": ${message}`);
}
