/** A pod as the API server has it, as far as a simulation looks at it. */
import { type JsonObject, objectAt, textAt } from '../../apiserver/json.ts';
import { metadataOf } from '../../apiserver/store/metadata.ts';

export interface ApiPod {
  readonly uid: string;
  /** Its full name. */
  readonly pod: string;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  /** The UID of the static pod that it is the mirror of; absent: it is none. */
  readonly mirrored: string | undefined;
  readonly isDeleted: boolean;
  /** Empty where nobody has told one. */
  readonly phase: string;
  readonly status: JsonObject;
}

/** A write of a pod: as it was, if it was there, and as it is now; of one that is gone, as it was last. */
export interface PodWrite {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly before: ApiPod | undefined;
  readonly now: ApiPod;
}

export function apiPodOf(object: JsonObject): ApiPod {
  const { uid = '', namespace = '', name = '', deletionTimestamp } = metadataOf(object);
  const annotations = objectAt(objectAt(object, 'metadata'), 'annotations');
  const status = objectAt(object, 'status');
  return {
    uid,
    namespace,
    name,
    pod: `${namespace}/${name}`,
    status,
    phase: textAt(status, 'phase'),
    node: textAt(objectAt(object, 'spec'), 'nodeName'),
    isDeleted: deletionTimestamp !== undefined,
    mirrored: textAt(annotations, 'kubernetes.io/config.mirror') || undefined,
  };
}
