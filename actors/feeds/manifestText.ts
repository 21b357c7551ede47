import { type ManifestResult, readManifest } from '../../pod/manifest.ts';
import type { Problem } from '../../pod/problem.ts';
import { excessOf, parseBounded, type TextLimits } from '../yaml/boundedYaml.ts';
import { podLimits } from './manifestLimits.ts';
import { problemsToTell } from './problemsToTell.ts';

/** What holds a text: a file has one pod, an answer one or a list. */
export type TextKind = 'file' | 'answer';

/** A pod of a text as it was read, and where it stands in the text: `items[3]`, empty for the whole. */
export interface ReadManifest {
  readonly path: string;
  readonly result: ManifestResult;
}

/** The manifests in a text, or that it is `beyond` the limits that it was to be read with. */
export type ManifestsRead = { readonly manifests: readonly ReadManifest[] } | { readonly beyond: string };

/** Parses a text and reads its pods; whatever is wrong is a problem in its place. */
export function manifestsIn(text: string, kind: TextKind, limits: TextLimits): ManifestsRead {
  const parsed = parseBounded(text, limits);
  if ('beyond' in parsed) return parsed;
  if ('problem' in parsed) return refused(parsed.problem);
  const [value, ...others] = parsed.values;
  if (value === undefined) return refused(`the ${kind} is empty`);
  if (others.length > 0) return refused('expected one Pod, got several documents: write each into a file of its own');
  const items = kind === 'file' ? [{ path: '', value }] : itemsOf(value);
  return { manifests: items.map((item) => ({ path: item.path, result: resultOf(item.value) })) };
}

/** That a text gives no pods at all, and why. */
export const refused = (message: string): { readonly manifests: readonly ReadManifest[] } => ({
  manifests: [{ path: '', result: { problems: [whole(message)] } }],
});

const whole = (message: string): Problem => ({ path: '', message });

function resultOf(value: unknown): ManifestResult {
  const excess = excessOf(value, podLimits);
  if (excess === undefined) return shortened(readManifest(value));
  return { problems: [whole('beyond' in excess ? tooLarge(excess.beyond) : excess.problem)] };
}

const shortened = (read: ManifestResult): ManifestResult =>
  'problems' in read
    ? { ...read, problems: problemsToTell(read.problems) }
    : { ...read, warnings: problemsToTell(read.warnings) };

/** What is told of a text that is beyond the limits. */
export const tooLarge = (beyond: string): string => `has ${beyond}, which is more than this node reads`;

/** The items of a list, which need not say of themselves what they are; of anything else the one that it is. */
function itemsOf(value: unknown): { path: string; value: unknown }[] {
  const isList =
    typeof value === 'object' && value !== null && 'kind' in value && ['PodList', 'List'].includes(String(value.kind));
  if (!isList) return [{ path: '', value }];
  // A list of none is written as null by those who write Go.
  const items: unknown = ('items' in value ? value.items : null) ?? [];
  if (!Array.isArray(items)) return [{ path: 'items', value: items }];
  return items.map((item: unknown, index) => ({
    path: `items[${index}]`,
    value: typeof item === 'object' && item !== null ? { apiVersion: 'v1', kind: 'Pod', ...item } : item,
  }));
}
