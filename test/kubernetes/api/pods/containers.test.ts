import { describe, expect, test } from '@jest/globals';
import { findContainerByName } from '../../../../kubernetes/api/pods/containers.ts';
import type { PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod } from '../../fixtures.ts';

const { spec } = aPod({
  initContainers: [aContainer({ name: 'setup' }), aContainer({ name: 'proxy', restartPolicy: 'Always' })],
  containers: [aContainer({ name: 'web' }), aContainer({ name: '__proto__' })],
  ephemeralContainers: [{ name: 'look', image: 'busybox' }],
});

describe('looking up a container by name', () => {
  test.each([
    ['setup', 'init', 'initContainers', 0],
    ['proxy', 'sidecar', 'initContainers', 1],
    ['web', 'regular', 'containers', 0],
    ['__proto__', 'regular', 'containers', 1],
    ['look', 'ephemeral', 'ephemeralContainers', 0],
  ] as const)('finds %s with its role and position', (name, role, field, index) => {
    expect(findContainerByName(spec, name)).toEqual({ container: spec[field]?.[index], role, field, index });
  });

  test.each(['', 'we', 'constructor', 'toString'])('finds no container with the name "%s"', (name) => {
    expect(findContainerByName(spec, name)).toBeUndefined();
  });

  test('uses the requested version of the spec, even after a lookup in another version', () => {
    const next: PodSpec = { ...spec, containers: [aContainer({ name: 'web', image: 'web:2' })] };
    expect(findContainerByName(spec, 'web')?.container.image).not.toBe('web:2');
    expect(findContainerByName(next, 'web')?.container.image).toBe('web:2');
    expect(findContainerByName(next, '__proto__')).toBeUndefined();
  });

  test('searches the containers only once per version', () => {
    let looks = 0;
    const watched: PodSpec = {
      get containers() {
        looks += 1;
        return spec.containers;
      },
    };
    for (const name of ['web', '__proto__', 'none', 'web']) findContainerByName(watched, name);
    expect(looks).toBe(1);
  });
});
