import { expect, test } from '@jest/globals';
import {
  allowlistRefusal,
  defaultVerification,
  needsProof,
  withoutTagAndDigest,
} from '../../../kubernetes/images/imageVerification.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

test.each([
  ['busybox', 'busybox'],
  ['busybox:1', 'busybox'],
  ['localhost:5000/app', 'localhost:5000/app'],
  [`localhost:5000/team/app:1@${DIGEST}`, 'localhost:5000/team/app'],
  [`app@${DIGEST}`, 'app'],
])('%s is %s without tag and digest', (image, name) => {
  expect(withoutTagAndDigest(image)).toBe(name);
});

test('proof of access is required by policy, by default for images that the node has pulled', () => {
  const needed = (policy: (typeof defaultVerification)['policy']) =>
    [true, false].map((isOfNode) => needsProof('app:1', isOfNode, { policy, allowlist: [] }));
  expect(needed(defaultVerification.policy)).toEqual([true, false]);
  expect(needed('NeverVerifyPreloadedImages')).toEqual([true, false]);
  expect(needed('NeverVerify')).toEqual([false, false]);
  expect(needed('AlwaysVerify')).toEqual([true, true]);
  expect(needed('NeverVerifyAllowlistedImages')).toEqual([true, true]);
});

test.each([
  ['r.example/app:1', ['r.example/app'], false],
  ['r.example/app:1', ['r.example/ap'], true],
  ['r.example/team/app', ['r.example/*'], false],
  ['r.example.evil/app', ['r.example/*'], true],
  ['r.example/team/app', ['r.example/team/app/*'], true],
])('the image %s with the allowlist %j requires proof: %s', (image, allowlist, isNeeded) => {
  expect(needsProof(image, true, { policy: 'NeverVerifyAllowlistedImages', allowlist })).toBe(isNeeded);
});

test.each(['r.example/app', 'r.example/*', 'localhost:5000/app', 'busybox'])(
  '%j is accepted in an allowlist',
  (entry) => {
    expect(allowlistRefusal(entry)).toBeUndefined();
  },
);

test.each(['', ' a', '/*', '*', 'r.example/a*', 'r.*/app', 'app:1', `app@${DIGEST}`])(
  '%j is rejected in an allowlist',
  (entry) => {
    expect(allowlistRefusal(entry)).toMatch(/^m/);
  },
);
