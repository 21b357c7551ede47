/** A pod as an API server has it, as the node takes it. */
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
 * Reads an object of the API: fields that nobody knows are left out. It was checked when it was made; what the node could
 * not run of it all the same is a problem. `seenAt` is in milliseconds since the epoch.
 */
export function readApiPod(object: unknown, seenAt: number): ApiPod {
  const read = readManifest(withoutManagedFields(object, POD_TYPE));
  if ('problems' in read) return { problems: read.problems };
  const { metadata, spec, apiVersion, kind } = read.pod;
  const { namespace = '', uid = '', annotations } = metadata;
  const own = { 'kubernetes.io/config.seen': isoTime(seenAt), 'kubernetes.io/config.source': 'api' };
  const said = readStatus(statusOf(object));
  const pod: Pod = withDefaults({
    apiVersion,
    kind,
    spec,
    metadata: { ...metadata, namespace, uid, annotations: { ...annotations, ...own } },
    ...(said === undefined ? {} : { status: said }),
  });
  const problems = validatePod(pod);
  return problems.length > 0 ? { problems } : { pod };
}

/**
 * The pod of a later version of an object of which the status alone is another, its volumes and containers as they were
 * read; undefined where there is more to read.
 */
export function withOtherStatus(
  before: { readonly object: unknown; readonly pod: Pod },
  object: unknown,
): Pod | undefined {
  if (!sameValue(lastingOf(before.object), lastingOf(object))) return undefined;
  return withStatusOf(object, before.pod);
}

/** A pod as it was read last, where a later version of its object cannot be read: with the status and the deletion of that. */
export function asFarAsRead(pod: Pod, object: unknown): Pod {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = metadataIn(object);
  const later = withStatusOf(object, pod);
  const deletion = {
    ...(typeof deletionTimestamp === 'string' ? { deletionTimestamp } : {}),
    ...(Number.isInteger(grace) ? { deletionGracePeriodSeconds: Number(grace) } : {}),
  };
  return { ...later, metadata: { ...later.metadata, ...deletion } };
}

function withStatusOf(object: unknown, { status: _, ...pod }: Pod): Pod {
  const said = readStatus(statusOf(object));
  const { resourceVersion } = metadataIn(object);
  const version = typeof resourceVersion === 'string' ? { resourceVersion } : {};
  return { ...pod, metadata: { ...pod.metadata, ...version }, ...(said === undefined ? {} : { status: said }) };
}

/** What does not change with each word that somebody says of the pod. */
function lastingOf(object: unknown): unknown {
  if (!isObject(object) || !isObject(object.metadata)) return object;
  const { status: _status, metadata: _metadata, ...lasting } = object;
  const { resourceVersion: _version, managedFields: _fields, ...own } = object.metadata;
  return { ...lasting, metadata: own };
}

const metadataIn = (object: unknown): Readonly<Record<string, unknown>> =>
  isObject(object) && isObject(object.metadata) ? object.metadata : {};

/** As the server has it, with the nulls that a manifest is read without: a status without them would be told anew. */
const statusOf = (object: unknown): unknown => (isObject(object) ? object.status : undefined);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
