/** Converts pods of an API server to the form in which the node runs them. */
import { isObject } from '../../base/isObject.ts';
import { sameValue } from '../../base/sameValue.ts';
import { readStatus } from './apiStatus.ts';
import { withDefaults } from './defaults.ts';
import { readManifest } from './manifest.ts';
import type { Problem } from './problem.ts';
import { withoutManagedFields } from './readObject.ts';
import { isoTime } from './rfc3339.ts';
import type { Pod } from './schema/pod.ts';
import { validatePod } from './validate.ts';

export type ApiPod = { readonly pod: Pod } | { readonly problems: readonly Problem[] };

const POD_TYPE = { apiVersion: 'v1', kind: 'Pod' };

/**
 * Reads a pod from an API object. Unknown fields are ignored. The API server has already validated the object, so
 * problems are reported only for features that this node does not support. `seenAt` is in milliseconds since the epoch.
 */
export function readApiPod(object: unknown, seenAt: number): ApiPod {
  const result = readManifest(withoutManagedFields(object, POD_TYPE));
  if ('problems' in result) return { problems: result.problems };
  const { metadata, spec, apiVersion, kind } = result.pod;
  const { namespace = '', uid = '', annotations } = metadata;
  const sourceAnnotations = { 'kubernetes.io/config.seen': isoTime(seenAt), 'kubernetes.io/config.source': 'api' };
  const status = readStatus(statusOf(object));
  const pod: Pod = withDefaults({
    apiVersion,
    kind,
    spec,
    metadata: { ...metadata, namespace, uid, annotations: { ...annotations, ...sourceAnnotations } },
    ...(status === undefined ? {} : { status }),
  });
  const problems = validatePod(pod);
  return problems.length > 0 ? { problems } : { pod };
}

/**
 * Returns the pod of a new version of an object if only the status has changed. It reuses the volumes and containers of
 * the previous version. Returns undefined if the object has to be read again.
 */
export function withChangedStatus(
  previous: { readonly object: unknown; readonly pod: Pod },
  object: unknown,
): Pod | undefined {
  if (!sameValue(withoutVolatileFields(previous.object), withoutVolatileFields(object))) return undefined;
  return withStatusOf(object, previous.pod);
}

/**
 * Returns the last readable version of a pod, with the status and the deletion timestamp of a later version that the
 * node cannot read.
 */
export function withReadableUpdates(pod: Pod, object: unknown): Pod {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = metadataOf(object);
  const withNewStatus = withStatusOf(object, pod);
  const deletion = {
    ...(typeof deletionTimestamp === 'string' ? { deletionTimestamp } : {}),
    ...(Number.isInteger(grace) ? { deletionGracePeriodSeconds: Number(grace) } : {}),
  };
  return { ...withNewStatus, metadata: { ...withNewStatus.metadata, ...deletion } };
}

function withStatusOf(object: unknown, { status: _, ...pod }: Pod): Pod {
  const newStatus = readStatus(statusOf(object));
  const { resourceVersion } = metadataOf(object);
  const version = typeof resourceVersion === 'string' ? { resourceVersion } : {};
  return {
    ...pod,
    metadata: { ...pod.metadata, ...version },
    ...(newStatus === undefined ? {} : { status: newStatus }),
  };
}

/** Returns the object without the fields that change with every status update. */
function withoutVolatileFields(object: unknown): unknown {
  if (!isObject(object) || !isObject(object.metadata)) return object;
  const { status: _status, metadata: _metadata, ...stableFields } = object;
  const { resourceVersion: _version, managedFields: _fields, ...stableMetadata } = object.metadata;
  return { ...stableFields, metadata: stableMetadata };
}

const metadataOf = (object: unknown): Readonly<Record<string, unknown>> =>
  isObject(object) && isObject(object.metadata) ? object.metadata : {};

/**
 * Returns the status as the server stores it, including nulls, which are lost when a manifest is read. If the nulls
 * were missing, the node would report the status again.
 */
const statusOf = (object: unknown): unknown => (isObject(object) ? object.status : undefined);
