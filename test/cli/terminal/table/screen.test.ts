import { describe, expect, test } from '@jest/globals';
import { openScreen } from '../../../../cli/terminal/table/screen.ts';
import { seenOn } from '../../support/terminal.ts';

function opened() {
  const written: string[] = [];
  const screen = openScreen({ write: (text) => written.push(text) });
  return { screen, written, seen: () => seenOn(written.join('')) };
}

describe('the screen', () => {
  test('draws on the alternate screen of the terminal, and restores the previous one', () => {
    const { screen, written, seen } = opened();
    written.push('before\n');
    screen.enter();
    screen.draw(['one', 'two', 'three']);
    screen.draw(['uno', 'dos']);
    expect(seen()).toMatchObject({ other: ['uno', 'dos', ''], cursorShown: false, wraps: false });
    screen.leave();
    expect(seen()).toEqual({ normal: ['before'], other: undefined, cursorShown: true, wraps: true });
  });

  test('writes only the changes, in one write, and nothing without a change', () => {
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

  test('redraws everything after it was cleared, e.g. after a resize', () => {
    const { screen, seen } = opened();
    screen.enter();
    screen.draw(['one', 'two', 'three']);
    screen.clear();
    screen.draw(['one', 'two']);
    expect(seen().other).toEqual(['one', 'two']);
  });

  test('clears a row before writing it, so a full row retains its last character', () => {
    const { screen, written } = opened();
    screen.enter();
    screen.draw(['x']);
    expect(written.at(-1)).toContain('\x1b[2Kx');
    expect(written.at(-1)).not.toContain('x\x1b[K');
  });

  test('draws nothing after leaving, and leaving again writes nothing', () => {
    const { screen, written } = opened();
    screen.enter();
    screen.leave();
    const before = written.length;
    screen.draw(['one']);
    screen.leave();
    expect(written).toHaveLength(before);
  });
});
