import { expect, test } from '@jest/globals';
import { containerHash } from '../../../../kubernetes/api/pods/containerHash.ts';

test('C6: a container has the same hash as in a kubelet, so that its containers can be adopted', () => {
  expect(containerHash({ name: 'test_container', image: 'foo/image:v1' })).toBe('8e45cbd0');
});

test('C6: the hash of a container depends only on name and image', () => {
  const container = { name: 'a', image: 'b' };
  const same = { ...container, args: ['c'], tty: true };
  expect(containerHash(same)).toBe(containerHash(container));
  expect(containerHash({ ...container, image: 'c' })).not.toBe(containerHash(container));
  expect(containerHash({ ...container, name: 'c' })).not.toBe(containerHash(container));
});
