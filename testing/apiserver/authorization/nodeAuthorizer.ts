/** The Node authorizer (`plugin/pkg/auth/authorizer/node` of kubernetes, and the rules of `bootstrappolicy`). */
import type { User } from '../requests/request.ts';
import type { Store } from '../store/store.ts';
import type { ResourceAttributes } from './attributes.ts';
import type { Decision } from './decision.ts';
import { isRelatedToNode } from './nodeObjects.ts';

const PREFIX = 'system:node:';
const ALLOWED: Decision = { isAllowed: true, reason: '' };
const denied = (reason = ''): Decision => ({ isAllowed: false, reason });

/** Returns the node's name if the user is a node. */
export const nodeOf = ({ name, groups }: User): string | undefined =>
  groups.includes('system:nodes') && name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;

type Rule = (node: string, attributes: ResourceAttributes, store: Store) => Decision;

const READ = ['get', 'list', 'watch'] as const;
const WRITE = ['update', 'patch'] as const;
const OWN = ['get', 'create', ...WRITE, 'delete'] as const;

const includesVerb = (verbs: readonly string[], verb: string): boolean => verbs.includes(verb);

/** Allows access to an object only if it is related to a pod of the node. */
function decideByRelation(node: string, attributes: ResourceAttributes, store: Store): Decision {
  if (attributes.name === '') return denied('No Object name found');
  return isRelatedToNode(node, attributes, store)
    ? ALLOWED
    : denied(`no relationship found between node '${node}' and this object`);
}

const readable: Rule = (node, attributes, store) => {
  if (!includesVerb(READ, attributes.verb)) return denied('can only read resources of this type');
  if (attributes.subresource !== '') return denied('cannot read subresource');
  if (attributes.namespace === '') return denied('can only read namespaced object of this type');
  return decideByRelation(node, attributes, store);
};

const gettable: Rule = (node, attributes, store) => {
  if (attributes.verb !== 'get') return denied('can only get individual resources of this type');
  return attributes.subresource === '' ? decideByRelation(node, attributes, store) : denied('cannot get subresource');
};

const claim: Rule = (node, attributes, store) => {
  if (attributes.subresource !== 'status') return gettable(node, attributes, store);
  return includesVerb(WRITE, attributes.verb)
    ? decideByRelation(node, attributes, store)
    : denied('can only get/update/patch this type');
};

const account: Rule = (node, attributes, store) => {
  if (attributes.verb === 'get' && attributes.subresource === '') return readable(node, attributes, store);
  if (attributes.verb !== 'create' || attributes.name === '')
    return denied('can only create tokens for individual service accounts');
  if (attributes.subresource !== 'token') return denied('can only create token subresource of serviceaccount');
  return decideByRelation(node, attributes, store);
};

const LEASES = 'kube-node-lease';

const lease: Rule = (node, { verb, namespace, name }) => {
  if (!includesVerb(OWN, verb)) return denied('can only get, create, update, patch, or delete a node lease');
  if (namespace !== LEASES) return denied(`can only access leases in the ${JSON.stringify(LEASES)} system namespace`);
  if (verb !== 'create' && name !== node)
    return denied('can only access node lease with the same name as the requesting node');
  return ALLOWED;
};

const csiNode: Rule = (node, { verb, subresource, name }) => {
  if (!includesVerb(OWN, verb)) return denied('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return denied('cannot authorize CSINode subresources');
  if (verb !== 'create' && name !== node)
    return denied('can only access CSINode with the same name as the requesting node');
  return ALLOWED;
};

const slices: Rule = (node, { verb, fieldSelector }) =>
  includesVerb(['list', 'watch', 'deletecollection'], verb) && fieldSelector.get('spec.nodeName') === node
    ? ALLOWED
    : denied('can only list/watch/deletecollection resourceslices with nodeName field selector');

const nodeObject: Rule = (node, { verb, subresource, name }) => {
  if (subresource === 'status') return includesVerb(WRITE, verb) ? ALLOWED : denied();
  if (subresource !== '') return denied();
  if (includesVerb(['create', ...WRITE], verb)) return ALLOWED;
  if (!includesVerb(READ, verb)) return denied();
  if (name === node) return ALLOWED;
  const what = name === '' ? 'all nodes' : `'${name}'`;
  return denied(`node '${node}' cannot read ${what}, only its own Node object`);
};

const pod: Rule = (node, attributes, store) => {
  const { verb, subresource, fieldSelector, name } = attributes;
  if (subresource === 'status') return includesVerb(WRITE, verb) ? ALLOWED : denied();
  if (subresource === 'eviction') return verb === 'create' ? ALLOWED : denied();
  if (subresource !== '') return denied();
  if (verb === 'get') return gettable(node, attributes, store);
  if (includesVerb(['create', 'delete'], verb)) return ALLOWED;
  if (!includesVerb(['list', 'watch'], verb)) return denied();
  if (fieldSelector.get('spec.nodeName') === node) return ALLOWED;
  return name === ''
    ? denied('can only list/watch pods with spec.nodeName field selector')
    : decideByRelation(node, attributes, store);
};

const RULES: ReadonlyMap<string, Rule> = new Map([
  ['/secrets', readable],
  ['/configmaps', readable],
  ['/persistentvolumeclaims', claim],
  ['/persistentvolumes', gettable],
  ['storage.k8s.io/volumeattachments', gettable],
  ['/serviceaccounts', account],
  ['coordination.k8s.io/leases', lease],
  ['storage.k8s.io/csinodes', csiNode],
  ['resource.k8s.io/resourceclaims', gettable],
  ['resource.k8s.io/resourceslices', slices],
  ['/nodes', nodeObject],
  ['/pods', pod],
]);

/** The verbs that any node may use, by resource. */
const UNCONDITIONAL: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['/services', READ],
  ['/events', ['create', ...WRITE]],
  ['/endpoints', ['get']],
  ['events.k8s.io/events', ['create', ...WRITE]],
  ['authentication.k8s.io/tokenreviews', ['create']],
  ['authorization.k8s.io/subjectaccessreviews', ['create']],
  ['certificates.k8s.io/certificatesigningrequests', ['create', ...READ]],
  ['certificates.k8s.io/clustertrustbundles', READ],
  ['node.k8s.io/runtimeclasses', READ],
  ['storage.k8s.io/csidrivers', READ],
]);

export function decideForNode(node: string, attributes: ResourceAttributes, store: Store): Decision {
  const name = `${attributes.group}/${attributes.resource}`;
  const rule = RULES.get(name);
  if (rule !== undefined) return rule(node, attributes, store);
  return attributes.subresource === '' && includesVerb(UNCONDITIONAL.get(name) ?? [], attributes.verb)
    ? ALLOWED
    : denied();
}
