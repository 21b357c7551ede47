import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { openSecretLink } from '../../../../cli/commands/record/desktop.ts';

test('a link with a token is opened through an owner-only file, because other users can read command lines', async () => {
  const opened: string[] = [];
  const link = 'http://127.0.0.1:4000/?token=secret&at=2026-01-01T00:00:00.000Z';
  const cleanUp = await openSecretLink(link, {
    environment: { DISPLAY: ':0' },
    open: async (url) => void opened.push(url),
  });
  const [url = ''] = opened;
  expect(url).toMatch(/^file:/);
  expect(url).not.toContain('secret');
  const file = fileURLToPath(url);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).toContain(`url=${link}"`);
  await cleanUp();
  expect(existsSync(file)).toBe(false);
});
