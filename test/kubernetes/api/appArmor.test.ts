import { describe, expect, test } from '@jest/globals';
import {
  APPARMOR_ANNOTATION,
  appArmorProfileOf,
  needsAppArmor,
  parseProfileAnnotation,
} from '../../../kubernetes/api/appArmor.ts';
import { aContainer, aPod } from '../fixtures.ts';

test.each([
  ['runtime/default', { type: 'RuntimeDefault' }],
  ['unconfined', { type: 'Unconfined' }],
  ['localhost/strict', { type: 'Localhost', localhostProfile: 'strict' }],
  ['localhost/', undefined],
  ['strict', undefined],
  [undefined, undefined],
] as const)('the AppArmor annotation %j is parsed, or ignored if it is invalid', (value, expected) => {
  expect(parseProfileAnnotation(value)).toEqual(expected);
});

describe('the AppArmor profile of a container', () => {
  const annotations = { [`${APPARMOR_ANNOTATION}main`]: 'localhost/annotated' };
  const appArmorProfile = { type: 'RuntimeDefault' } as const;
  const ofPod = { securityContext: { appArmorProfile: { type: 'Unconfined' } } } as const;

  test('is its own, else that of its annotation, else that of the pod', () => {
    const own = aContainer({ securityContext: { appArmorProfile } });
    expect(appArmorProfileOf(aPod(ofPod, { annotations }), own)).toEqual(appArmorProfile);
    expect(appArmorProfileOf(aPod(ofPod, { annotations }), aContainer())).toEqual({
      type: 'Localhost',
      localhostProfile: 'annotated',
    });
    expect(appArmorProfileOf(aPod(ofPod, { annotations }), aContainer({ name: 'other' }))).toEqual({
      type: 'Unconfined',
    });
    expect(appArmorProfileOf(aPod(), aContainer())).toBeUndefined();
  });

  test('requires support of the host unless all containers are unconfined', () => {
    expect(needsAppArmor(aPod(ofPod))).toBe(false);
    expect(needsAppArmor(aPod())).toBe(false);
    expect(needsAppArmor(aPod(ofPod, { annotations }))).toBe(true);
  });
});
