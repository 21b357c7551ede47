import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { packageDirectory } from '../../../../node/host/paths.ts';
import { digestOfSources, machinesDigest } from '../../../../node/start/observation/machinesDigest.ts';

const root = packageDirectory();
const copy = mkdtempSync(join(tmpdir(), 'statelet-digest-'));

afterAll(() => rmSync(copy, { recursive: true }));

test('the digest changes with the machines and with xstate, but with nothing else', () => {
  expect(machinesDigest()).toMatch(/^[0-9a-f]{16}$/);
  for (const folder of ['base', 'kubernetes', 'show', 'machines', 'actors'])
    cpSync(join(root, folder), join(copy, folder), { recursive: true });
  const library = join(copy, 'node_modules/xstate');
  mkdirSync(library, { recursive: true });
  cpSync(join(root, 'node_modules/xstate/package.json'), join(library, 'package.json'));
  expect(digestOfSources(copy)).toBe(machinesDigest());
  writeFileSync(join(copy, 'actors/services/another.ts'), '');
  expect(digestOfSources(copy)).toBe(machinesDigest());
  writeFileSync(join(copy, 'machines/pod/another.ts'), '');
  const others = digestOfSources(copy);
  expect(others).not.toBe(machinesDigest());
  writeFileSync(join(library, 'package.json'), '{"version":"0.0.0"}');
  expect(digestOfSources(copy)).not.toBe(others);
});
