import type { Flags } from './flags.ts';
import type { KubeletConfiguration } from './kubeletConfiguration.ts';
import type { Header } from './urlFields.ts';

/** A URL that lists pods, the headers of its requests, and the polling interval. */
export interface ManifestUrlConfig {
  readonly url: string;
  /** Headers with the same name are sent in their order. */
  readonly headers: readonly Header[];
  readonly everyMs: number;
}

const ASK_EVERY_MS = 20_000;

/** Compiles the settings of the manifest URL. Undefined if there is none. A flag takes precedence over the file. */
export function manifestUrlOf(flags: Flags, file: KubeletConfiguration | undefined): ManifestUrlConfig | undefined {
  const url = flags['--manifest-url'] || file?.staticPodURL;
  if (!url) return undefined;
  const listed = Object.entries(file?.staticPodURLHeader ?? {});
  const headers =
    flags['--manifest-url-header'] ?? listed.flatMap(([name, all]) => all.map((value): Header => [name, value]));
  return Object.freeze({ url, headers: Object.freeze(headers), everyMs: file?.httpCheckFrequency || ASK_EVERY_MS });
}
