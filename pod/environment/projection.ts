/** The files that a volume shows without an API server: those of its own pod, and none of what is optional. */

import type { Pod } from '../api/schema/pod.ts';
import type { Volume } from '../api/schema/volume.ts';
import { NodeFailure } from '../failure.ts';
import { fieldValue, resourceValue } from './fieldRef.ts';

export interface ProjectedFile {
  /** Relative to the volume. */
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

export type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
type Items = NonNullable<NonNullable<Volume['downwardAPI']>['items']>;

const FILE_MODE = 0o644;
const NO_ADDRESSES = { podIps: [], hostIps: [] };

/** Whether what the volume shows can change while it is mounted: with the labels, annotations or resources of its pod. */
export const followsPod = ({ downwardAPI, projected }: Volume): boolean =>
  downwardAPI !== undefined || projected !== undefined;

/** The fields of its pod that the volume shows. */
export const fieldsShown = ({ downwardAPI, projected }: Volume): string[] =>
  [downwardAPI, ...(projected?.sources ?? []).map((source) => source.downwardAPI)].flatMap(
    (shown) => shown?.items?.flatMap(({ fieldRef }) => fieldRef?.fieldPath ?? []) ?? [],
  );

/** Whether containers can only read the volume, whatever they ask for: what it shows is not theirs. */
export const isReadOnly = (volume: Volume): boolean =>
  followsPod(volume) || (volume.configMap ?? volume.secret ?? volume.image) !== undefined;

/** Computes the files; `allocatable` (quantities by resource) stands in for limits that are not set. Throws `FailedMount`. */
export function projectedFiles(
  pod: Pod,
  volume: Volume,
  allocatable: Readonly<Record<string, string>>,
): readonly ProjectedFile[] {
  const { downwardAPI, projected, configMap, secret } = volume;
  const { defaultMode = FILE_MODE } = downwardAPI ?? projected ?? {};
  const filesOf = (items: Items = []) =>
    items.map((item) => ({
      path: cleanPath(volume, item.path),
      text: textOf(pod, volume, item, allocatable),
      mode: item.mode ?? defaultMode,
    }));
  if (downwardAPI !== undefined) return filesOf(downwardAPI.items);
  if (configMap !== undefined) refuseUnlessOptional(volume, { configMap });
  if (secret !== undefined) refuseUnlessOptional(volume, { secret: { ...secret, name: secret.secretName ?? '' } });
  return (projected?.sources ?? []).flatMap((source) => {
    if (source.downwardAPI !== undefined) return filesOf(source.downwardAPI.items);
    refuseUnlessOptional(volume, source);
    return [];
  });
}

function textOf(pod: Pod, volume: Volume, item: Items[number], allocatable: Readonly<Record<string, string>>): string {
  const { fieldRef, resourceFieldRef } = item;
  const value = fieldRef
    ? fieldValue(pod, fieldRef.fieldPath, NO_ADDRESSES)
    : resourceFieldRef && resourceValue(pod, resourceFieldRef, { allocatable });
  if (value !== undefined) return value;
  const field = fieldRef?.fieldPath ?? resourceFieldRef?.resource ?? '';
  throw refusal(volume, `unsupported fieldPath ${field} of ${item.path}`);
}

/** What lives in an API server cannot be had without one; what is optional is left out. */
function refuseUnlessOptional(volume: Volume, { secret, configMap, ...source }: Projection): void {
  const { serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if ((secret ?? configMap ?? clusterTrustBundle)?.optional) return;
  const named =
    (secret && `secret "${secret.name ?? ''}"`) ??
    (configMap && `configMap "${configMap.name ?? ''}"`) ??
    (serviceAccountToken && `serviceAccountToken "${serviceAccountToken.path}"`) ??
    (clusterTrustBundle && `clusterTrustBundle "${clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? ''}"`) ??
    (podCertificate && `podCertificate of "${podCertificate.signerName}"`);
  if (named !== undefined) throw refusal(volume, `${named} is not available: this node has no API server`);
}

/** A path of one or more plain names: nothing of it may lead out of the volume, or where the volume keeps its own. */
function cleanPath(volume: Volume, path: string): string {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  const problem =
    names.length === 0
      ? 'must not be empty'
      : path.startsWith('/')
        ? 'must be relative path'
        : names.includes('..')
          ? "must not contain '..'"
          : names[0]?.startsWith('..')
            ? "must not start with '..'"
            : undefined;
  if (problem !== undefined) throw refusal(volume, `invalid path ${JSON.stringify(path)}: ${problem}`);
  return names.join('/');
}

function refusal(volume: Volume, message: string): NodeFailure {
  return new NodeFailure('FailedMount', `volume "${volume.name}": ${message}`);
}
