/** The height of a row of the tree. Rows are higher on a narrow page, so that they can be tapped. */
import { signal } from '@preact/signals';

const narrowScreen = matchMedia('(max-width: 699px)');
const heightOf = (isNarrow: boolean): number => (isNarrow ? 40 : 24);

/** Height of a row in CSS pixels. The value is the same as in `tree.css`. */
export const rowHeight = signal(heightOf(narrowScreen.matches));

narrowScreen.addEventListener('change', ({ matches }) => {
  rowHeight.value = heightOf(matches);
});
