import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Key } from '../../../../cli/terminal/table/controls.ts';
import { openKeyboard } from '../../../../cli/terminal/table/keyboard.ts';

/** The keys that a terminal sends, each as it is heard. */
function heard(...sent: readonly string[]): Promise<Key> {
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
  // Both times pass on one event loop, so that the shorter one ends first however slow the machine is.
  expect(await Promise.race([heard('\x1b'), pause(400, 'too late')])).toMatchObject({ name: 'escape' });
});

test('the parts of an escape sequence are read as one key', async () => {
  expect(await heard('\x1b', '[A')).toMatchObject({ name: 'up' });
});
