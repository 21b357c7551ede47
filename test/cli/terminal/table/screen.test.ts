import { describe, expect, test } from '@jest/globals';
import { openScreen } from '../../../../cli/terminal/table/screen.ts';
import { seenOn } from '../../support/terminal.ts';

function opened() {
  const written: string[] = [];
  const screen = openScreen({ write: (text) => written.push(text) });
  return { screen, written, seen: () => seenOn(written.join('')) };
}

describe('the screen', () => {
  test('draws on the other screen of the terminal, and gives back the one that was there', () => {
    const { screen, written, seen } = opened();
    written.push('before\n');
    screen.enter();
    screen.draw(['one', 'two', 'three']);
    screen.draw(['uno', 'dos']);
    expect(seen()).toMatchObject({ other: ['uno', 'dos', ''], cursorShown: false, wraps: false });
    screen.leave();
    expect(seen()).toEqual({ normal: ['before'], other: undefined, cursorShown: true, wraps: true });
  });

  test('writes once for a change, only what has changed, and nothing without a change', () => {
    const { screen, written } = opened();
    screen.enter();
    screen.draw(['one', 'two']);
    const before = written.length;
    screen.draw(['one', 'two']);
    expect(written).toHaveLength(before);
    screen.draw(['one', 'deux']);
    expect(written).toHaveLength(before + 1);
    expect(written.at(-1)).toContain('deux');
    expect(written.at(-1)).not.toContain('one');
  });

  test('draws everything again after it was cleared, as when the terminal has another size', () => {
    const { screen, seen } = opened();
    screen.enter();
    screen.draw(['one', 'two', 'three']);
    screen.clear();
    screen.draw(['one', 'two']);
    expect(seen().other).toEqual(['one', 'two']);
  });

  test('clears a row before it writes it: a full one keeps its last character', () => {
    const { screen, written } = opened();
    screen.enter();
    screen.draw(['x']);
    expect(written.at(-1)).toContain('\x1b[2Kx');
    expect(written.at(-1)).not.toContain('x\x1b[K');
  });

  test('given back, it draws nothing, and giving it back again writes nothing', () => {
    const { screen, written } = opened();
    screen.enter();
    screen.leave();
    const before = written.length;
    screen.draw(['one']);
    screen.leave();
    expect(written).toHaveLength(before);
  });
});
