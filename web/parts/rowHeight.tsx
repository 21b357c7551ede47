/** How high a row of the tree is: on a narrow page a finger has to hit it. */
import { signal } from '@preact/signals';

const narrow = matchMedia('(max-width: 699px)');
const heightOf = (isNarrow: boolean): number => (isNarrow ? 40 : 24);

/** In CSS pixels, as `tree.css` has it. */
export const rowHeight = signal(heightOf(narrow.matches));

narrow.addEventListener('change', ({ matches }) => {
  rowHeight.value = heightOf(matches);
});
