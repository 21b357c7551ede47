import { expect, test } from '@jest/globals';
import { ownCommand, shownFlags } from '../../node/shownFlags.ts';

const URL = 'https://user:password@example.com/pods';

test('a command line is shown without the values of flags that may hold a secret', () => {
  const words = ['node', 'bin.mjs', 'run', '--manifest-url', URL, `--manifest-url=${URL}`, '--v=2', '--node-ip', '::1'];
  const masked = ['--manifest-url', '<masked>', '--manifest-url=<masked>'];
  expect(ownCommand(words)).toEqual(['node', 'bin.mjs', 'run', ...masked, '--v=2', '--node-ip', '::1']);
  expect(ownCommand(['--manifest-url-header=Authorization:Basic a==', '--x=a=b'])).toEqual([
    '--manifest-url-header=<masked>',
    '--x=a=b',
  ]);
});

test('so are the flags', () => {
  const flags = { '--manifest-url': URL, '--v': 2, '--port': undefined };
  const given = { flags } as unknown as Parameters<typeof shownFlags>[0]['given'];
  expect([...shownFlags({ given })]).toEqual([
    ['manifest-url', '<masked>'],
    ['v', '2'],
  ]);
});
