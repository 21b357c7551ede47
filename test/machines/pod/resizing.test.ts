import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ContainerSize } from '../../../kubernetes/resources/containerSize.ts';
import type { PodContext } from '../../../machines/pod/context.ts';
import { containersToResize, withSizes } from '../../../machines/pod/resizing.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const names = ['a', 'b', 'c', 'd'];
const requests = { cpu: '100m', memory: '1Mi' };
const allocated = podWith('sized', {
  containers: names.map((name) => containerWith(name, { resources: { requests } })),
});
const admittedSize: ContainerSize = { cpuRequest: 100, cpuLimit: 0, memoryLimit: 0, memoryRequest: 2 ** 20 };
const otherSize: ContainerSize = { ...admittedSize, cpuRequest: 200 };

function contextWith(sizes: PodContext['sizes']): PodContext {
  const byName = <T>(of: (name: string) => T) => Object.fromEntries(names.map((name) => [name, of(name)]));
  // Safe cast: a resize depends on nothing else in the context.
  return {
    allocated,
    sizes,
    containers: byName(() => 'running'),
    containerIds: byName((name) => `id-${name}`),
  } as unknown as PodContext;
}

const resized = (sizes: PodContext['sizes']) => containersToResize(contextWith(sizes)).map(({ name }) => name);

test('the containers to resize are those whose size differs from the admitted one, in spec order', () => {
  expect(resized({ d: otherSize, a: admittedSize, b: otherSize, old: otherSize })).toEqual(['b', 'd']);
});

test('the containers to resize are the same whether sizes change one after the other or all at once', () => {
  const change = fc.tuple(fc.constantFrom(...names), fc.constantFrom(admittedSize, otherSize));
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 10 }), (changes) => {
      let sizes: PodContext['sizes'] = {};
      for (const each of changes) {
        sizes = withSizes(contextWith(sizes), each);
        expect(resized(sizes)).toEqual(resized({ ...sizes }));
      }
    }),
  );
});
