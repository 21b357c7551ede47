import { expect, test } from '@jest/globals';
import { checkRunAsNonRoot, type ImageUser, imageUser } from '../../../cri/config/imageUser.ts';
import { Image } from '../../../cri/generated/runtime.ts';
import type { PodSecurityContext, SecurityContext } from '../../../kubernetes/api/schema/security.ts';
import { container, pod } from '../nodeAndPod.ts';

const where = '(pod: "web_shop(u-1)", container: main)';
const nonRoot = { runAsNonRoot: true };

test.each<[string, Image, ImageUser]>([
  ['a number', Image.fromPartial({ uid: { value: 5n } }), { uid: 5n }],
  ['zero', Image.fromPartial({ uid: { value: 0n } }), { uid: 0n }],
  ['a name', Image.fromPartial({ username: 'www' }), { username: 'www' }],
  ['nobody is root', Image.fromPartial({}), { uid: 0n }],
])('the user of an image is read: %s', (_, image, expected) => {
  expect(imageUser(image)).toEqual(expected);
});

test.each<[string, SecurityContext, PodSecurityContext, ImageUser, string | undefined]>([
  ['not asked for', {}, {}, { uid: 0n }, undefined],
  ['root image', nonRoot, {}, { uid: 0n }, `container has runAsNonRoot and image will run as root ${where}`],
  [
    'root image, asked by the pod',
    {},
    nonRoot,
    { uid: 0n },
    `container has runAsNonRoot and image will run as root ${where}`,
  ],
  ['the container takes it back', { runAsNonRoot: false }, nonRoot, { uid: 0n }, undefined],
  ['another user of the image', nonRoot, {}, { uid: 7n }, undefined],
  [
    'a user by name',
    nonRoot,
    {},
    { username: 'www' },
    `container has runAsNonRoot and image has non-numeric user (www), cannot verify user is non-root ${where}`,
  ],
  [
    'runAsUser 0',
    { ...nonRoot, runAsUser: 0 },
    {},
    { uid: 7n },
    `container's runAsUser breaks non-root policy ${where}`,
  ],
  ['runAsUser of the pod', nonRoot, { runAsUser: 9 }, { uid: 0n }, undefined],
])('runAsNonRoot is checked: %s', (_, own, ofPod, image, message) => {
  const one = container({ securityContext: own });
  const failure = checkRunAsNonRoot(pod({ containers: [one], securityContext: ofPod }), one, image);
  if (message === undefined) expect(failure).toBeUndefined();
  else expect(failure).toMatchObject({ reason: 'CreateContainerConfigError', message });
});
