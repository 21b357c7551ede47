import { copyFile, open, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { deflate } from '../../recording/deflate.ts';
import { encodeMember } from '../../recording/member.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';
import { recordedNode } from './recorded.ts';

let directory: string;

beforeEach(async () => {
  ({ directory } = await recordedNode());
});

/** Writes a file of this number of members, each with one line that contains its number. */
async function writeMembers(name: string, count: number, first = 0): Promise<string> {
  const path = join(directory, '..', name);
  const members = Array.from({ length: count }, (_, index) =>
    encodeMember({ at: first + index, startKind: 'no', entries: 1, failures: 0, text: `${first + index}\n` }, deflate),
  );
  await writeFile(path, Buffer.concat(await Promise.all(members)));
  return path;
}

const textsOf = async (file: RecordingFile) =>
  (await Promise.all(file.members.map((member) => file.lines(member)))).flat().map(Number);

test('the headers of many members are read at once', async () => {
  const path = await writeMembers('many', 2_000);
  const handle = await open(path);
  const read = jest.spyOn(Object.getPrototypeOf(handle), 'read');
  try {
    expect((await RecordingFile.open(path)).members).toHaveLength(2_000);
    expect(read.mock.calls.length).toBe(1);
  } finally {
    read.mockRestore();
    await handle.close();
  }
});

test('a header that crosses the end of a read is found', async () => {
  const path = join(directory, '..', 'large');
  // The members are not compressed, so that they are as large as incompressible data.
  const sizes = [2 ** 20 - 100, 10, 2 ** 20 - 20, 10, 2 ** 21, 10];
  const members = sizes.map((size, at) =>
    encodeMember({ at, startKind: 'no', entries: 0, failures: 0, text: 'x'.repeat(size) }, async (bytes) => bytes),
  );
  await writeFile(path, Buffer.concat(await Promise.all(members)));
  expect((await RecordingFile.open(path)).members.map(({ at }) => at)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('the members of a file are cached while it grows, and dropped if it is a different file', async () => {
  const path = await writeMembers('one', 3);
  const first = await RecordingFile.open(path);
  const grown = await writeMembers('grown', 5);
  const [longer, shorter] = [await RecordingFile.open(grown), await writeMembers('shorter', 2, 100)];
  await truncate(path, 0);
  await copyFile(grown, path);
  const second = await RecordingFile.open(path, { previousFile: first });
  expect(second.members.slice(0, 3)).toEqual(longer.members.slice(0, 3).map((member) => ({ ...member, file: path })));
  expect(second.members[0]).toBe(first.members[0]);
  expect(await textsOf(second)).toEqual([0, 1, 2, 3, 4]);
  // Overwrite the file with a different one.
  await copyFile(shorter, path);
  const third = await RecordingFile.open(path, { previousFile: second });
  expect(await textsOf(third)).toEqual([100, 101]);
  // Replace the file with a different one of the same length.
  const other = await writeMembers('other', 2, 200);
  await rm(path);
  await rename(other, path);
  const fourth = await RecordingFile.open(path, { previousFile: third });
  expect(fourth.members.map(({ at }) => at)).toEqual([200, 201]);
});

test('the caller provides the decompression', async () => {
  const sizes: number[] = [];
  const file = await RecordingFile.open(await writeMembers('one', 3), {
    decompress: (bytes, options) => {
      sizes.push(bytes.length);
      return gunzipSync(bytes, options);
    },
  });
  expect(await textsOf(file)).toEqual([0, 1, 2]);
  expect(sizes).toEqual(file.members.map(({ size }) => size));
});
