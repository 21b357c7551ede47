import { humanDuration } from '../../base/time/duration.ts';
import type { ImageUse } from '../../kubernetes/images/imageGarbage.ts';

/** An image with the fields that `crictl images` prints (`cmd/crictl/image.go` in cri-tools). */
export interface ImageRow {
  /** ID of the form `sha256:…`. */
  readonly id: string;
  /** Image references with a tag. */
  readonly repoTags: readonly string[];
  /** Image references with a digest. */
  readonly repoDigests: readonly string[];
  readonly sizeBytes: number;
  readonly pinned: boolean;
  /** Undefined if no running agent reports the image's use. */
  readonly use?: ImageUse | undefined;
}

const USE_HEADER = ['UNUSED', 'REMOVED', 'USED BY'];
const NARROW_HEADER = ['IMAGE', 'TAG', 'IMAGE ID', 'SIZE', ...USE_HEADER];
const WIDE_HEADER = ['IMAGE', 'TAG', 'DIGEST', 'IMAGE ID', 'SIZE', 'PINNED', ...USE_HEADER];
/**
 * Shown in the columns about an image's use if no running agent has been queried. The runtime alone does not know when
 * an image was last used or when the agent would remove it.
 */
const UNKNOWN = '<unknown>';
const NO_VALUE = '<none>';
const SHORT_ID_LENGTH = 13;

/** Builds the table of images as rows of cells, with one row per tag. The header is first. */
export function imageTable(
  images: readonly ImageRow[],
  { wide, now }: { readonly wide: boolean; readonly now: number },
): string[][] {
  const rows = images.flatMap((image) => {
    const [reference = NO_VALUE] = image.repoDigests;
    const [repository = NO_VALUE, digest = NO_VALUE] = reference.split('@');
    const imageNames = image.repoTags.length > 0 ? image.repoTags.map(splitTag) : [{ name: repository, tag: NO_VALUE }];
    const [id, size] = [shortId(image.id), decimalSize(image.sizeBytes)];
    const use = image.use ? useCells(image.use, { wide, now }) : [UNKNOWN, UNKNOWN, UNKNOWN];
    return imageNames.map(({ name, tag }) =>
      wide ? [name, tag, digest, id, size, String(image.pinned), ...use] : [name, tag, id, size, ...use],
    );
  });
  const sortedRows = rows.toSorted(([a = '', tagA = ''], [b = '', tagB = '']) => compare(a, b) || compare(tagA, tagB));
  return [wide ? WIDE_HEADER : NARROW_HEADER, ...sortedRows];
}

/** Returns the cells for the time since the image was last used, its expected removal, and its users. */
function useCells(use: ImageUse, { wide, now }: { readonly wide: boolean; readonly now: number }): string[] {
  const { users, unusedSince } = use;
  const [firstUser = NO_VALUE, ...otherUsers] = users;
  const shownUsers = wide || otherUsers.length === 0 ? users.join(', ') : `${firstUser} and ${otherUsers.length} more`;
  const unusedDuration = unusedSince === undefined ? NO_VALUE : humanDuration(Math.max(0, now - unusedSince));
  return [unusedDuration, removalText(use, now), shownUsers || NO_VALUE];
}

/** Describes when an image would be removed if nothing uses it until then. */
export function removalText({ users, isPinned, position, thresholdPercent, expiresAt }: ImageUse, now: number): string {
  if (isPinned) return 'never (pinned)';
  if (users.length > 0) return 'not while in use';
  const removalConditions = [
    ...(expiresAt === undefined ? [] : [expiresAt > now ? `in ${humanDuration(expiresAt - now)}` : 'soon']),
    ...(thresholdPercent === undefined ? [] : [`at ${thresholdPercent}% disk usage (place ${position})`]),
  ];
  return removalConditions.length > 0 ? removalConditions.join(' or ') : 'by evictions only';
}

/** Returns the first digits of an ID without the digest algorithm's prefix. */
export const shortId = (id: string): string => id.replace(/^sha256:/, '').slice(0, SHORT_ID_LENGTH);

function splitTag(name: string): { readonly name: string; readonly tag: string } {
  const colonIndex = name.lastIndexOf(':');
  return { name: name.slice(0, colonIndex), tag: name.slice(colonIndex + 1) };
}

const SIZE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Returns a size with three digits and a decimal unit: `2.21MB`. */
export function decimalSize(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1_000 && unit < SIZE_UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${Number(value.toPrecision(3))}${SIZE_UNITS[unit]}`;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
