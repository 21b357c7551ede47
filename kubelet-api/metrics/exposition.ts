/** Writes the Prometheus text format in the same way as the kubelet's client library (`expfmt/text_create.go`). */

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary' | 'untyped';
  /** The family's samples. If there are none, the family is omitted. */
  readonly samples: Iterable<Sample>;
}

export interface Sample {
  /** Suffix of the metric name after the family's name: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
  /**
   * The result of `formatLabels`, sorted by label name. Labels are formatted in advance because many samples share
   * them.
   */
  readonly labels: string;
  readonly value: number;
  /** Milliseconds since the epoch. Undefined if the value is current at the time of the scrape. */
  readonly timestampMs?: number | undefined;
}

/** Formats labels as they appear between the braces, without sorting them. */
export const formatLabels = (labels: Iterable<readonly [name: string, value: string]>): string =>
  Array.from(labels, ([name, value]) => `${name}="${escapeLabelValue(value)}"`).join(',');

/** Escapes a label value. Checks first whether escaping is necessary, because names, IDs and paths rarely need it. */
const escapeLabelValue = (value: string): string =>
  /[\\"\n]/.test(value) ? value.replaceAll(/[\\"\n]/g, (each) => (each === '\n' ? '\\n' : `\\${each}`)) : value;

const escapeHelp = (help: string): string =>
  help.replaceAll(/[\\\n]/g, (each) => (each === '\n' ? '\\n' : `\\${each}`));

/** Number of characters per chunk. Limits the memory buffered for a slow client. */
const CHUNK_LENGTH = 64 * 1024;

/**
 * Formats the metric families in chunks of about 64 KiB. Each chunk takes less than a millisecond, so other work can
 * run in between.
 */
export function* generateChunks(families: Iterable<MetricFamily>): Generator<string> {
  let chunk = '';
  for (const family of families) {
    let hasHeader = false;
    for (const sample of family.samples) {
      if (!hasHeader) chunk += formatHeader(family);
      hasHeader = true;
      chunk += formatSample(family.name, sample);
      if (chunk.length >= CHUNK_LENGTH) {
        yield chunk;
        chunk = '';
      }
    }
  }
  if (chunk !== '') yield chunk;
}

const formatHeader = ({ name, help, type }: MetricFamily): string =>
  `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;

function formatSample(name: string, { suffix = '', labels, value, timestampMs }: Sample): string {
  const labelsInBraces = labels === '' ? '' : `{${labels}}`;
  const timestampSuffix = timestampMs === undefined ? '' : ` ${Math.trunc(timestampMs)}`;
  return `${name}${suffix}${labelsInBraces} ${goFloat(value)}${timestampSuffix}\n`;
}

/**
 * Numbers of at least this value are written with an exponent, as in Go. Numbers below `MAX_SMALL` are also written
 * with an exponent.
 */
const MIN_LARGE = 1e6;
const MAX_SMALL = 1e-4;

/** Formats a number like Go's `strconv.FormatFloat(v, 'g', -1, 64)`, e.g. `1.5`, `9.437184e+06`, `+Inf`. */
export function goFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : `${value > 0 ? '+' : '-'}Inf`;
  const magnitude = Math.abs(value);
  if (magnitude === 0 || (magnitude >= MAX_SMALL && magnitude < MIN_LARGE))
    return Object.is(value, -0) ? '-0' : String(value);
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  return `${digits}e${exponent[0] ?? ''}${exponent.slice(1).padStart(2, '0')}`;
}
