import type { Flags } from './flags.ts';
import type { KubeletConfiguration } from './kubeletConfiguration.ts';
import type { Header } from './urlFields.ts';

/** A URL that lists pods, how it is asked, and how often. */
export interface ManifestUrlConfig {
  readonly url: string;
  /** Several of one name are sent in their order. */
  readonly headers: readonly Header[];
  readonly everyMs: number;
}

const ASK_EVERY_MS = 20_000;

/** Compiles where pods are asked for; undefined when nowhere. A flag wins over the file. */
export function manifestUrlOf(flags: Flags, file: KubeletConfiguration | undefined): ManifestUrlConfig | undefined {
  const url = flags['--manifest-url'] || file?.staticPodURL;
  if (!url) return undefined;
  const listed = Object.entries(file?.staticPodURLHeader ?? {});
  const headers =
    flags['--manifest-url-header'] ?? listed.flatMap(([name, all]) => all.map((value): Header => [name, value]));
  return Object.freeze({ url, headers: Object.freeze(headers), everyMs: file?.httpCheckFrequency || ASK_EVERY_MS });
}
