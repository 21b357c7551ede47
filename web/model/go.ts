import type { Page } from './page.ts';
import { type Place, urlOf } from './place.ts';

/**
 * Changes the location. A part with the value `undefined` is removed. `push` adds a history entry. While the user drags
 * the rail, the URL is not updated, because browsers limit the rate of history changes.
 */
export function go(
  page: Page,
  to: { readonly [Part in keyof Place]?: Place[Part] | undefined },
  how: 'push' | 'replace',
) {
  const all = Object.entries({ ...page.place.peek(), ...to }).filter(([, value]) => value !== undefined);
  // Safe cast: only optional parts may be undefined.
  const place = Object.fromEntries(all) as unknown as Place;
  // This throws for an invalid date, before the location changes.
  const url = urlOf(place);
  page.place.value = place;
  if (!page.isMoving.peek()) page.history[how](url);
}
