/** Converts pods from an API server to the form in which the node runs them. */
import * as z from 'zod/mini';
import { runAllSteps } from '../../../base/async/steps.ts';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { isObject } from '../../../base/values/isObject.ts';
import { withDefaults } from '../defaults/defaults.ts';
import type { Problem } from '../problem.ts';
import { withoutManagedFields } from '../readObject.ts';
import { manifestMetaSchema } from '../schema/meta.ts';
import type { Pod } from '../schema/pod.ts';
import { validatePod } from '../validate.ts';
import { isoTime } from '../values/rfc3339.ts';
import { readStatus } from './apiStatus.ts';
import { readManifestInSteps } from './manifest.ts';

export type ApiPod = { readonly pod: Pod } | { readonly problems: readonly Problem[] };

const POD_TYPE = { apiVersion: 'v1', kind: 'Pod' };

/**
 * Reads a pod from an API object. Unknown fields are ignored. The API server has already validated the object, so
 * problems are reported only for features that this node does not support. `seenAt` is in milliseconds since the epoch.
 */
export const readApiPod = (object: unknown, seenAt: number): ApiPod => runAllSteps(readApiPodInSteps(object, seenAt));

/** Reads a pod like `readApiPod`, but in several steps, because reading a large pod takes a long time. */
export function* readApiPodInSteps(object: unknown, seenAt: number): Generator<void, ApiPod> {
  const result = yield* readManifestInSteps(withoutManagedFields(object, POD_TYPE));
  if ('problems' in result) return { problems: result.problems };
  yield;
  const { metadata, spec, apiVersion, kind } = result.pod;
  const { namespace = '', uid = '', annotations } = metadata;
  const sourceAnnotations = { 'kubernetes.io/config.seen': isoTime(seenAt), 'kubernetes.io/config.source': 'api' };
  const status = readStatus(statusOf(object));
  yield;
  const pod: Pod = withDefaults({
    apiVersion,
    kind,
    spec,
    metadata: { ...metadata, namespace, uid, annotations: { ...annotations, ...sourceAnnotations } },
    ...(status === undefined ? {} : { status }),
  });
  yield;
  const problems = validatePod(pod);
  return problems.length > 0 ? { problems } : { pod };
}

/**
 * Returns the pod for a new version of an object, reusing the volumes and containers of the previous version. Reuse is
 * possible if only the status has changed or the pod has been deleted. Otherwise returns undefined, because the whole
 * object must be read again.
 */
export function withReusedSpec(
  previous: { readonly object: unknown; readonly pod: Pod },
  object: unknown,
): Pod | undefined {
  if (!isJsonEqual(withoutVolatileFields(previous.object), withoutVolatileFields(object))) return undefined;
  const { success, data } = z.safeParse(volatileMetadataSchema, metadataOf(object));
  if (!success) return undefined;
  const { status, metadata, ...pod } = previous.pod;
  const newStatus = isJsonEqual(statusOf(previous.object), statusOf(object)) ? status : readStatus(statusOf(object));
  return withStatus({ ...pod, metadata: { ...withoutVolatileMetadata(metadata), ...data } }, newStatus);
}

/**
 * Returns the last readable version of a pod, with the status and the deletion timestamp of a later version that the
 * node cannot read.
 */
export function withReadableUpdates({ status: _, ...pod }: Pod, object: unknown): Pod {
  const { resourceVersion, deletionTimestamp, deletionGracePeriodSeconds: grace } = metadataOf(object);
  const updates = {
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    ...(typeof deletionTimestamp === 'string' ? { deletionTimestamp } : {}),
    ...(Number.isInteger(grace) ? { deletionGracePeriodSeconds: Number(grace) } : {}),
  };
  return withStatus({ ...pod, metadata: { ...pod.metadata, ...updates } }, readStatus(statusOf(object)));
}

const withStatus = (pod: Omit<Pod, 'status'>, status: Pod['status']): Pod =>
  status === undefined ? pod : { ...pod, status };

/** Fields of the metadata that change with a status update or a deletion. */
const VOLATILE_METADATA = {
  resourceVersion: true,
  generation: true,
  deletionTimestamp: true,
  deletionGracePeriodSeconds: true,
} as const;

const volatileMetadataSchema = z.pick(z.object(manifestMetaSchema.shape), VOLATILE_METADATA);

const withoutVolatileMetadata = <Metadata extends object>(
  metadata: Metadata,
): Omit<Metadata, keyof typeof VOLATILE_METADATA> => {
  const stableMetadata = { ...metadata };
  for (const field of Object.keys(VOLATILE_METADATA)) Reflect.deleteProperty(stableMetadata, field);
  return stableMetadata;
};

/** Returns the object without the fields that change with a status update or a deletion. */
function withoutVolatileFields(object: unknown): unknown {
  if (!isObject(object) || !isObject(object.metadata)) return object;
  const { status: _status, metadata: _metadata, ...stableFields } = object;
  const { managedFields: _fields, ...metadata } = object.metadata;
  return { ...stableFields, metadata: withoutVolatileMetadata(metadata) };
}

const metadataOf = (object: unknown): Readonly<Record<string, unknown>> =>
  isObject(object) && isObject(object.metadata) ? object.metadata : {};

/**
 * Returns the status as the server stores it, including nulls, which `readManifest` removes. Without them the status
 * would appear to differ, and the node would report it again.
 */
const statusOf = (object: unknown): unknown => (isObject(object) ? object.status : undefined);
