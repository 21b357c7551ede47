/** Restricts the writes of a node to its own objects (`plugin/pkg/admission/noderestriction`). */

import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { nodeOf } from '../authorization/nodeAuthorizer.ts';
import { Failure, forbidden } from '../failures/failures.ts';
import { type JsonObject, objectAt, textAt } from '../json.ts';
import { objectsAt, specOf } from '../registry/strategies/parts.ts';
import { metadataOf } from '../store/metadata.ts';
import { forbiddenLabels } from './kubeletLabels.ts';
import { mirrorPodProblem } from './mirrorPods.ts';
import type { AdmissionRequest, Plugin } from './plugin.ts';

type Problem = string | undefined;

export const nodeRestriction: Plugin = (request) => {
  const node = nodeOf(request.user);
  if (node === undefined) return undefined;
  const { resource, name } = request.target;
  const problem = problemOf(node, request);
  const called = name ?? metadataOf(request.object ?? request.before ?? {}).name ?? '';
  if (problem !== undefined) throw forbidden(resource, called, problem);
  return undefined;
};

function problemOf(node: string, request: AdmissionRequest): Problem {
  const { resource, subresource } = request.target;
  switch (resource.name) {
    case 'pods':
      return subresource === undefined
        ? podProblem(node, request)
        : podSubresourceProblem(node, request, subresource.name);
    case 'nodes':
      return nodeProblem(node, request);
    case 'leases':
      return hasNodeName(node, request)
        ? undefined
        : 'can only access node lease with the same name as the requesting node';
    case 'csinodes':
      return hasNodeName(node, request)
        ? undefined
        : 'can only access CSINode with the same name as the requesting node';
    case 'serviceaccounts':
      return subresource?.name === 'token' ? tokenProblem(node, request) : undefined;
    default:
      return undefined;
  }
}

const hasNodeName = (node: string, { target, object }: AdmissionRequest): boolean =>
  (target.name ?? metadataOf(object ?? {}).name) === node;

const nodeNameOf = (pod: JsonObject | undefined): string => textAt(specOf(pod ?? {}), 'nodeName');

function podProblem(node: string, { object, before, registry }: AdmissionRequest): Problem {
  const quoted = JSON.stringify(node);
  if (object !== undefined && before === undefined)
    return mirrorPodProblem(node, object, registry.store.get('/nodes', undefined, node));
  if (object !== undefined)
    return `unexpected operation "UPDATE", node ${quoted} can only create and delete mirror pods`;
  return nodeNameOf(before) === node
    ? undefined
    : `node ${quoted} can only delete pods with spec.nodeName set to itself`;
}

function podSubresourceProblem(node: string, request: AdmissionRequest, part: string): Problem {
  if (part === 'eviction') return evictionProblem(node, request);
  if (part !== 'status')
    return `unexpected pod subresource ${JSON.stringify(part)}, only 'status' and 'eviction' are allowed`;
  const { object = {}, before = {} } = request;
  const quoted = JSON.stringify(node);
  if (nodeNameOf(before) !== node)
    return `node ${quoted} can only update pod status for pods with spec.nodeName set to itself`;
  const [own, had] = [object, before].map((pod) => objectAt(objectAt(pod, 'metadata'), 'labels'));
  return isJsonEqual(own, had) ? undefined : `node ${quoted} cannot update labels through pod status`;
}

function evictionProblem(node: string, { target: { namespace, name = '' }, registry }: AdmissionRequest): Problem {
  const pod = requirePod(registry.store.get('/pods', namespace, name), name);
  return nodeNameOf(pod) === node ? undefined : `node ${node} can only evict pods with spec.nodeName set to itself`;
}

/**
 * Returns the pod. If it does not exist, throws a `Failure` with the message of the plugin's lister, which uses the
 * singular `pod`.
 */
function requirePod(pod: JsonObject | undefined, name: string): JsonObject {
  if (pod !== undefined) return pod;
  throw new Failure(404, 'NotFound', `pod ${JSON.stringify(name)} not found`, { name, kind: 'pod' });
}

function nodeProblem(node: string, { target, object, before }: AdmissionRequest): Problem {
  const quoted = JSON.stringify(node);
  const name = target.name ?? metadataOf(object ?? {}).name ?? '';
  if (name !== node) return `node ${quoted} is not allowed to modify node ${JSON.stringify(name)}`;
  if (object === undefined) return undefined;
  const [own, had] = [object, before ?? {}].map((each) => objectAt(each, 'metadata')) as [JsonObject, JsonObject];
  const labels = forbiddenLabels(objectAt(own, 'labels'), objectAt(had, 'labels'));
  if (before === undefined)
    return labels.length > 0
      ? `node ${quoted} is not allowed to set the following labels: ${labels.join(', ')}`
      : undefined;
  if (!isJsonEqual(lookUp(specOf(object), 'taints'), lookUp(specOf(before), 'taints')))
    return `node ${quoted} is not allowed to modify taints`;
  if (!isJsonEqual(lookUp(own, 'ownerReferences'), lookUp(had, 'ownerReferences')))
    return `node ${quoted} is not allowed to modify ownerReferences`;
  return labels.length > 0 ? `is not allowed to modify labels: ${labels.join(', ')}` : undefined;
}

/**
 * Returns the reason why a node's token request is invalid. The token must be bound to a pod of the node, and its
 * audience must be one that the pod uses.
 */
function tokenProblem(node: string, { target: { namespace }, object = {}, user, registry }: AdmissionRequest): Problem {
  const spec = specOf(object);
  const bound = objectAt(spec, 'boundObjectRef');
  const [name, uid] = [textAt(bound, 'name'), textAt(bound, 'uid')];
  if (textAt(bound, 'apiVersion') !== 'v1' || textAt(bound, 'kind') !== 'Pod' || name === '')
    return 'node requested token not bound to a pod';
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = requirePod(registry.store.get('/pods', namespace, name), name);
  if (metadataOf(pod).uid !== uid)
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  if (nodeNameOf(pod) !== node) return 'node requested token bound to a pod scheduled on a different node';
  return audienceProblem(pod, lookUp(spec, 'audiences'), user.name);
}

function audienceProblem(pod: JsonObject, requested: unknown, user: string): Problem {
  const audiences: readonly unknown[] = Array.isArray(requested) ? requested : [];
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const audience = String(audiences[0] ?? '');
  const sources = objectsAt(specOf(pod), 'volumes').flatMap((volume) =>
    objectsAt(objectAt(volume, 'projected'), 'sources'),
  );
  const isNamed = sources.some((source) => {
    const token = lookUp(source, 'serviceAccountToken');
    return token !== undefined && textAt(objectAt(source, 'serviceAccountToken'), 'audience') === audience;
  });
  const problem = `audience ${JSON.stringify(audience)} not found in pod spec volume`;
  return isNamed ? undefined : `${problem}, ${user} is not authorized to request tokens for this audience`;
}
