/** Checks the pods that a node creates, which must be mirror pods. */
import { lookUp } from '../../../base/values/lookUp.ts';
import { isObject, type Json, type JsonObject, objectAt, textAt } from '../json.ts';
import { listAt, objectsAt, specOf } from '../registry/strategies/parts.ts';
import { isMirrorPod, MIRROR } from '../registry/strategies/pods/mirrorPod.ts';
import { metadataOf } from '../store/metadata.ts';

/** Returns the reason why a node must not create a pod, or undefined if it may. `own` is the Node object. */
export function mirrorPodProblem(node: string, pod: JsonObject, own: JsonObject | undefined): string | undefined {
  const quoted = JSON.stringify(node);
  if (!isMirrorPod(pod))
    return `pod does not have ${JSON.stringify(MIRROR)} annotation, node ${quoted} can only create mirror pods`;
  if (textAt(specOf(pod), 'nodeName') !== node)
    return `node ${quoted} can only create pods with spec.nodeName set to itself`;
  const owner = ownerProblem(quoted, node, objectsAt(objectAt(pod, 'metadata'), 'ownerReferences'), own);
  if (owner !== undefined) return owner;
  const resource = referenced(specOf(pod));
  return resource === undefined ? undefined : `node ${quoted} can not create pods that reference ${resource}`;
}

function ownerProblem(
  quoted: string,
  node: string,
  owners: readonly JsonObject[],
  own: JsonObject | undefined,
): string | undefined {
  const [owner, ...others] = owners;
  if (others.length > 0) return `node ${quoted} can only create pods with a single owner reference set to itself`;
  const isSelf =
    owner !== undefined &&
    (['apiVersion', 'kind', 'name'] as const).map((name) => textAt(owner, name)).join(' ') === `v1 Node ${node}`;
  if (!isSelf) return `node ${quoted} can only create pods with an owner reference set to itself`;
  if (lookUp(owner, 'controller') !== true)
    return `node ${quoted} can only create pods with a controller owner reference set to itself`;
  if (lookUp(owner, 'blockOwnerDeletion') === true)
    return `node ${quoted} must not set blockOwnerDeletion on an owner reference`;
  const [expectedUid, uid] = [textAt(owner, 'uid'), metadataOf(own ?? {}).uid ?? ''];
  return expectedUid === uid ? undefined : `node ${node} UID mismatch: expected ${expectedUid} got ${uid}`;
}

/** The fields of a pod that refer to API objects, with their resources (`HasAPIObjectReference` of `api/pod`). */
const REFERENCES: readonly (readonly [field: string, resource: string])[] = [
  ['secretRef', 'secrets'],
  ['secretKeyRef', 'secrets'],
  ['secret', 'secrets'],
  ['configMapRef', 'configmaps'],
  ['configMapKeyRef', 'configmaps'],
  ['configMap', 'configmaps'],
  ['persistentVolumeClaim', 'persistentvolumeclaims'],
  ['ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'],
  ['csi', 'csidrivers (via CSI volumes)'],
  ['clusterTrustBundle', 'clustertrustbundles'],
  ['podCertificate', 'podcertificates'],
];

function referenced(spec: JsonObject): string | undefined {
  if (textAt(spec, 'serviceAccountName') !== '') return 'serviceaccounts';
  if (listAt(spec, 'imagePullSecrets').length > 0) return 'secrets';
  const found = REFERENCES.find(([field]) => hasField(spec, field));
  if (found !== undefined) return found[1];
  return listAt(spec, 'resourceClaims').length > 0 ? 'resourceclaims' : undefined;
}

function hasField(value: Json, field: string): boolean {
  if (Array.isArray(value)) return value.some((each: Json) => hasField(each, field));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([name, each]) => (name === field && isObject(each)) || hasField(each, field));
}
