import { useSignal } from '@preact/signals';
import { escapeTexts } from '../../model/log/escapeTexts.ts';
import { filterBy } from '../../model/navigation/actions.ts';
import { Glyph } from '../../parts/glyph.tsx';
import type { Panel } from '../panel.ts';

/** Id of the filter field, for the shortcut that focuses it. */
export const FIND_ID = 'find';

/** The field with the filter of the tree, and its syntax error. */
export function Find(panel: Panel) {
  const { page, tree } = panel;
  const problem = tree.problem.value;
  const query = page.location.value.query ?? '';
  const isFocused = useSignal(false);
  return (
    <div class="finder" role="search">
      <label class="find">
        <Glyph of="find" />
        <input
          id={FIND_ID}
          type="text"
          value={query}
          placeholder="Find: name, state, waits>30s"
          aria-label="Find actors"
          aria-invalid={problem !== undefined}
          aria-describedby="find-problem"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => filterBy(page, event.currentTarget.value)}
          onKeyDown={(event) => onKeyDown(panel, event)}
          onFocus={() => {
            isFocused.value = true;
          }}
          onBlur={() => {
            isFocused.value = false;
          }}
        />
        {query === '' && !isFocused.value && <kbd>/</kbd>}
      </label>
      <p id="find-problem" class="problem" role="status">
        {(problem === undefined ? undefined : escapeTexts(problem)) ??
          (isFocused.value && query === '' ? 'text  state:  ns:  kind:  is:retrying  waits>30s  changed<1m' : '')}
      </p>
    </div>
  );
}

/** Handles key presses. Enter moves the focus to the results, and Escape removes the filter. */
function onKeyDown({ page, tree }: Panel, event: KeyboardEvent): void {
  if (event.key === 'Escape') {
    event.stopPropagation();
    filterBy(page, '');
  } else if (event.key === 'Enter' || event.key === 'ArrowDown') {
    tree.cursor.value = tree.rows.peek().find(({ row }) => row.isMatch)?.row.path ?? tree.cursor.peek();
  } else return;
  event.preventDefault();
  rowsElement()?.focus();
}

/** Returns the element of the list of rows, which handles key presses. */
export const rowsElement = (): HTMLElement | null => document.querySelector<HTMLElement>('.rows');
