/** Mirror pods: by one of these an API server shows a static pod, which it has no say in (`pkg/kubelet/pod/mirror_client.go`). */
import * as z from 'zod/mini';
import { lookUp } from '../base/lookUp.ts';
import type { Pod } from './api/schema/pod.ts';

/** Marks a mirror, whoever has made it, and says of which static pod it is. */
const MIRROR = 'kubernetes.io/config.mirror';
/** What a static pod is known by, which is its UID on the node. */
const HASH = 'kubernetes.io/config.hash';

const mirrorSchema = z.looseObject({
  metadata: z.looseObject({
    namespace: z.string(),
    name: z.string(),
    uid: z.string(),
    deletionTimestamp: z.optional(z.string()),
    annotations: z.looseObject({ [MIRROR]: z.string() }),
  }),
});

/** A mirror as the server has it. */
export interface SeenMirror {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The hash of the static pod that it was made for; whatever somebody has written there. */
  readonly hash: string;
  /** It is on its way out. */
  readonly isDeleting: boolean;
}

type Annotations = Readonly<Record<string, string>> | undefined;

/** Of which static pod a pod of the server is the mirror; undefined: it is none. */
export const mirroredHash = (annotations: Annotations): string | undefined => lookUp(annotations, MIRROR);

/** An object of the API as the mirror that it is; undefined: it is none. */
export function readMirror(object: unknown): SeenMirror | undefined {
  const { success, data } = z.safeParse(mirrorSchema, object);
  if (!success) return undefined;
  const { namespace, name, uid, deletionTimestamp, annotations } = data.metadata;
  return { namespace, name, uid, hash: annotations[MIRROR], isDeleting: deletionTimestamp !== undefined };
}

/** Whether the server's is the mirror of a static pod as that is now. */
export const isMirrorOf = ({ hash, isDeleting }: SeenMirror, { metadata }: Pod): boolean =>
  !isDeleting && lookUp(metadata.annotations, HASH) === hash;

/** What a server is to make so that it shows a static pod; only a node may make it, and only as its own. */
export function mirrorPod(
  { apiVersion, kind, metadata, spec }: Pod,
  node: { readonly name: string; readonly uid: string },
) {
  const hash = lookUp(metadata.annotations, HASH) ?? metadata.uid;
  return {
    apiVersion,
    kind,
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, [MIRROR]: hash },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', ...node, controller: true }],
    },
    spec,
    status: { phase: 'Pending' },
  };
}
