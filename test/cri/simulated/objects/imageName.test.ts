import { expect, test } from '@jest/globals';
import { fullImageName, isImageReference, repositoryName } from '../../../../cri/simulated/objects/imageName.ts';

test.each([
  ['busybox', 'docker.io/library/busybox:latest', 'docker.io/library/busybox'],
  ['team/app:2', 'docker.io/team/app:2', 'docker.io/team/app'],
  ['localhost/app', 'localhost/app:latest', 'localhost/app'],
  ['registry:5000/app', 'registry:5000/app:latest', 'registry:5000/app'],
  ['example.org/a/b@sha256:01', 'example.org/a/b@sha256:01', 'example.org/a/b'],
  ['busybox:1@sha256:01', 'docker.io/library/busybox:1@sha256:01', 'docker.io/library/busybox'],
])('the image name %s is expanded to %s in the repository %s', (name, full, repository) => {
  expect(fullImageName(name)).toBe(full);
  expect(repositoryName(full)).toBe(repository);
});

test('an image ID is not expanded like a name', () => {
  expect(fullImageName('sha256:0123')).toBe('sha256:0123');
});

test.each([
  ['busybox', true],
  ['registry.example:5000/team/app_one:v1.2-rc', true],
  [`busybox@sha256:${'0'.repeat(64)}`, true],
  ['', false],
  ['Busybox', false],
  ['busybox:', false],
  ['a b', false],
  ['busybox@sha256:123', false],
])('%j is a valid image name: %j', (name, is) => {
  expect(isImageReference(name)).toBe(is);
});
