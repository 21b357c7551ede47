/** The tree of all actors, sorted by severity. Only the visible rows are in the document. */

import { signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import {
  rowsInView,
  rowTexts,
  setInputActive,
  siblingPositions,
  type TreeRow,
  toggleRow,
} from '../../model/actors/rows.ts';
import { select } from '../../model/navigation/actions.ts';
import type { Panel } from '../panel.ts';
import { Row, rowId } from '../story/row.tsx';
import { Find } from './find.tsx';
import './tree.css';

const narrowScreen = matchMedia('(max-width: 699px)');
const heightOf = (isNarrow: boolean): number => (isNarrow ? 40 : 24);

/**
 * Height of a row in CSS pixels. The value is the same as in `tree.css`. Rows are higher on a narrow page, so that they
 * can be tapped.
 */
const rowHeight = signal(heightOf(narrowScreen.matches));

narrowScreen.addEventListener('change', ({ matches }) => {
  rowHeight.value = heightOf(matches);
});

export function Tree(panel: Panel) {
  const { page, tree } = panel;
  const { pods, actors } = tree.count.value;
  const { trouble } = page.world.value.node;
  return (
    <nav class="tree" aria-label="Actors">
      <Find {...panel} />
      <div class="treehead">
        <span>
          {pods} {pods === 1 ? 'pod' : 'pods'}, {actors} actors
        </span>
        <span>{tree.isInUse.value ? 'order held' : 'worst first'}</span>
      </div>
      {trouble !== undefined && (
        <p class="trouble" role="status">
          {trouble}
        </p>
      )}
      <Rows {...panel} />
    </nav>
  );
}

/** The visible part of the list, in pixels. */
interface ScrollView {
  readonly top: number;
  readonly height: number;
}

/** The part that is assumed to be visible before the first layout. It is larger than the actual one. */
const INITIAL_VIEW: ScrollView = { top: 0, height: 900 };

function Rows(panel: Panel) {
  const { page, tree } = panel;
  const box = useRef<HTMLDivElement>(null);
  // Undefined until the first layout. Measuring earlier would delay the first paint.
  const view = useSignal<ScrollView | undefined>(undefined);
  const measure = () => {
    const { current } = box;
    if (!current) return;
    const { scrollTop: top, clientHeight: height } = current;
    if (view.value?.top !== top || view.value.height !== height) view.value = { top, height };
  };
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const rows = tree.rows.value;
  const cursor = tree.cursor.value;
  useLayoutEffect(() => scrollIntoView(box.current, view.peek(), rows, cursor), [cursor, view.value === undefined]);
  return (
    <div
      ref={box}
      class="rows"
      role="treegrid"
      tabIndex={0}
      aria-label={`Actors of ${page.world.value.node.name}`}
      aria-rowcount={rows.length}
      aria-activedescendant={rowId(cursor)}
      onScroll={measure}
      {...inputHandlers(panel)}
    >
      {rows.length === 0 ? (
        <EmptyTree {...panel} />
      ) : (
        <VisibleRows {...panel} rows={rows} view={view.value ?? INITIAL_VIEW} />
      )}
    </div>
  );
}

/** Returns the event handlers that prevent rows from moving while the pointer or the focus is in the list. */
const inputHandlers = ({ tree }: Panel) => ({
  onPointerEnter: () => setInputActive(tree, 'pointer', true),
  onPointerLeave: () => setInputActive(tree, 'pointer', false),
  onFocusIn: () => setInputActive(tree, 'focus', true),
  onFocusOut: () => setInputActive(tree, 'focus', false),
});

/** Scrolls just enough to make the cursor visible. */
function scrollIntoView(
  box: HTMLElement | null,
  view: ScrollView | undefined,
  rows: readonly TreeRow[],
  cursor: string,
): void {
  const at = rows.findIndex(({ row }) => row.path === cursor);
  if (!box || !view || at < 0) return;
  const top = at * rowHeight.peek();
  const bottom = top + rowHeight.peek() + 8;
  if (top < view.top) box.scrollTop = top;
  else if (bottom > view.top + view.height) box.scrollTop = bottom - view.height;
}

interface VisibleRowsProps extends Panel {
  readonly rows: readonly TreeRow[];
  readonly view: ScrollView;
}

function VisibleRows({ page, tree, reading, rows, view }: VisibleRowsProps) {
  const height = rowHeight.value;
  const { from, to } = rowsInView(rows.length, { ...view, row: height });
  const positions = siblingPositions(rows);
  const world = page.world.value;
  const now = page.now.value;
  const onSelect = (path: string) => {
    tree.cursor.value = path;
    select(page, path);
    reading.narrowTab.value = 'why';
  };
  return (
    <div class="all" style={{ height: `${rows.length * height}px` }}>
      {rows.slice(from, to).map((each, index) => (
        <Row
          key={each.row.path}
          row={each}
          at={from + index}
          height={height}
          texts={rowTexts(each, world, now)}
          position={positions[from + index] ?? { at: 1, of: 1 }}
          isSelected={each.row.path === page.selectedPath.value}
          isCursor={each.row.path === tree.cursor.value}
          onSelect={() => onSelect(each.row.path)}
          onFold={() => toggleRow(tree, each.row.path, !each.row.isExpanded)}
        />
      ))}
    </div>
  );
}

/** The text shown if there are no rows. */
function EmptyTree({ page, tree }: Panel) {
  const { sources } = page.world.value.node;
  if (page.location.value.query !== undefined) {
    return <p class="none">No actor is like this. {tree.count.value.actors} are hidden by the filter.</p>;
  }
  return (
    <div class="none">
      <p>No actors yet.</p>
      <Sources sources={sources} />
    </div>
  );
}

/** The sources of pods with their problems. */
export const Sources = ({
  sources,
}: {
  readonly sources: readonly { readonly name: string; readonly trouble?: string }[];
}) => (
  <ul class="sources">
    {sources.map(({ name, trouble }) => (
      <li key={name}>
        Watching {name}
        {trouble !== undefined && <span class="c-retry">: {trouble}</span>}
      </li>
    ))}
  </ul>
);
