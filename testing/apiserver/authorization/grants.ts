/** What somebody may do beyond what everybody may, as a role that is bound to them (`rbac.authorization.k8s.io` in short). */
import type { User } from '../request.ts';
import type { Attributes } from './attributes.ts';

export interface Grant {
  /** A user's name, or a group's. */
  readonly to: string;
  /** `*`: any. */
  readonly verbs: readonly string[];
  /** Such as `pods`, `nodes/proxy`, `nodes/*`; `*`: any. */
  readonly resources?: readonly string[];
  /** Of the resources; absent: the core's. */
  readonly group?: string;
  /** Absent: all, and what is in none. */
  readonly namespace?: string;
  /** Of objects; absent: all. */
  readonly names?: readonly string[];
  /** Paths of no resource, such as `/metrics`; those that end with `*` are of all below. */
  readonly paths?: readonly string[];
}

const ANY = '*';

/** Who may use the servers of all nodes (`system:kubelet-api-admin` of `rbac/bootstrappolicy/policy.go`), as a user of that name. */
export const kubeletApiAdmin: readonly Grant[] = [
  { to: 'system:kubelet-api-admin', verbs: ['get', 'list', 'watch', 'proxy'], resources: ['nodes'] },
  {
    to: 'system:kubelet-api-admin',
    verbs: [ANY],
    resources: ['proxy', 'metrics', 'stats', 'log', 'pods', 'healthz', 'configz'].map((each) => `nodes/${each}`),
  },
];

/** Whether one of the grants is for it. */
export const isGranted = (user: User, attributes: Attributes, grants: readonly Grant[]): boolean =>
  grants.some((grant) => (grant.to === user.name || user.groups.includes(grant.to)) && isFor(grant, attributes));

function isFor(grant: Grant, attributes: Attributes): boolean {
  if (!isOneOf(grant.verbs, attributes.verb)) return false;
  if ('path' in attributes) return (grant.paths ?? []).some((path) => isBelow(attributes.path, path));
  const { group, resource, subresource, namespace, name } = attributes;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const resources = grant.resources ?? [];
  const isNamed = isOneOf(resources, whole) || (subresource !== '' && resources.includes(`${resource}/${ANY}`));
  return (
    isNamed &&
    (grant.group ?? '') === group &&
    (grant.namespace === undefined || grant.namespace === namespace) &&
    (grant.names === undefined || grant.names.includes(name))
  );
}

const isOneOf = (granted: readonly string[], asked: string): boolean =>
  granted.includes(ANY) || granted.includes(asked);

const isBelow = (path: string, granted: string): boolean =>
  granted.endsWith(ANY) ? path.startsWith(granted.slice(0, -1)) : path === granted;
