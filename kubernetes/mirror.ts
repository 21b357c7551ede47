/**
 * Creates and reads mirror pods, which represent static pods at an API server. A change to a mirror pod does not affect
 * its static pod (`pkg/kubelet/pod/mirror_client.go`).
 */
import * as z from 'zod/mini';
import { lookUp } from '../base/values/lookUp.ts';
import type { Pod } from './api/schema/pod.ts';

/** Annotation that identifies a mirror pod. Its value is the hash of the static pod. */
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
/** Annotation that contains the hash of a static pod, which is also the pod's UID on the node. */
const HASH_ANNOTATION = 'kubernetes.io/config.hash';

const mirrorSchema = z.looseObject({
  metadata: z.looseObject({
    namespace: z.string(),
    name: z.string(),
    uid: z.string(),
    deletionTimestamp: z.optional(z.string()),
    annotations: z.looseObject({ [MIRROR_ANNOTATION]: z.string() }),
  }),
});

/** A mirror pod as observed at the API server. */
export interface ObservedMirror {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /**
   * Hash of the static pod for which this mirror was created. It cannot be trusted, because other clients can set any
   * value.
   */
  readonly hash: string;
  /** Whether the mirror pod has a deletion timestamp. */
  readonly isDeleting: boolean;
}

type Annotations = Readonly<Record<string, string>> | undefined;

/**
 * Returns the hash of the static pod from the annotations of its mirror pod, or undefined if the annotations do not
 * belong to a mirror pod.
 */
export const mirroredHash = (annotations: Annotations): string | undefined => lookUp(annotations, MIRROR_ANNOTATION);

/** Parses an API object as a mirror pod. Returns undefined if the object is not a mirror pod. */
export function readMirror(object: unknown): ObservedMirror | undefined {
  const { success, data } = z.safeParse(mirrorSchema, object);
  if (!success) return undefined;
  const { namespace, name, uid, deletionTimestamp, annotations } = data.metadata;
  return { namespace, name, uid, hash: annotations[MIRROR_ANNOTATION], isDeleting: deletionTimestamp !== undefined };
}

/**
 * Whether a mirror pod is current, i.e. it represents the current version of the static pod and is not being deleted.
 */
export const isMirrorOf = ({ hash, isDeleting }: ObservedMirror, { metadata }: Pod): boolean =>
  !isDeleting && lookUp(metadata.annotations, HASH_ANNOTATION) === hash;

/**
 * Returns the mirror pod to create for a static pod. Only a node may create mirror pods, and only for its own static
 * pods.
 */
export function mirrorPod(
  { apiVersion, kind, metadata, spec }: Pod,
  node: { readonly name: string; readonly uid: string },
) {
  const hash = lookUp(metadata.annotations, HASH_ANNOTATION) ?? metadata.uid;
  return {
    apiVersion,
    kind,
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, [MIRROR_ANNOTATION]: hash },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', ...node, controller: true }],
    },
    spec,
    status: { phase: 'Pending' },
  };
}
