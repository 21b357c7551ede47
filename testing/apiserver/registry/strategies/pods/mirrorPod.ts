/** Mirror pods, which show the static pods of a node. */
import { type JsonObject, objectAt } from '../../../json.ts';

export const MIRROR = 'kubernetes.io/config.mirror';

export const isMirrorPod = (pod: JsonObject): boolean =>
  Object.hasOwn(objectAt(objectAt(pod, 'metadata'), 'annotations'), MIRROR);
