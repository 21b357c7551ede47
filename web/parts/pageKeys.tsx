/** The keyboard shortcuts of the page and its reading panels. */

import { lookUp } from '../../base/values/lookUp.ts';
import { pathAtOffset, toggleRow } from '../model/actors/rows.ts';
import { navigate, select } from '../model/navigation/actions.ts';
import { type KeyAction, type KeyPress, registerKeys } from '../model/navigation/keys.ts';
import { FIND_ID, rowsElement } from '../panels/navigation/find.tsx';
import type { Panel } from '../panels/panel.ts';
import { toggleTheme } from './theme.tsx';

/** Registers the shortcuts permanently. */
export function registerPageKeys(panel: Panel): void {
  registerKeys(panel.page, [...treeKeys(panel), ...panelKeys(panel), ...pageKeys(panel)]);
}

const isInTree = (): boolean => document.activeElement === rowsElement();

/** Number of rows that Page Up and Page Down move. */
const PAGE_ROWS = 20;
/** An offset that is larger than any number of rows. */
const MAX_OFFSET = 1_000_000;

/** Moves the cursor and gives the tree the focus. */
function moveCursor({ tree }: Panel, offset: number): void {
  rowsElement()?.focus();
  tree.cursor.value = pathAtOffset(tree.rows.peek(), tree.cursor.peek(), offset);
}

const rowAt = ({ tree }: Pick<Panel, 'tree'>) =>
  tree.rows.peek().find(({ row }) => row.path === tree.cursor.peek())?.row;

function close({ page, tree }: Panel): void {
  const row = rowAt({ tree });
  if (row?.isExpanded) toggleRow(tree, row.path, false);
  else if (row && row.depth > 0) tree.cursor.value = page.world.peek().actors.get(row.path)?.parent ?? row.path;
}

function open(panel: Panel): void {
  const row = rowAt(panel);
  if (row?.isExpanded === false) toggleRow(panel.tree, row.path, true);
  else if (row?.isExpanded) moveCursor(panel, 1);
}

function treeKeys(panel: Panel): KeyAction[] {
  const { page, tree, reading } = panel;
  const to = (steps: Readonly<Record<string, number>>) => (stroke: KeyPress) =>
    moveCursor(panel, lookUp(steps, stroke.key) ?? 0);
  const inTree = { group: 'Actors', isActive: isInTree } satisfies Partial<KeyAction>;
  return [
    { keys: ['j', 'k'], group: 'Actors', description: 'Move down, up', run: to({ j: 1, k: -1 }) },
    { ...inTree, keys: ['ArrowDown', 'ArrowUp'], description: 'Move down, up', run: to({ ArrowDown: 1, ArrowUp: -1 }) },
    {
      ...inTree,
      keys: ['PageDown', 'PageUp'],
      description: 'Move far',
      run: to({ PageDown: PAGE_ROWS, PageUp: -PAGE_ROWS }),
    },
    {
      ...inTree,
      keys: ['Home', 'End'],
      description: 'Move to an end',
      run: to({ Home: -MAX_OFFSET, End: MAX_OFFSET }),
    },
    { ...inTree, keys: ['ArrowLeft', 'h'], description: 'Close, or move to what is above', run: () => close(panel) },
    { ...inTree, keys: ['ArrowRight'], description: 'Open', run: () => open(panel) },
    {
      ...inTree,
      keys: ['Enter'],
      description: 'Show the actor',
      run: () => {
        select(page, tree.cursor.peek());
        reading.narrowTab.value = 'why';
      },
    },
    { keys: ['/'], group: 'Actors', description: 'Find', run: () => focusOn(reading, 'actors', `#${FIND_ID}`) },
  ];
}

/** Shows a panel if it is hidden, and gives it the focus. */
function focusOn(reading: Panel['reading'], tab: Panel['reading']['narrowTab']['value'], selector: string): void {
  reading.narrowTab.value = tab;
  const focus = () => document.querySelector<HTMLElement>(selector)?.focus();
  // Focus at once, so that the panel receives the next key. A hidden element cannot be focused before it is rendered.
  focus();
  if (!document.activeElement?.matches(selector)) requestAnimationFrame(focus);
}

function panelKeys({ reading }: Panel): KeyAction[] {
  const targets = [
    ['1', 'actors', '.rows'],
    ['2', 'chart', '.chart [tabindex], .chart button'],
    ['3', 'story', '.lanes [tabindex], .lanes button'],
    ['4', 'why', '.why'],
  ] as const;
  const run: KeyAction['run'] = ({ key }) => {
    const focusTarget = targets.find(([each]) => each === key);
    if (!focusTarget) return;
    if (focusTarget[1] === 'why') reading.isDrawerOpen.value = true;
    focusOn(reading, focusTarget[1], focusTarget[2]);
  };
  return [
    { keys: targets.map(([key]) => key), group: 'Page', description: 'Go to the tree, the chart, the story, Why', run },
  ];
}

function pageKeys({ page, reading }: Panel): KeyAction[] {
  const podPage = () => {
    if (page.selectedPath.peek()?.startsWith('pod/'))
      navigate(page, { isPodPage: !page.location.peek().isPodPage }, 'replace');
  };
  const goBack = () => {
    if (reading.isDrawerOpen.peek()) reading.isDrawerOpen.value = false;
    else if (page.location.peek().isPodPage) podPage();
    else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  };
  const toggleWhyDrawer = () => {
    reading.isDrawerOpen.value = !reading.isDrawerOpen.peek();
    reading.narrowTab.value = 'why';
  };
  const copyUrl = () => void navigator.clipboard?.writeText(location.href).catch(() => {});
  return [
    { keys: ['p'], group: 'Page', description: 'Open or close the pod page', run: podPage },
    { keys: ['w'], group: 'Page', description: 'Open or close Why, where it is a drawer', run: toggleWhyDrawer },
    { keys: ['y'], group: 'Page', description: 'Copy the link to what is shown', run: copyUrl },
    { keys: ['t'], group: 'Page', description: 'Turn dark to light', run: toggleTheme },
    {
      keys: ['?'],
      group: 'Page',
      description: 'Show the keys',
      run: () => {
        reading.areKeysShown.value = !reading.areKeysShown.peek();
      },
    },
    { keys: ['Escape'], group: 'Page', description: 'Back', run: goBack },
  ];
}
