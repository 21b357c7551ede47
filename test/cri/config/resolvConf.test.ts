import { mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createResolvConfReader, parseResolvConf } from '../../../cri/config/resolvConf.ts';

test('C20: all servers of a resolv.conf apply, the last search list without trailing dots, and all options', () => {
  const text =
    '# a comment\nnameserver 1.1.1.1\nnameserver fd00::1 more\nsearch old\nsearch . a.example. b\noptions x\noptions y:1 z\n';
  expect(parseResolvConf(text)).toEqual({
    servers: ['1.1.1.1', 'fd00::1'],
    searches: ['a.example', 'b'],
    options: ['x', 'y:1', 'z'],
  });
});

test('C20: rejects a resolv.conf with a name server without address', () => {
  expect(() => parseResolvConf('nameserver 1.1.1.1\nnameserver\n')).toThrow('nameserver list is empty');
});

test('C20: reads a changed resolv.conf again even if its age and size are the same', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-resolver-'));
  const [file, other] = [join(directory, 'resolv.conf'), join(directory, 'other')];
  await writeFile(file, 'nameserver 192.0.2.53');
  const read = createResolvConfReader(file);
  const first = await read();
  expect(first.servers).toEqual(['192.0.2.53']);
  expect(await read()).toBe(first);
  await writeFile(other, 'nameserver 192.0.2.54');
  for (const each of [file, other]) await utimes(each, 1, 1);
  await rename(other, file);
  expect((await read()).servers).toEqual(['192.0.2.54']);
  await rm(file);
  await expect(read()).rejects.toThrow('ENOENT: no such file or directory, open');
  await rm(directory, { recursive: true });
});
