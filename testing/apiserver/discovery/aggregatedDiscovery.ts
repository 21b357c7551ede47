/** Aggregated discovery, with all groups and resources in one response (`apidiscovery.k8s.io/v2`). */
import type { Json, JsonObject } from '../json.ts';
import type { Resource, Subresource } from '../resources/resource.ts';
import { resources } from '../resources/resources.ts';

/** The media type of aggregated discovery. */
export const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export function prefersAggregated(accept: string): boolean {
  for (const clause of accept.split(',').map((each) => each.trim())) {
    const parameters = new Set(clause.split(';'));
    if (parameters.has('as=APIGroupDiscoveryList') && parameters.has('v=v2')) return true;
    if (clause === 'application/json') return false;
  }
  return false;
}

/** Returns the discovery document of the core group (`api`) or of all others (`apis`). */
export function aggregatedDiscovery(root: 'api' | 'apis'): JsonObject {
  const own = resources.filter(({ group }) => (group === '') === (root === 'api'));
  const groups = [...new Set(own.map(({ group }) => group))];
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map((group) => ({
      metadata: group === '' ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: versionsOf(own.filter((each) => each.group === group)),
    })),
  };
}

function versionsOf(own: readonly Resource[]): Json[] {
  return [...new Set(own.map(({ version }) => version))].map((version) => ({
    version,
    freshness: 'Current',
    resources: own.filter((each) => each.version === version).map(describeResource),
  }));
}

function describeResource(resource: Resource): Json {
  const { group, version, kind, name, singular, isNamespaced, verbs, shortNames, categories, subresources } = resource;
  return {
    resource: name,
    responseKind: { group, version, kind },
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? { subresources: subresources.map((each) => describeSubresource(resource, each)) }
      : {}),
  };
}

const describeSubresource = ({ group, version }: Resource, { name, kind, verbs, of }: Subresource): Json => ({
  subresource: name,
  responseKind: { ...(of ?? { group, version }), kind },
  verbs,
});
