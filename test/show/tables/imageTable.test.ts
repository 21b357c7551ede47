import { expect, test } from '@jest/globals';
import { decimalSize, type ImageRow, imageTable } from '../../../show/tables/imageTable.ts';

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
  expect(imageTable(images, { wide: false })).toEqual([
    ['IMAGE', 'TAG', 'IMAGE ID', 'SIZE'],
    ['<none>', '<none>', 'ccccccccccccc', '0B'],
    ['docker.io/library/web', '1', 'aaaaaaaaaaaaa', '2.21MB'],
    ['example.org/app', '<none>', 'bbbbbbbbbbbbb', '999B'],
    ['registry.local:5000/web', '2', 'aaaaaaaaaaaaa', '2.21MB'],
  ]);
});

test('a wide table has the digest, and whether the image is pinned', () => {
  const [header, , , app] = imageTable(images, { wide: true });
  expect(header).toEqual(['IMAGE', 'TAG', 'DIGEST', 'IMAGE ID', 'SIZE', 'PINNED']);
  expect(app).toEqual(['example.org/app', '<none>', hex('e'), 'bbbbbbbbbbbbb', '999B', 'true']);
});

test.each([
  [0, '0B'],
  [999, '999B'],
  [1_000, '1kB'],
  [123_456, '123kB'],
  [1_234_567_890, '1.23GB'],
])('%s bytes are %s', (bytes, text) => {
  expect(decimalSize(bytes)).toBe(text);
});
