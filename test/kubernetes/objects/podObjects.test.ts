import { expect, test } from '@jest/globals';
import { ObjectNotFound } from '../../../kubernetes/objects/podObjects.ts';

test("reports a missing object in the kubelet's words", () => {
  expect(new ObjectNotFound('ConfigMap', 'app').message).toBe('configmap "app" not found');
  expect(new ObjectNotFound('Secret', 'key').message).toBe('secret "key" not found');
});
