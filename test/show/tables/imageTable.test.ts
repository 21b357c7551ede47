import { describe, expect, test } from '@jest/globals';
import type { ImageUse } from '../../../kubernetes/images/imageGarbage.ts';
import { decimalSize, type ImageRow, imageTable } from '../../../show/tables/imageTable.ts';

const NOW = 1_000_000_000;

const hex = (digit: string) => `sha256:${digit.repeat(64)}`;

const images: readonly ImageRow[] = [
  {
    id: hex('a'),
    repoTags: ['registry.local:5000/web:2', 'docker.io/library/web:1'],
    repoDigests: [`docker.io/library/web@${hex('d')}`],
    sizeBytes: 2_210_000,
    pinned: false,
  },
  { id: hex('b'), repoTags: [], repoDigests: [`example.org/app@${hex('e')}`], sizeBytes: 999, pinned: true },
  { id: hex('c'), repoTags: [], repoDigests: [], sizeBytes: 0, pinned: false },
];

test('each tag has a row, and an image without a tag has the name of its digest', () => {
  expect(imageTable(images, { wide: false, now: NOW }).map((row) => row.slice(0, 4))).toEqual([
    ['IMAGE', 'TAG', 'IMAGE ID', 'SIZE'],
    ['<none>', '<none>', 'ccccccccccccc', '0B'],
    ['docker.io/library/web', '1', 'aaaaaaaaaaaaa', '2.21MB'],
    ['example.org/app', '<none>', 'bbbbbbbbbbbbb', '999B'],
    ['registry.local:5000/web', '2', 'aaaaaaaaaaaaa', '2.21MB'],
  ]);
});

test('a wide table has the digest, and whether the image is pinned', () => {
  const [header, , , app] = imageTable(images, { wide: true, now: NOW }).map((row) => row.slice(0, 6));
  expect(header).toEqual(['IMAGE', 'TAG', 'DIGEST', 'IMAGE ID', 'SIZE', 'PINNED']);
  expect(app).toEqual(['example.org/app', '<none>', hex('e'), 'bbbbbbbbbbbbb', '999B', 'true']);
});

describe('the use of an image', () => {
  const cells = (use: Partial<ImageUse> | undefined, wide = false) => {
    const known = use && { id: 'a', users: [], isPinned: false, ...use };
    const [header = [], row = []] = imageTable([{ ...image, use: known }], { wide, now: NOW });
    expect(header.slice(-3)).toEqual(['UNUSED', 'REMOVED', 'USED BY']);
    return row.slice(-3);
  };
  const image: ImageRow = { id: 'a', repoTags: ['web:1'], repoDigests: [], sizeBytes: 1, pinned: false };

  test('C47: is unknown without an agent', () => {
    expect(cells(undefined)).toEqual(['<unknown>', '<unknown>', '<unknown>']);
  });

  test('C47: names one user and the number of the others, and all users in a wide table', () => {
    const users = ['container main of pod default/web', 'pod default/job'];
    expect(cells({ users })).toEqual(['<none>', 'not while in use', 'container main of pod default/web and 1 more']);
    expect(cells({ users }, true).at(-1)).toBe('container main of pod default/web, pod default/job');
  });

  test.each([
    [{ isPinned: true }, 'never (pinned)'],
    [{ position: 2, thresholdPercent: 85 }, 'at 85% disk usage (place 2)'],
    [{ position: 2, thresholdPercent: 85, expiresAt: NOW + 3_600_000 }, 'in 60m or at 85% disk usage (place 2)'],
    [{ position: 1, expiresAt: NOW - 1 }, 'soon'],
    [{ position: 1 }, 'by evictions only'],
  ])('C47: given %j, predicts the removal %s', (use, text) => {
    expect(cells({ ...use, unusedSince: NOW - 7_200_000 })).toEqual(['120m', text, '<none>']);
  });
});

test.each([
  [0, '0B'],
  [999, '999B'],
  [1_000, '1kB'],
  [123_456, '123kB'],
  [1_234_567_890, '1.23GB'],
])('%s bytes are formatted as %s', (bytes, text) => {
  expect(decimalSize(bytes)).toBe(text);
});
