import { describe, expect, test } from '@jest/globals';
import {
  type DrawnTree,
  initialControls,
  selectedIndex,
  type TopControls,
  topControlsAfterKey,
} from '../../../../../cli/commands/top/view/controls.ts';
import { actorRows } from '../../../../../show/actors/actorRows.ts';
import { actorsOf, crashed, seen } from './scenes.ts';

const actors = actorsOf([seen('a'), seen('b', crashed), seen('c')]);

const treeOf = ({ expandedPaths, sortOrder }: TopControls, visibleRowCount = 10): DrawnTree => ({
  rows: actorRows(actors, { isOpen: (path) => expandedPaths.has(path), order: sortOrder }),
  visibleRowCount,
  from: 0,
});

/** The controls after keys, each pressed on the tree as it is drawn then. */
const pressed = (keys: string, from = initialControls(''), room = 10): TopControls =>
  keys
    .split(' ')
    .reduce(
      (controls, name) =>
        topControlsAfterKey(controls, { name, ...(name.length === 1 ? { text: name } : {}) }, treeOf(controls, room)),
      from,
    );

const selectedBy = (keys: string) => pressed(keys).selectedPath;

describe('moving', () => {
  test.each([
    ['down', 'pod/b'],
    ['j j', 'pod/a'],
    ['down down k', 'pod/b'],
    ['G', 'pod/c'],
    ['end up home', ''],
    ['pagedown', 'pod/c'],
    ['up', ''],
  ])('%s selects %s', (keys, path) => expect(selectedBy(keys)).toBe(path));

  test('preserves the screen position of the selection when rows are inserted above it', () => {
    const controls = pressed('down down');
    expect([controls.selectedPath, controls.line]).toEqual(['pod/a', 2]);
    const tree = treeOf({ ...controls, sortOrder: 'name' });
    expect(selectedIndex(tree, controls)).toBe(1);
  });
});

describe('expanding and collapsing', () => {
  test.each([
    ['down right right', 'pod/b/container/app'],
    ['down l l', 'pod/b/container/app'],
    ['down right right left', 'pod/b'],
    ['down right right left left', 'pod/b'],
    ['down right right right', 'pod/b/container/app'],
  ])('%s selects %s', (keys, path) => expect(selectedBy(keys)).toBe(path));

  test('o expands all visible rows, and c collapses them and selects the visible ancestor of a hidden selection', () => {
    expect(treeOf(pressed('o')).rows.length).toBeGreaterThan(7);
    const controls = pressed('down right right c');
    expect(treeOf(controls).rows).toHaveLength(4);
    expect(selectedIndex(treeOf(controls), controls)).toBe(1);
    expect(topControlsAfterKey(controls, { name: 'down' }, treeOf(controls)).selectedPath).toBe('pod/a');
  });
});

describe('choosing', () => {
  test('s selects the sort order, and R reverses it', () => {
    expect(pressed('s')).toMatchObject({ sortOrder: 'name', isReversed: false });
    expect(pressed('s s R')).toMatchObject({ sortOrder: 'age', isReversed: true });
    expect(pressed('s s s s')).toMatchObject({ sortOrder: 'worst' });
  });

  test('/ edits a filter that Enter applies and Esc clears, and other keys are text meanwhile', () => {
    expect(pressed('/ w e b')).toMatchObject({ draftFilter: 'web', filter: '', isQuitting: false });
    expect(pressed('/ w q backspace return')).toMatchObject({ filter: 'w', isQuitting: false });
    expect(pressed('/ w return')).not.toHaveProperty('draftFilter');
    expect(pressed('/ w return escape')).toMatchObject({ filter: '' });
  });

  test('Esc closes the innermost view first', () => {
    const controls = pressed('return ?', initialControls('web'));
    expect(controls).toMatchObject({ page: 'help', showsDetail: true, filter: 'web' });
    expect(pressed('escape', controls)).toMatchObject({ page: 'tree', showsDetail: true });
    expect(pressed('escape escape', controls)).toMatchObject({ showsDetail: false, filter: 'web' });
    expect(pressed('escape escape escape', controls)).toMatchObject({ filter: '' });
  });

  test('[ and ] scroll the history, which restarts at the end when the selection moves', () => {
    expect(pressed('return [ [ ]').offset).toBe(1);
    expect(pressed('return [ [ down').offset).toBe(0);
  });

  test('q quits, and a key without a meaning does nothing, whatever its name is', () => {
    expect(pressed('q').isQuitting).toBe(true);
    expect(pressed('constructor x')).toEqual(initialControls(''));
  });
});
