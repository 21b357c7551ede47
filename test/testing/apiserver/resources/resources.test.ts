import { expect, test } from '@jest/globals';
import { resourceNamed, resources } from '../../../../testing/apiserver/resources/resources.ts';
import { readTypes } from '../../../../testing/apiserver/schema/types.ts';

const types = readTypes();

/** The resources of Kubernetes itself, because those of metrics-server have no types in its schema. */
const kubernetesResources = resources.filter(({ group }) => group !== 'metrics.k8s.io');

test.each(kubernetesResources.map((each) => [each.name, each] as const))(
  '%s has types for all its kinds, and a unique name',
  (_, each) => {
    const { group, version, kind, singular, subresources } = each;
    expect(types.kind(group, version, kind)).toBeDefined();
    // Subresources that are forwarded to a node have options in the query and no object.
    const stored = subresources.filter(({ kind: below }) => !/^(Pod|Node).*Options$/.test(below));
    for (const { of = { group, version }, kind: below } of stored)
      expect(types.kind(of.group, of.version, below)?.name).toMatch(new RegExp(`\\.${below}$`));
    expect(singular).toMatch(/^[a-z]+$/);
    expect(resources.filter(({ name, group: of }) => name === each.name && of === group)).toHaveLength(1);
  },
);

test('a resource is found by its group, version and name', () => {
  expect(resourceNamed('', 'v1', 'pods')?.kind).toBe('Pod');
  for (const [group, version, name] of [
    ['', 'v2', 'pods'],
    ['apps', 'v1', 'pods'],
    ['', 'v1', 'constructor'],
  ] as const)
    expect(resourceNamed(group, version, name)).toBeUndefined();
});
