import { describe, expect, test } from '@jest/globals';
import { parseImageReference, withDefaultTag } from '../../../kubernetes/images/imageReference.ts';

const HEX = '0123456789abcdef'.repeat(8);
const [SHA256, SHA384, SHA512] = [HEX.slice(0, 64), HEX.slice(0, 96), HEX];
const digest = (algorithm: string, hex: string) => `app@${algorithm}:${hex}`;
const format = 'invalid reference format';

describe('C16: an image reference', () => {
  test.each([
    ['busybox', 'docker.io/library/busybox', 'busybox:latest'],
    ['busybox:1', 'docker.io/library/busybox', 'busybox:1'],
    ['team/app', 'docker.io/team/app', 'team/app:latest'],
    ['docker.io/busybox', 'docker.io/library/busybox', 'docker.io/busybox:latest'],
    ['index.docker.io/team/app', 'docker.io/team/app', 'index.docker.io/team/app:latest'],
    ['localhost/app', 'localhost/app', 'localhost/app:latest'],
    ['localhost:5000', 'docker.io/library/localhost', 'localhost:5000'],
    ['localhost:5000/a/b:V1.2_3-x', 'localhost:5000/a/b', 'localhost:5000/a/b:V1.2_3-x'],
    ['[fd00::1]:5000/app', '[fd00::1]:5000/app', '[fd00::1]:5000/app:latest'],
    ['Registry/app', 'Registry/app', 'Registry/app:latest'],
    ['REG.example/a__b/c--d/e.f', 'REG.example/a__b/c--d/e.f', 'REG.example/a__b/c--d/e.f:latest'],
    ['under_score.example/app', 'under_score.example/app', 'under_score.example/app:latest'],
    [digest('sha256', SHA256), 'docker.io/library/app', digest('sha256', SHA256)],
    [digest('sha512', SHA512), 'docker.io/library/app', digest('sha512', SHA512)],
    [`r.example/app:1@sha384:${SHA384}`, 'r.example/app', `r.example/app:1@sha384:${SHA384}`],
    [`r.example/${SHA256}`, `r.example/${SHA256}`, `r.example/${SHA256}:latest`],
    [`${SHA256}:1`, `docker.io/library/${SHA256}`, `${SHA256}:1`],
    [`r.example/${'a'.repeat(255)}`, `r.example/${'a'.repeat(255)}`, `r.example/${'a'.repeat(255)}:latest`],
    [`app:${'t'.repeat(128)}`, 'docker.io/library/app', `app:${'t'.repeat(128)}`],
  ])('%s', (text, repository, tagged) => {
    const reference = parseImageReference(text);
    if ('refusal' in reference) throw new Error(reference.refusal);
    expect(reference.repository).toBe(repository);
    expect(withDefaultTag(text, reference)).toBe(tagged);
  });

  test.each([
    [SHA256, `invalid repository name (${SHA256}), cannot specify 64-byte hexadecimal strings`],
    ['App', `${format}: repository name (library/App) must be lowercase`],
    ['team/App:1', `${format}: repository name (team/App) must be lowercase`],
    ['r.example/Team/app', `${format}: repository name (Team/app) must be lowercase`],
    ['Under_score.example/app', 'repository name must be lowercase'],
    ['', format],
    ['not an image', format],
    ['/app', format],
    ['app/', format],
    ['a//b', format],
    ['-app', format],
    ['app-', format],
    ['a..b', format],
    ['a___b', format],
    ['app:', format],
    ['app:-1', format],
    ['app:1:2', format],
    [`app:${'t'.repeat(129)}`, format],
    ['r.example:port/app', format],
    ['-r.example/app', format],
    ['https://r.example/app', format],
    ['app@sha256:abc', format],
    [`app@${SHA256}`, format],
    [`app@sha256:${SHA256}@sha256:${SHA256}`, format],
    [digest('sha256', SHA256.slice(1)), 'invalid checksum digest length'],
    [digest('sha256', `${SHA256}0`), 'invalid checksum digest length'],
    [digest('sha512', SHA256), 'invalid checksum digest length'],
    [digest('sha256', SHA256.toUpperCase()), 'invalid checksum digest format'],
    [digest('md5', SHA256), 'unsupported digest algorithm'],
    [digest('SHA256', SHA256), `${format}: repository name (library/app@SHA256) must be lowercase`],
    [`r.example/${'a'.repeat(256)}`, 'repository name must not be more than 255 characters'],
    // The first part of a short name counts towards the length of the path.
    ['a'.repeat(248), 'repository name must not be more than 255 characters'],
  ])('%s is invalid', (text, refusal) => {
    expect(parseImageReference(text)).toEqual({ refusal });
  });

  test('is rejected quickly even with a million characters', () => {
    const long = 'a'.repeat(1_000_000);
    for (const text of [`${long}.x!/app`, `${long}!`, `app:${long}`, `r.example/${'a-'.repeat(500_000)}`]) {
      expect(parseImageReference(text)).toEqual({ refusal: format });
    }
  });
});
