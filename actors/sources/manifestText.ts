import { readManifest } from '../../pod/api/manifest.ts';
import { type ManifestFile, type ManifestOrigin, podOf } from './manifestFile.ts';
import { answerLimits, podLimits } from './manifestLimits.ts';
import { excessOf, parseBounded, type TextLimits } from './yaml/boundedYaml.ts';

/** What holds a text: a file has one pod, an answer one or a list. */
export type TextKind = 'file' | 'answer';

/** A text to make pods of; plain data, as is all that it gives. */
export interface ManifestText {
  readonly text: string;
  readonly kind: TextKind;
  readonly origin: ManifestOrigin;
}

/** What a manifest of a text gives, and where it stands in the text: `items[3]`, empty for the whole. */
export interface ReadManifest {
  readonly path: string;
  readonly read: ManifestFile;
}

/** The manifests in a text, each read when it is asked for, or that it is `beyond` the limits it was to be read with. */
export type ManifestsRead = { readonly manifests: Iterable<ReadManifest> } | { readonly beyond: string };

/** Parses a text and makes its pods; whatever is wrong is a problem in its place. */
export function manifestsIn({ text, kind, origin }: ManifestText, limits: TextLimits): ManifestsRead {
  const parsed = parseBounded(text, limits);
  if ('beyond' in parsed) return parsed;
  if ('problem' in parsed) return refused(parsed.problem);
  const [value, ...others] = parsed.values;
  if (value === undefined) return refused(`the ${kind} is empty`);
  if (others.length > 0) return refused('expected one Pod, got several documents: use one file per pod');
  return { manifests: reading(kind === 'file' ? [{ path: '', value }] : itemsOf(value), origin) };
}

/** All manifests of a text of any size, but one that is larger than any is to be: it is refused. */
export function allManifestsIn(text: ManifestText): Iterable<ReadManifest> {
  const read = manifestsIn(text, text.kind === 'file' ? podLimits : answerLimits);
  return 'beyond' in read ? refused(tooLarge(read.beyond)).manifests : read.manifests;
}

function* reading(items: Iterable<{ path: string; value: unknown }>, origin: ManifestOrigin): Generator<ReadManifest> {
  for (const { path, value } of items) yield { path, read: readPod(value, origin) };
}

function readPod(value: unknown, origin: ManifestOrigin): ManifestFile {
  const excess = excessOf(value, podLimits);
  if (excess === undefined) return podOf(readManifest(value), origin);
  return { problems: [{ path: '', message: 'beyond' in excess ? tooLarge(excess.beyond) : excess.problem }] };
}

/** That a text gives no pods at all, and why. */
export const refused = (message: string): { readonly manifests: readonly ReadManifest[] } => ({
  manifests: [{ path: '', read: { problems: [{ path: '', message }] } }],
});

/** What is told of a text that is beyond the limits. */
const tooLarge = (beyond: string): string => `has ${beyond}, more than this node accepts`;

/** The items of a list, which need not say of themselves what they are; of anything else the one that it is. */
function itemsOf(value: unknown): { path: string; value: unknown }[] {
  const kind = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
  if (typeof value !== 'object' || value === null || (kind !== 'PodList' && kind !== 'List'))
    return [{ path: '', value }];
  // A list of none is written as null by those who write Go.
  const items: unknown = ('items' in value ? value.items : null) ?? [];
  if (!Array.isArray(items)) return [{ path: 'items', value: items }];
  return items.map((item: unknown, index) => ({
    path: `items[${index}]`,
    value: typeof item === 'object' && item !== null ? { apiVersion: 'v1', kind: 'Pod', ...item } : item,
  }));
}
