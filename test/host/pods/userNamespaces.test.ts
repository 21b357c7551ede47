import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLayout } from '../../../host/pods/layout.ts';
import { countIdRanges, createUserNamespaces } from '../../../host/pods/userNamespaces.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-userns-'));
  await Promise.all(['a', 'b', 'c'].map((uid) => mkdir(join(root, 'pods', uid), { recursive: true })));
});

afterEach(() => rm(root, { recursive: true, force: true }));

const ranges = (over: { maxPodCount?: number; idsPerPod?: number } = {}) =>
  createUserNamespaces({
    layout: createLayout({ rootDir: root, podLogsDir: join(root, 'logs') }),
    maxPodCount: 2,
    ...over,
  });

const noted = (uid: string) => join(root, 'pods', uid, 'userns');

test('each pod gets its own range, even concurrently, and retains it', async () => {
  const given = ranges();
  const [a, b] = await Promise.all([given.getRange('a'), given.getRange('b')]);
  expect([a, b]).toEqual([
    { hostId: 65_536, length: 65_536 },
    { hostId: 131_072, length: 65_536 },
  ]);
  expect(await given.getRange('a')).toEqual(a);
});

test('the range is recorded in the format of a kubelet and known to the next agent', async () => {
  await ranges().getRange('a');
  const mappings = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
  expect(JSON.parse(await readFile(noted('a'), 'utf8'))).toEqual({ uidMappings: mappings, gidMappings: mappings });
  expect((await ranges().getRange('b')).hostId).toBe(131_072);
  expect((await ranges().getRange('a')).hostId).toBe(65_536);
});

test("the range is free after the pod's directory is removed, and the number of ranges is limited", async () => {
  const given = ranges();
  await given.getRange('a');
  await given.getRange('b');
  await expect(given.getRange('c')).rejects.toThrow('could not find an empty slot to allocate a user namespace');
  await rm(join(root, 'pods', 'a'), { recursive: true });
  expect((await given.getRange('c')).hostId).toBe(65_536);
});

test('an existing range of a different size is preserved and avoided', async () => {
  await ranges().getRange('a');
  const wider = ranges({ idsPerPod: 131_072 });
  expect(await wider.getRange('a')).toEqual({ hostId: 65_536, length: 65_536 });
  expect(await wider.getRange('b')).toEqual({ hostId: 131_072, length: 131_072 });
});

test('a damaged record is an error, not a new range', async () => {
  await writeFile(noted('a'), '{"uidMappings":[]}');
  await expect(ranges().getRange('a')).rejects.toMatchObject({ message: expect.stringContaining(noted('a')) });
  await writeFile(noted('a'), '{');
  await expect(ranges().getRange('a')).rejects.toMatchObject({ reason: 'FailedCreatePodSandBox' });
});

test('all 32-bit IDs are available to pods, except for one range', () => {
  expect(countIdRanges()).toBe(65_535);
  expect(countIdRanges(2 ** 24)).toBe(255);
});
