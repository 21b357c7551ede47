import { describe, expect, test } from '@jest/globals';
import { containerNamed } from '../../../kubernetes/api/containers.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod } from '../fixtures.ts';

const { spec } = aPod({
  initContainers: [aContainer({ name: 'setup' }), aContainer({ name: 'proxy', restartPolicy: 'Always' })],
  containers: [aContainer({ name: 'web' }), aContainer({ name: '__proto__' })],
  ephemeralContainers: [{ name: 'look', image: 'busybox' }],
});

describe('a container by its name', () => {
  test.each([
    ['setup', 'init', 'initContainers', 0],
    ['proxy', 'sidecar', 'initContainers', 1],
    ['web', 'regular', 'containers', 0],
    ['__proto__', 'regular', 'containers', 1],
    ['look', 'ephemeral', 'ephemeralContainers', 0],
  ] as const)('%s is found with its role and place', (name, role, field, index) => {
    expect(containerNamed(spec, name)).toEqual({ container: spec[field]?.[index], role, field, index });
  });

  test.each(['', 'we', 'constructor', 'toString'])('of the name "%s" there is none', (name) => {
    expect(containerNamed(spec, name)).toBeUndefined();
  });

  test('is that of the version that is asked of, also when another one was asked before', () => {
    const next: PodSpec = { ...spec, containers: [aContainer({ name: 'web', image: 'web:2' })] };
    expect(containerNamed(spec, 'web')?.container.image).not.toBe('web:2');
    expect(containerNamed(next, 'web')?.container.image).toBe('web:2');
    expect(containerNamed(next, '__proto__')).toBeUndefined();
  });

  test('is looked for among all of them only once for each version', () => {
    let looks = 0;
    const watched: PodSpec = {
      get containers() {
        looks += 1;
        return spec.containers;
      },
    };
    for (const name of ['web', '__proto__', 'none', 'web']) containerNamed(watched, name);
    expect(looks).toBe(1);
  });
});
