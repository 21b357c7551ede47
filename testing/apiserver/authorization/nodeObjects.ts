/**
 * The objects that the pods of a node refer to (`plugin/pkg/auth/authorizer/node/graph_populator.go` of kubernetes).
 */
import { isObject, type Json, type JsonObject, objectAt, textAt } from '../json.ts';
import { objectsAt, specOf } from '../registry/strategies/parts.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Store } from '../store/store.ts';
import type { ResourceAttributes } from './attributes.ts';

type Named = Pick<ResourceAttributes, 'resource' | 'namespace' | 'name'>;

export function isRelatedToNode(node: string, { resource, namespace, name }: Named, store: Store): boolean {
  if (resource === 'volumeattachments') {
    const attachment = store.get('storage.k8s.io/volumeattachments', undefined, name);
    return attachment !== undefined && isBoundTo(node, attachment);
  }
  if (resource === 'pods') {
    const pod = store.get('/pods', namespace, name);
    return pod !== undefined && isBoundTo(node, pod);
  }
  const pods = podsOf(node, store).filter((pod) => namespace === '' || metadataOf(pod).namespace === namespace);
  return pods.some((pod) => namesIn(pod, resource, store).includes(name));
}

/** The pods that are bound to a node. */
const podsOf = (node: string, store: Store): JsonObject[] =>
  store
    .list('/pods')
    .map(([, pod]) => pod)
    .filter((pod) => isBoundTo(node, pod));

const isBoundTo = (node: string, object: JsonObject): boolean => textAt(specOf(object), 'nodeName') === node;

function namesIn(pod: JsonObject, resource: string, store: Store): string[] {
  const spec = specOf(pod);
  switch (resource) {
    case 'serviceaccounts':
      return [textAt(spec, 'serviceAccountName')];
    case 'secrets':
      return referenced(spec, SECRETS);
    case 'configmaps':
      return referenced(spec, CONFIG_MAPS);
    case 'persistentvolumeclaims':
      return claimsOf(spec);
    case 'persistentvolumes':
      return claimsOf(spec).map((claim) => volumeOf(claim, metadataOf(pod).namespace, store));
    case 'resourceclaims':
      return resourceClaimsOf(pod);
    default:
      return [];
  }
}

/** The ResourceClaims that a pod names, and those that were created for it. */
function resourceClaimsOf(pod: JsonObject): string[] {
  const status = objectAt(pod, 'status');
  return [
    ...objectsAt(specOf(pod), 'resourceClaims'),
    ...objectsAt(status, 'resourceClaimStatuses'),
    objectAt(status, 'extendedResourceClaimStatus'),
  ].map((each) => textAt(each, 'resourceClaimName'));
}

const claimsOf = (spec: JsonObject): string[] =>
  objectsAt(spec, 'volumes').map((volume) => textAt(objectAt(volume, 'persistentVolumeClaim'), 'claimName'));

function volumeOf(claim: string, namespace: string | undefined, store: Store): string {
  const found = store.get('/persistentvolumeclaims', namespace, claim);
  return textAt(specOf(found ?? {}), 'volumeName');
}

/** Maps each field that holds a reference, at any depth of a pod, to the reference's field with the object's name. */
type References = ReadonlyMap<string, string>;

const SECRETS: References = new Map([
  ['secret', 'secretName'],
  ['secretRef', 'name'],
  ['secretKeyRef', 'name'],
  ['imagePullSecrets', 'name'],
  ['nodePublishSecretRef', 'name'],
]);
const CONFIG_MAPS: References = new Map([
  ['configMap', 'name'],
  ['configMapRef', 'name'],
  ['configMapKeyRef', 'name'],
]);

function referenced(value: Json, references: References, within = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each: Json) => referenced(each, references, within));
  if (!isObject(value)) return [];
  const field = references.get(within);
  // A projected secret uses `name`, and a secret volume `secretName`.
  const name = field === undefined ? '' : textAt(value, field) || textAt(value, 'name');
  const below = Object.entries(value).flatMap(([key, each]) => referenced(each, references, key));
  return name === '' ? below : [name, ...below];
}
