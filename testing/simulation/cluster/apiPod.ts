/** The fields of a pod at the API server that a simulation needs. */
import { type JsonObject, objectAt, textAt } from '../../apiserver/json.ts';
import { objectsAt } from '../../apiserver/registry/strategies/parts.ts';
import { metadataOf } from '../../apiserver/store/metadata.ts';

export interface ApiPod {
  readonly uid: string;
  /** The full name, `namespace/name`. */
  readonly pod: string;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  /** The UID of the static pod if this is its mirror pod. */
  readonly mirroredUid: string | undefined;
  readonly isDeleted: boolean;
  /** Empty if no phase has been reported. */
  readonly phase: string;
  readonly status: JsonObject;
  /** The ResourceClaims that the pod names. */
  readonly claims: readonly string[];
}

/** A write of a pod with its state before, if it existed, and after. For a deletion, `now` is the last state. */
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
    claims: objectsAt(objectAt(object, 'spec'), 'resourceClaims').map((claim) => textAt(claim, 'resourceClaimName')),
    phase: textAt(status, 'phase'),
    node: textAt(objectAt(object, 'spec'), 'nodeName'),
    isDeleted: deletionTimestamp !== undefined,
    mirroredUid: textAt(annotations, 'kubernetes.io/config.mirror') || undefined,
  };
}
