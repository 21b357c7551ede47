/** Pods that only show what a node runs by itself. */
import { type JsonObject, objectAt } from '../../../json.ts';

export const MIRROR = 'kubernetes.io/config.mirror';

export const isMirrorPod = (pod: JsonObject): boolean =>
  Object.hasOwn(objectAt(objectAt(pod, 'metadata'), 'annotations'), MIRROR);
