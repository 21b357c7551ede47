import { describe, expect, test } from '@jest/globals';
import {
  type Controls,
  clampOffset,
  controlsAfterKey,
  effectiveFilter,
  INITIAL_CONTROLS,
} from '../../../../cli/terminal/table/controls.ts';
import { toKey } from '../../../../cli/terminal/table/keyboard.ts';

const extent = { visibleLines: 10, totalLines: 35 };

const chosen = (controls: Controls, ...names: string[]): Controls =>
  names.reduce(
    (now, name) => controlsAfterKey(now, { name, ...(name.length === 1 ? { text: name } : {}) }, extent),
    controls,
  );

const offsetAfter = (...names: string[]) => chosen(INITIAL_CONTROLS, ...names).offset;

describe('the keys of the live table', () => {
  test.each([
    [['down', 'j'], 2],
    [['down', 'up', 'k'], 0],
    [['pagedown', 'space'], 20],
    [['pagedown', 'pageup', 'b'], 0],
    [['end'], 25],
    [['G', 'home'], 0],
    [['pagedown', 'pagedown', 'pagedown', 'pagedown', 'down'], 25],
  ])('%j scrolls to line %i, never past an end', (names, offset) => {
    expect(offsetAfter(...names)).toBe(offset);
  });

  test('s goes through the orders, R turns the order round, d goes through the details', () => {
    expect(chosen(INITIAL_CONTROLS, 's')).toMatchObject({ sortOrder: 'name' });
    expect(chosen(INITIAL_CONTROLS, 's', 's', 's', 's')).toMatchObject({ sortOrder: 'worst' });
    expect(chosen(INITIAL_CONTROLS, 'R')).toMatchObject({ isReversed: true });
    expect(chosen(INITIAL_CONTROLS, 'd', 'd')).toMatchObject({ detailLevel: 'problems' });
  });

  test('after / keys are text until Enter, which keeps the filter, or Esc, which clears it', () => {
    const typing = chosen(INITIAL_CONTROLS, '/', 's', 'x', 'backspace', 'q', 'ctrl-z');
    expect(typing).toMatchObject({ draftFilter: 'sq', sortOrder: 'worst' });
    expect(effectiveFilter(typing)).toBe('sq');
    const kept = chosen(typing, 'return');
    expect(kept).toMatchObject({ filter: 'sq' });
    expect(kept.draftFilter).toBeUndefined();
    expect(effectiveFilter(chosen(typing, 'escape'))).toBe('');
    expect(effectiveFilter(chosen(kept, 'escape'))).toBe('');
  });

  test('q ends nothing, but says how to; from another page it goes back', () => {
    expect(chosen(INITIAL_CONTROLS, 'q').hint).toContain('Ctrl-C');
    expect(chosen(INITIAL_CONTROLS, 'q', 'j').hint).toBeUndefined();
    expect(chosen(INITIAL_CONTROLS, '?')).toMatchObject({ page: 'help' });
    expect(chosen(INITIAL_CONTROLS, '?', 'q')).toMatchObject({ page: 'table' });
    expect(chosen(INITIAL_CONTROLS, 'l', 'escape')).toMatchObject({ page: 'table' });
  });

  test('the log begins at its end and follows it, unless one has scrolled away from it', () => {
    const log = chosen(INITIAL_CONTROLS, 'l');
    expect(clampOffset(log.offset, { visibleLines: 10, totalLines: 50 })).toBe(40);
    const away = chosen(log, 'up');
    expect(clampOffset(away.offset, { visibleLines: 10, totalLines: 50 })).toBe(24);
    expect(clampOffset(chosen(away, 'end').offset, { visibleLines: 10, totalLines: 50 })).toBe(40);
  });

  test('names that every object has are no keys', () => {
    expect(chosen(INITIAL_CONTROLS, 'constructor', 'toString', '__proto__')).toEqual(INITIAL_CONTROLS);
  });
});

describe('what Node says of a key', () => {
  test.each([
    ['G', { name: 'g', shift: true, sequence: 'G' }, { name: 'G', text: 'G' }],
    ['/', { sequence: '/' }, { name: '/', text: '/' }],
    ['日', { sequence: '日' }, { name: '日', text: '日' }],
    [' ', { name: 'space', sequence: ' ' }, { name: 'space', text: ' ' }],
    [undefined, { name: 'up', sequence: '\x1b[A' }, { name: 'up' }],
    ['\r', { name: 'return', sequence: '\r' }, { name: 'return' }],
    ['\x03', { name: 'c', ctrl: true, sequence: '\x03' }, { name: 'ctrl-c' }],
    ['\x1c', { sequence: '\x1c' }, { name: 'ctrl-\\' }],
    ['\x1b', { name: 'escape', meta: true, sequence: '\x1b' }, { name: 'escape' }],
    ['\x1bj', { name: 'j', meta: true, sequence: '\x1bj' }, { name: 'meta-j' }],
  ])('%j is read', (text, press, key) => {
    expect(toKey(text, press)).toEqual(key);
  });
});
