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

/** Returns the controls after these keys, each of which is applied to the tree as it is shown at that time. */
const controlsAfter = (keys: string, from = initialControls(''), room = 10): TopControls =>
  keys
    .split(' ')
    .reduce(
      (controls, name) =>
        topControlsAfterKey(controls, { name, ...(name.length === 1 ? { text: name } : {}) }, treeOf(controls, room)),
      from,
    );

const selectedBy = (keys: string) => controlsAfter(keys).selectedPath;

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
    const controls = controlsAfter('down down');
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
    expect(treeOf(controlsAfter('o')).rows.length).toBeGreaterThan(7);
    const controls = controlsAfter('down right right c');
    expect(treeOf(controls).rows).toHaveLength(4);
    expect(selectedIndex(treeOf(controls), controls)).toBe(1);
    expect(topControlsAfterKey(controls, { name: 'down' }, treeOf(controls)).selectedPath).toBe('pod/a');
  });
});

describe('choosing', () => {
  test('s selects the sort order, and R reverses it', () => {
    expect(controlsAfter('s')).toMatchObject({ sortOrder: 'name', isReversed: false });
    expect(controlsAfter('s s R')).toMatchObject({ sortOrder: 'age', isReversed: true });
    expect(controlsAfter('s s s s')).toMatchObject({ sortOrder: 'worst' });
  });

  test('/ edits a filter that Enter applies and Esc clears, and other keys are text meanwhile', () => {
    expect(controlsAfter('/ w e b')).toMatchObject({ draftFilter: 'web', filter: '', isQuitting: false });
    expect(controlsAfter('/ w q backspace return')).toMatchObject({ filter: 'w', isQuitting: false });
    expect(controlsAfter('/ w return')).not.toHaveProperty('draftFilter');
    expect(controlsAfter('/ w return escape')).toMatchObject({ filter: '' });
  });

  test('Esc closes the innermost view first', () => {
    const controls = controlsAfter('return ?', initialControls('web'));
    expect(controls).toMatchObject({ page: 'help', showsDetail: true, filter: 'web' });
    expect(controlsAfter('escape', controls)).toMatchObject({ page: 'tree', showsDetail: true });
    expect(controlsAfter('escape escape', controls)).toMatchObject({ showsDetail: false, filter: 'web' });
    expect(controlsAfter('escape escape escape', controls)).toMatchObject({ filter: '' });
  });

  test('[ and ] scroll the history, which restarts at the end when the selection moves', () => {
    expect(controlsAfter('return [ [ ]').offset).toBe(1);
    expect(controlsAfter('return [ [ down').offset).toBe(0);
  });

  test('q quits, and a key without a meaning does nothing, whatever its name is', () => {
    expect(controlsAfter('q').isQuitting).toBe(true);
    expect(controlsAfter('constructor x')).toEqual(initialControls(''));
  });
});
