import type { RowTexts, TreeRow } from '../../model/actors/rows.ts';
import { colorClass } from '../../model/categoryIcons.ts';
import { CategoryIcon } from '../../parts/categoryIcon.tsx';

/** Returns the element id of a row. Different paths have different ids. */
export const rowId = (path: string): string => `row:${path}`;

interface RowProps {
  readonly row: TreeRow;
  readonly at: number;
  readonly height: number;
  readonly texts: RowTexts;
  readonly position: { readonly at: number; readonly of: number };
  readonly isSelected: boolean;
  readonly isCursor: boolean;
  readonly onSelect: () => void;
  readonly onFold: () => void;
}

/** Returns the CSS classes. Unhealthy rows are colored, and rows of actors that no longer exist are dimmed. */
function classesOf({ row: { row, isDeleted }, texts, isSelected, isCursor }: RowProps): string {
  const isUnhealthy = ['broken', 'retrying', 'failed'].includes(texts.category);
  return [
    `row d${Math.min(row.depth, 4)}`,
    texts.isHealthy ? 'calm' : isUnhealthy ? `hot ${colorClass(texts.category)}` : '',
    isSelected ? 'sel' : '',
    isCursor ? 'cur' : '',
    isDeleted ? 'gone' : '',
    row.isMatch ? '' : 'above',
  ]
    .filter((each) => each !== '')
    .join(' ');
}

export function Row(props: RowProps) {
  const { row: tree, at, height, texts, position, isSelected, onSelect, onFold } = props;
  const { row, isDeleted } = tree;
  return (
    <div
      id={rowId(row.path)}
      role="row"
      class={classesOf(props)}
      style={{ transform: `translateY(${at * height}px)` }}
      aria-level={row.depth + 1}
      aria-posinset={position.at}
      aria-setsize={position.of}
      aria-rowindex={at + 1}
      aria-selected={isSelected}
      aria-expanded={row.isExpanded}
      onClick={onSelect}
      onDblClick={row.isExpanded === undefined ? undefined : onFold}
    >
      <FoldButton isOpen={row.isExpanded} onFold={onFold} />
      <CategoryIcon category={texts.category} />
      <span class="sr">{texts.category}</span>
      <span role="gridcell" class="who">
        {texts.kind !== '' && <small class="k">{texts.kind}</small>}
        <span class="name">{texts.name}</span>
        {texts.suffix !== '' && <small>{texts.suffix}</small>}
      </span>
      <span role="gridcell" class="state" title={texts.detail}>
        {isDeleted ? 'gone' : texts.detail}
      </span>
      <span role="gridcell" class="t">
        {isDeleted ? '' : texts.time}
      </span>
    </div>
  );
}

/** The button that expands or collapses a row, or a spacer if the row has no children. */
function FoldButton({ isOpen, onFold }: { readonly isOpen: boolean | undefined; readonly onFold: () => void }) {
  if (isOpen === undefined) return <i class="leaf" />;
  const onClick = (event: Event) => {
    event.stopPropagation();
    onFold();
  };
  return (
    <span class="fold" onClick={onClick}>
      <svg class="chev" viewBox="0 0 8 8" aria-hidden="true">
        <path
          d={isOpen ? 'M1 2.5 4 5.5 7 2.5' : 'M2.5 1 5.5 4 2.5 7'}
          fill="none"
          stroke="currentColor"
          stroke-width="1.4"
          stroke-linecap="round"
          stroke-linejoin="round"
        />
      </svg>
    </span>
  );
}
