import { expect, test } from '@jest/globals';
import { ObjectNotFound } from '../../../kubernetes/objects/podObjects.ts';

test('a missing object is reported in the words of the kubelet', () => {
  expect(new ObjectNotFound('ConfigMap', 'app').message).toBe('configmap "app" not found');
  expect(new ObjectNotFound('Secret', 'key').message).toBe('secret "key" not found');
});
