import type { Page } from '../page.ts';
import { formatUrl, type PageLocation } from './pageLocation.ts';

/**
 * Changes the location. A field with the value `undefined` is removed. `push` adds an entry to the browser's history.
 * The URL is not updated while the user scrubs the timeline, because browsers limit the rate of history changes.
 */
export function navigate(
  page: Page,
  to: { readonly [Part in keyof PageLocation]?: PageLocation[Part] | undefined },
  how: 'push' | 'replace',
) {
  const definedEntries = Object.entries({ ...page.location.peek(), ...to }).filter(([, value]) => value !== undefined);
  // Safe cast: only optional fields may be undefined.
  const location = Object.fromEntries(definedEntries) as unknown as PageLocation;
  // Format the URL first, because an invalid date throws and must not change the location.
  const url = formatUrl(location);
  page.location.value = location;
  if (!page.isDragging.peek()) page.history[how](url);
}
