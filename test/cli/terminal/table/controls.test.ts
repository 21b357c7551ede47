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
  ])('%j scroll to line %i, and never past the start or the end', (names, offset) => {
    expect(offsetAfter(...names)).toBe(offset);
  });

  test('s cycles through the sort orders, R reverses the order, d cycles through the detail levels', () => {
    expect(chosen(INITIAL_CONTROLS, 's')).toMatchObject({ sortOrder: 'name' });
    expect(chosen(INITIAL_CONTROLS, 's', 's', 's', 's')).toMatchObject({ sortOrder: 'worst' });
    expect(chosen(INITIAL_CONTROLS, 'R')).toMatchObject({ isReversed: true });
    expect(chosen(INITIAL_CONTROLS, 'd', 'd')).toMatchObject({ detailLevel: 'problems' });
  });

  test('/ turns keys into filter text until Enter applies the filter or Esc clears it', () => {
    const typing = chosen(INITIAL_CONTROLS, '/', 's', 'x', 'backspace', 'q', 'ctrl-z');
    expect(typing).toMatchObject({ draftFilter: 'sq', sortOrder: 'worst' });
    expect(effectiveFilter(typing)).toBe('sq');
    const kept = chosen(typing, 'return');
    expect(kept).toMatchObject({ filter: 'sq' });
    expect(kept.draftFilter).toBeUndefined();
    expect(effectiveFilter(chosen(typing, 'escape'))).toBe('');
    expect(effectiveFilter(chosen(kept, 'escape'))).toBe('');
  });

  test('q does not quit but shows how to, and closes another page', () => {
    expect(chosen(INITIAL_CONTROLS, 'q').hint).toContain('Ctrl-C');
    expect(chosen(INITIAL_CONTROLS, 'q', 'j').hint).toBeUndefined();
    expect(chosen(INITIAL_CONTROLS, '?')).toMatchObject({ page: 'help' });
    expect(chosen(INITIAL_CONTROLS, '?', 'q')).toMatchObject({ page: 'table' });
    expect(chosen(INITIAL_CONTROLS, 'l', 'escape')).toMatchObject({ page: 'table' });
  });

  test('scroll the log, which follows its end unless it has been scrolled up', () => {
    const log = chosen(INITIAL_CONTROLS, 'l');
    expect(clampOffset(log.offset, { visibleLines: 10, totalLines: 50 })).toBe(40);
    const away = chosen(log, 'up');
    expect(clampOffset(away.offset, { visibleLines: 10, totalLines: 50 })).toBe(24);
    expect(clampOffset(chosen(away, 'end').offset, { visibleLines: 10, totalLines: 50 })).toBe(40);
  });

  test('do not include the names of object properties', () => {
    expect(chosen(INITIAL_CONTROLS, 'constructor', 'toString', '__proto__')).toEqual(INITIAL_CONTROLS);
  });
});

describe('a keypress from Node', () => {
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
  ])('of %j is parsed', (text, press, key) => {
    expect(toKey(text, press)).toEqual(key);
  });
});
