/** An image with the fields that `crictl images` prints (`cmd/crictl/image.go` in cri-tools). */

export interface ImageRow {
  /** E.g. `sha256:…`. */
  readonly id: string;
  /** Names with a tag. */
  readonly repoTags: readonly string[];
  /** Names with a digest. */
  readonly repoDigests: readonly string[];
  readonly sizeBytes: number;
  readonly pinned: boolean;
}

const NARROW_HEADER = ['IMAGE', 'TAG', 'IMAGE ID', 'SIZE'];
const WIDE_HEADER = ['IMAGE', 'TAG', 'DIGEST', 'IMAGE ID', 'SIZE', 'PINNED'];
const NO_VALUE = '<none>';
const SHORT_ID_LENGTH = 13;

/** Builds the table of images as rows of cells, with one row per tag. The header is first. */
export function imageTable(images: readonly ImageRow[], { wide }: { readonly wide: boolean }): string[][] {
  const rows = images.flatMap((image) => {
    const [reference = NO_VALUE] = image.repoDigests;
    const [repository = NO_VALUE, digest = NO_VALUE] = reference.split('@');
    const imageNames = image.repoTags.length > 0 ? image.repoTags.map(splitTag) : [{ name: repository, tag: NO_VALUE }];
    const [id, size] = [shortId(image.id), decimalSize(image.sizeBytes)];
    return imageNames.map(({ name, tag }) =>
      wide ? [name, tag, digest, id, size, String(image.pinned)] : [name, tag, id, size],
    );
  });
  const sortedRows = rows.toSorted(([a = '', tagA = ''], [b = '', tagB = '']) => compare(a, b) || compare(tagA, tagB));
  return [wide ? WIDE_HEADER : NARROW_HEADER, ...sortedRows];
}

/** Returns the first digits of an ID, without the name of the digest's algorithm. */
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
