/** Additional permissions, as a short form of roles and bindings (`rbac.authorization.k8s.io`). */
import type { User } from '../requests/request.ts';
import type { Attributes } from './attributes.ts';

export interface Grant {
  /** The name of a user or a group. */
  readonly to: string;
  /** `*` matches any verb. */
  readonly verbs: readonly string[];
  /** E.g. `pods`, `nodes/proxy` or `nodes/*`. `*` matches any resource. */
  readonly resources?: readonly string[];
  /** The group of the resources. Default: the core group. */
  readonly group?: string;
  /** Default: all namespaces and cluster-scoped objects. */
  readonly namespace?: string;
  /** The names of objects. Default: all. */
  readonly names?: readonly string[];
  /** Non-resource paths, such as `/metrics`. A trailing `*` matches everything below. */
  readonly paths?: readonly string[];
}

const ANY = '*';

/**
 * The permissions for the kubelet API (`system:kubelet-api-admin` of `rbac/bootstrappolicy/policy.go`), bound to a user
 * of that name.
 */
export const kubeletApiAdmin: readonly Grant[] = [
  { to: 'system:kubelet-api-admin', verbs: ['get', 'list', 'watch', 'proxy'], resources: ['nodes'] },
  {
    to: 'system:kubelet-api-admin',
    verbs: [ANY],
    resources: ['proxy', 'metrics', 'stats', 'log', 'pods', 'healthz', 'configz'].map((each) => `nodes/${each}`),
  },
];

/** Whether one of the grants permits a request. */
export const isGranted = (user: User, attributes: Attributes, grants: readonly Grant[]): boolean =>
  grants.some((grant) => (grant.to === user.name || user.groups.includes(grant.to)) && permits(grant, attributes));

function permits(grant: Grant, attributes: Attributes): boolean {
  if (!matchesAny(grant.verbs, attributes.verb)) return false;
  if ('path' in attributes) return (grant.paths ?? []).some((path) => matchesPath(attributes.path, path));
  const { group, resource, subresource, namespace, name } = attributes;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const resources = grant.resources ?? [];
  const isNamed = matchesAny(resources, whole) || (subresource !== '' && resources.includes(`${resource}/${ANY}`));
  return (
    isNamed &&
    (grant.group ?? '') === group &&
    (grant.namespace === undefined || grant.namespace === namespace) &&
    (grant.names === undefined || grant.names.includes(name))
  );
}

const matchesAny = (granted: readonly string[], requested: string): boolean =>
  granted.includes(ANY) || granted.includes(requested);

const matchesPath = (path: string, granted: string): boolean =>
  granted.endsWith(ANY) ? path.startsWith(granted.slice(0, -1)) : path === granted;
