import type { Page } from './page.ts';
import { type Place, urlOf } from './place.ts';

/**
 * Goes to another place; what `undefined` is given for is left out of it. `push` adds to the history. While the hand is on
 * the rail nothing is written: browsers allow only so many changes in a while, and where it lets go is what counts.
 */
export function go(
  page: Page,
  to: { readonly [Part in keyof Place]?: Place[Part] | undefined },
  how: 'push' | 'replace',
) {
  const all = Object.entries({ ...page.place.peek(), ...to }).filter(([, value]) => value !== undefined);
  // Of the parts of a place only those may be undefined that may be absent.
  const place = Object.fromEntries(all) as unknown as Place;
  // Of a moment that there is not it throws, and one stays where one is.
  const url = urlOf(place);
  page.place.value = place;
  if (!page.isMoving.peek()) page.history[how](url);
}
