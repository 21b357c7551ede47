import type { HttpHeader } from '../fields/urlFields.ts';
import type { SettingValues } from '../settings/settingValues.ts';

/** A URL that lists pods, the headers of its requests, and the polling interval. */
export interface ManifestUrlConfig {
  readonly url: string;
  /** Headers of the requests. Headers with the same name are sent in this order. */
  readonly headers: readonly HttpHeader[];
  readonly everyMs: number;
}

/** Compiles the settings of the manifest URL. Returns undefined if none is configured. */
export function compileManifestUrl(values: SettingValues): ManifestUrlConfig | undefined {
  const { staticPodURL: url, staticPodURLHeader: headers = [], httpCheckFrequency: everyMs } = values;
  return url ? Object.freeze({ url, headers: Object.freeze(headerPairs(headers)), everyMs }) : undefined;
}

/**
 * Returns the headers as pairs of a name and a value. The flag already has this form, whereas the configuration file
 * maps names to lists of values.
 */
function headerPairs(headers: NonNullable<SettingValues['staticPodURLHeader']>): readonly HttpHeader[] {
  if (Array.isArray(headers)) return headers;
  return Object.entries(headers).flatMap(([name, values]) => values.map((value): HttpHeader => [name, value]));
}
