/** Metrics as Prometheus' text format has them, written as a kubelet's library does (`expfmt/text_create.go`). */

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary' | 'untyped';
  /** One without samples is not written. */
  readonly samples: Iterable<Sample>;
}

export interface Sample {
  /** After the family's name: `_bucket`, `_sum`, `_count`; nothing when absent. */
  readonly suffix?: string;
  /** As `labelText` gives them, in the order of their names: many samples share one text. */
  readonly labels: string;
  readonly value: number;
  /** When it was taken, in milliseconds since the epoch; absent: it is as of now. */
  readonly at?: number | undefined;
}

/** Labels as they stand between the braces, in this order. */
export const labelText = (labels: Iterable<readonly [name: string, value: string]>): string =>
  Array.from(labels, ([name, value]) => `${name}="${escapedValue(value)}"`).join(',');

/** What the text has of a value, as names and IDs seldom need it: an image's digest and a path have nothing to escape. */
const escapedValue = (value: string): string =>
  /[\\"\n]/.test(value) ? value.replaceAll(/[\\"\n]/g, (each) => (each === '\n' ? '\\n' : `\\${each}`)) : value;

const escapedHelp = (help: string): string =>
  help.replaceAll(/[\\\n]/g, (each) => (each === '\n' ? '\\n' : `\\${each}`));

/** Bytes of a chunk: what is held for a client that reads slowly. */
const CHUNK_LENGTH = 64 * 1024;

/** The text of families in chunks of about 64 KiB: each takes less than a millisecond, so others may have a turn between them. */
export function* expositionChunks(families: Iterable<Family>): Generator<string> {
  let text = '';
  for (const family of families) {
    let isBegun = false;
    for (const sample of family.samples) {
      if (!isBegun) text += headerOf(family);
      isBegun = true;
      text += lineOf(family.name, sample);
      if (text.length >= CHUNK_LENGTH) {
        yield text;
        text = '';
      }
    }
  }
  if (text !== '') yield text;
}

const headerOf = ({ name, help, type }: Family): string =>
  `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`;

function lineOf(name: string, { suffix = '', labels, value, at }: Sample): string {
  const braced = labels === '' ? '' : `{${labels}}`;
  const time = at === undefined ? '' : ` ${Math.trunc(at)}`;
  return `${name}${suffix}${braced} ${goFloat(value)}${time}\n`;
}

/** From here on Go writes an exponent. */
const LARGE = 1e6;
const SMALL = 1e-4;

/** A number as Go writes it with the fewest digits (`strconv.FormatFloat(v, 'g', -1, 64)`): `1.5`, `9.437184e+06`, `+Inf`. */
export function goFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : `${value > 0 ? '+' : '-'}Inf`;
  const size = Math.abs(value);
  if (size === 0 || (size >= SMALL && size < LARGE)) return Object.is(value, -0) ? '-0' : String(value);
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  return `${digits}e${exponent[0] ?? ''}${exponent.slice(1).padStart(2, '0')}`;
}
