import type { Page } from './page.ts';
import { formatUrl, type PageLocation } from './pageLocation.ts';

/**
 * Changes the location. A part with the value `undefined` is removed. `push` adds a history entry. While the user drags
 * the rail, the URL is not updated, because browsers limit the rate of history changes.
 */
export function navigate(
  page: Page,
  to: { readonly [Part in keyof PageLocation]?: PageLocation[Part] | undefined },
  how: 'push' | 'replace',
) {
  const definedEntries = Object.entries({ ...page.location.peek(), ...to }).filter(([, value]) => value !== undefined);
  // Safe cast: only optional parts may be undefined.
  const location = Object.fromEntries(definedEntries) as unknown as PageLocation;
  // This throws for an invalid date, before the location changes.
  const url = formatUrl(location);
  page.location.value = location;
  if (!page.isDragging.peek()) page.history[how](url);
}
