import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Key } from '../../../../cli/terminal/table/controls.ts';
import { openKeyboard } from '../../../../cli/terminal/table/keyboard.ts';

/** Resolves with the key that is read when a terminal sends these chunks. */
function readKey(...sent: readonly string[]): Promise<Key> {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  return new Promise((resolve) => {
    const keyboard = openKeyboard(input, (key) => {
      keyboard.close();
      resolve(key);
    });
    keyboard.acquire();
    for (const part of sent) input.write(part);
  });
}

test('a single Esc is recognized well within half a second', async () => {
  // Both timers run on one event loop, so the shorter one fires first however slow the machine is.
  expect(await Promise.race([readKey('\x1b'), pause(400, 'too late')])).toMatchObject({ name: 'escape' });
});

test('the parts of an escape sequence are read as one key', async () => {
  expect(await readKey('\x1b', '[A')).toMatchObject({ name: 'up' });
});
