/** Discovery of the served groups, versions and resources. */
import type { Json, JsonObject } from '../json.ts';
import {
  groupVersion,
  type Resource,
  STORED_VERBS,
  type Subresource,
  storageVersionHash,
} from '../resources/resource.ts';
import { resources } from '../resources/resources.ts';

/** Returns the discovery document at a path, or undefined. `address` is the server's `host:port`. */
export function discovery(pathname: string, address: string): JsonObject | undefined {
  const [root, first, second, ...more] = pathname.split('/').slice(1);
  if (root === 'api' && first === undefined) return versionsOfCore(address);
  if (root === 'api' && second === undefined) return resourcesOf('', first ?? '');
  if (root !== 'apis' || more.length > 0) return undefined;
  if (first === undefined) return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupNamed) };
  if (second === undefined)
    return isGroup(first) ? { kind: 'APIGroup', apiVersion: 'v1', ...groupNamed(first) } : undefined;
  return resourcesOf(first, second);
}

const groups: readonly string[] = [...new Set(resources.map(({ group }) => group))].filter((group) => group !== '');
/** Whether a path is below a served group. */
export function isServedGroupPath(pathname: string): boolean {
  const [root, group = ''] = pathname.split('/').slice(1);
  return root === 'api' || (root === 'apis' && isGroup(group));
}

const isGroup = (name: string): boolean => groups.includes(name);

const versionsOfCore = (address: string): JsonObject => ({
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }],
});

/** A group with its versions, the preferred one first. */
function groupNamed(name: string): JsonObject & { readonly name: string } {
  const served = new Set(resources.filter(({ group }) => group === name).map(({ version }) => version));
  const versions = [...served].map((version) => ({ groupVersion: groupVersion({ group: name, version }), version }));
  const [preferredVersion = null] = versions;
  return { name, versions, preferredVersion };
}

function resourcesOf(group: string, version: string): JsonObject | undefined {
  const found = resources.filter((each) => each.group === group && each.version === version);
  if (found.length === 0) return undefined;
  const listed = found.flatMap((each) => [
    describeResource(each),
    ...each.subresources.map((below) => describeSubresource(each, below)),
  ]);
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersion({ group, version }),
    resources: listed,
  };
}

function describeResource(resource: Resource): Json {
  const { name, singular, isNamespaced, kind, verbs, shortNames, categories } = resource;
  return {
    name,
    singularName: singular,
    namespaced: isNamespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    // Resources that are only created are not stored.
    ...(verbs.length >= STORED_VERBS.length - 1 ? { storageVersionHash: storageVersionHash(resource) } : {}),
  };
}

const describeSubresource = (
  { name, isNamespaced }: Resource,
  { name: below, kind, verbs, of }: Subresource,
): Json => ({
  name: `${name}/${below}`,
  singularName: '',
  namespaced: isNamespaced,
  ...of,
  kind,
  verbs,
});
