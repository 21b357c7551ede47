/** Authorization: administrators, grants, bootstrap tokens, nodes, and the rules for everybody. */
import { Failure } from '../failures/failures.ts';
import type { User } from '../requests/request.ts';
import type { Store } from '../store/store.ts';
import type { Attributes, PathAttributes, ResourceAttributes } from './attributes.ts';
import type { Decision } from './decision.ts';
import { type Grant, isGranted } from './grants.ts';
import { decideForNode, nodeOf } from './nodeAuthorizer.ts';

const ALLOWED: Decision = { isAllowed: true, reason: '' };
/** The kube-apiserver names the role here. */
const BY_ROLE: Decision = { isAllowed: true, reason: 'RBAC: allowed by a role' };
const DENIED: Decision = { isAllowed: false, reason: '' };

/**
 * The paths that every authenticated user may read, and those that anybody may read (`rbac/bootstrappolicy/policy.go`).
 */
const DISCOVERY = /^\/(?:api|apis|openapi)(?:\/.*)?$/;
const PUBLIC = /^\/(?:healthz|livez|readyz|version)\/?$/;
/** Reviews that every user may create about itself. */
const SELF_REVIEWS: ReadonlySet<string> = new Set([
  'selfsubjectaccessreviews',
  'selfsubjectrulesreviews',
  'selfsubjectreviews',
]);

/** The data that decisions depend on. */
export interface AuthorizationData {
  readonly store: Store;
  readonly grants: readonly Grant[];
}

/** Decides whether a user may make a request. */
export function decide(user: User, attributes: Attributes, { store, grants }: AuthorizationData): Decision {
  if (user.groups.includes('system:masters')) return ALLOWED;
  if (isGranted(user, attributes, grants)) return BY_ROLE;
  const isKnown = user.groups.includes('system:authenticated');
  if ('path' in attributes) return mayRead(attributes, isKnown) ? BY_ROLE : DENIED;
  if (isKnown && attributes.verb === 'create' && SELF_REVIEWS.has(attributes.resource)) return ALLOWED;
  if (isBootstrap(user, attributes)) return ALLOWED;
  const node = nodeOf(user);
  return node === undefined ? DENIED : decideForNode(node, attributes, store);
}

/** Whether a bootstrap token is used to request a certificate (`system:node-bootstrapper`). */
const isBootstrap = (user: User, { group, resource, subresource, verb }: ResourceAttributes): boolean =>
  user.groups.includes('system:bootstrappers') &&
  group === 'certificates.k8s.io' &&
  resource === 'certificatesigningrequests' &&
  subresource === '' &&
  ['create', 'get', 'list', 'watch'].includes(verb);

function mayRead({ verb, path }: PathAttributes, isKnown: boolean): boolean {
  return verb === 'get' && (PUBLIC.test(path) || (isKnown && DISCOVERY.test(path)));
}

/** Throws a `Failure` if a user may not make a request. */
export function authorize(user: User, attributes: Attributes, known: AuthorizationData): void {
  const { isAllowed, reason } = decide(user, attributes, known);
  if (isAllowed) return;
  const who = `User ${JSON.stringify(user.name)} cannot ${attributes.verb}`;
  if ('path' in attributes)
    throw new Failure(403, 'Forbidden', `forbidden: ${who} path ${JSON.stringify(attributes.path)}`, {});
  throw forbiddenResource(attributes, who, reason);
}

function forbiddenResource(attributes: ResourceAttributes, who: string, reason: string): Failure {
  const { group, resource, subresource, namespace, name } = attributes;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const what = `${group === '' ? resource : `${resource}.${group}`}${name === '' ? '' : ` ${JSON.stringify(name)}`}`;
  const why = `${who} resource ${JSON.stringify(whole)} in API group ${JSON.stringify(group)} ${scope}`;
  return new Failure(403, 'Forbidden', `${what} is forbidden: ${why}${reason === '' ? '' : `: ${reason}`}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  });
}
