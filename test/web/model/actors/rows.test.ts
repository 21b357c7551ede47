import { describe, expect, test } from '@jest/globals';
import type { Frame } from '../../../../inspect/protocol.ts';
import {
  createTree,
  expandAncestors,
  pathAtOffset,
  rowsInView,
  rowTexts,
  setInputActive,
  siblingPositions,
  toggleRow,
} from '../../../../web/model/actors/rows.ts';
import { filterBy } from '../../../../web/model/navigation/actions.ts';
import { withFrame } from '../../../../web/model/server/world.ts';
import { API, actor, NOW, podOnPage, snapshotWith, wellPod } from '../../support/nodeOnPage.ts';
import { pageModel } from '../../support/pageModel.ts';

function treeOf(given: Parameters<typeof pageModel>[0] = {}) {
  const { page } = pageModel(given);
  const tree = createTree(page);
  const lines = () =>
    tree.rows.value.map((row) => {
      const { kind, name, suffix, detail, time } = rowTexts(row, page.world.value, page.now.value);
      const isOpen = row.row.isExpanded === undefined ? ' ' : row.row.isExpanded ? '-' : '+';
      const words = [kind, name, suffix, detail, time].filter((each) => each !== '').join(' ');
      return `${'  '.repeat(row.row.depth)}${isOpen} ${words}${row.isDeleted ? ' (gone)' : ''}`;
    });
  const change = (frame: Partial<Frame>) => {
    const empty = { at: NOW, pods: [], podsGone: [], actors: [], actorsGone: [], lines: [] };
    page.live.value = withFrame(page.live.value, { ...empty, ...frame });
  };
  return { page, tree, lines, change };
}

const three = () => treeOf({ first: snapshotWith(['a', 'b', 'c'].map((name) => wellPod(name))) });
const retrying = (name: string) => {
  const { actors } = podOnPage({ name, tree: { state: 'preparing', tags: ['retrying'], since: NOW - 5_000 } });
  return { actors: actors.map((each) => ({ ...each, order: 50 })) };
};

test('the rows are the same as on the terminal, sorted by severity', () => {
  const { page, tree, lines } = treeOf();
  expandAncestors(tree, page.world.value, API);
  expect(lines().slice(0, 14)).toEqual([
    '+ nodeAgent 10 actors 3h',
    '+ thumbs media ImagePullBackOff in 2m18s',
    '- checkout-api shop CrashLoopBackOff in 48s',
    '    volume settings mounted 4m',
    '    volume tmp mounted 4m',
    '    container api ended.backingOff in 48s',
    '  + container proxy running 4m',
    '  import-nightly batch OOMKilled 12m',
    '+ postgres data main: running.startingUp in 6s',
    '+ cart shop pull queue 1/2 31s',
    '+ encoder shop pull queue 2/2 31s',
    '+ search shop ContainerCreating 14s',
    '+ dns-a edge 1/1 3h',
    '+ gateway edge 1/1 3h',
  ]);
  expect(tree.count.value).toEqual({ pods: 19, actors: 52 });
});

test('a failed pod is shown as failed, although its machine is done', () => {
  const failed = podOnPage({
    name: 'import',
    pod: { phase: 'Failed', status: 'Error', ready: '0/1' },
    tree: { state: 'finished', tags: ['done', 'ended'], since: NOW - 60_000 },
  });
  const { page, tree, lines } = treeOf({ first: snapshotWith([wellPod('a'), failed]) });
  expect(lines()[1]).toMatch(/import.* Error 60s$/);
  const row = tree.rows.value[1];
  expect(row && rowTexts(row, page.world.value, NOW).category).toBe('failed');
  filterBy(page, 'is:failed');
  expect(lines().filter((line) => line.includes('import'))).toHaveLength(1);
});

test('a collapsed row shows its most severe descendant', () => {
  const { tree, lines } = treeOf();
  toggleRow(tree, 'pod/uid-thumbs');
  expect(lines().slice(1, 3)).toEqual([
    '- thumbs media ImagePullBackOff in 2m18s',
    '  + container main ErrImagePull in 2m18s',
  ]);
});

describe('a filter', () => {
  test('shows the matches and their ancestors', () => {
    const { page, lines } = treeOf();
    filterBy(page, 'is:retrying kind:container');
    expect(lines()).toEqual([
      '- checkout-api shop CrashLoopBackOff in 48s',
      '    container api ended.backingOff in 48s',
    ]);
  });

  test('with a syntax error reports the error and hides nothing', () => {
    const { page, tree } = treeOf();
    filterBy(page, 'is:retying');
    expect(tree.problem.value).toContain('did you mean retrying?');
    expect(tree.rows.value.length).toBeGreaterThan(19);
  });
});

describe('rows do not move while the list is in use', () => {
  test('a pod with a new problem moves up only after the pointer has left', () => {
    const { tree, lines, change } = three();
    setInputActive(tree, 'pointer', true);
    lines();
    change(retrying('c'));
    expect(lines().map((line) => line.slice(2, 3))).toEqual(['n', 'a', 'b', 'c']);
    expect(lines().at(-1)).toContain('c shop preparing');
    setInputActive(tree, 'pointer', false);
    expect(lines().map((line) => line.slice(2, 3))).toEqual(['n', 'c', 'a', 'b']);
  });

  test('rows of deleted actors stay, and new pods are appended', () => {
    const { tree, lines, change } = three();
    setInputActive(tree, 'focus', true);
    lines();
    const made = wellPod('aa');
    change({
      actorsGone: ['pod/uid-b', 'pod/uid-b/container/main'],
      podsGone: ['uid-b'],
      pods: [made.pod],
      actors: made.actors,
    });
    expect(lines().map((line) => line.slice(2).split(' ')[0])).toEqual(['nodeAgent', 'a', 'b', 'c', 'aa']);
    expect(lines()[2]).toContain('(gone)');
  });

  test('the number of rows of deleted actors is limited', () => {
    const names = Array.from({ length: 200 }, (_, at) => `p${String(at).padStart(3, '0')}`);
    const { tree, lines, change } = treeOf({ first: snapshotWith(names.map((name) => wellPod(name))) });
    setInputActive(tree, 'focus', true);
    expect(lines()).toHaveLength(201);
    for (const name of names)
      change({ podsGone: [`uid-${name}`], actorsGone: [`pod/uid-${name}`, `pod/uid-${name}/container/main`] });
    lines();
    for (const name of names) {
      change({ podsGone: [`uid-${name}`], actorsGone: [`pod/uid-${name}`] });
      lines();
    }
    expect(lines().length).toBeLessThanOrEqual(60);
  });

  test('a new child of an expanded row appears after the pointer has left', () => {
    const { tree, lines, change } = three();
    toggleRow(tree, 'pod/uid-a');
    setInputActive(tree, 'pointer', true);
    lines();
    const volume = actor({
      path: 'pod/uid-a/volume/v',
      parent: 'pod/uid-a',
      machine: 'volume',
      kind: 'volume',
      name: 'v',
    });
    change({ actors: [volume] });
    expect(lines()).toHaveLength(5);
    setInputActive(tree, 'pointer', false);
    expect(lines()).toHaveLength(6);
  });

  test('the user can still expand rows', () => {
    const { tree, lines, change } = three();
    setInputActive(tree, 'pointer', true);
    lines();
    change(retrying('c'));
    lines();
    toggleRow(tree, 'pod/uid-b');
    expect(lines().map((line) => line.trim().slice(0, 3))).toEqual(['+ n', '+ a', '- b', 'con', '+ c']);
  });
});

test('about 40 of 1,000 rows are rendered at any scroll position', () => {
  for (const top of [0, 480, 20_000, 24_000 - 672]) {
    const { from, to } = rowsInView(1_000, { top, height: 672, row: 24 });
    expect(to - from).toBeLessThanOrEqual(41);
    expect(from * 24).toBeLessThanOrEqual(top);
    expect(to * 24).toBeGreaterThanOrEqual(Math.min(24_000, top + 672));
  }
});

test('each row has its position among its siblings at every level', () => {
  const { page, tree } = treeOf();
  expandAncestors(tree, page.world.value, API);
  const places = siblingPositions(tree.rows.value);
  expect(places[0]).toEqual({ at: 1, of: 20 });
  expect(places[5]).toEqual({ at: 3, of: 4 });
  expect(places[7]).toEqual({ at: 4, of: 20 });
});

test('the cursor moves row by row and stops at the ends', () => {
  const { rows } = three().tree;
  expect(pathAtOffset(rows.value, '', 1)).toBe('pod/uid-a');
  expect(pathAtOffset(rows.value, 'pod/uid-c', 1)).toBe('pod/uid-c');
  expect(pathAtOffset(rows.value, 'pod/uid-c', -1_000)).toBe('');
  expect(pathAtOffset(rows.value, 'gone', 1)).toBe('');
});
