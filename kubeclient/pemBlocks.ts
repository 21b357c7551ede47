/** Parses the blocks of a PEM file like Go's `encoding/pem`, ignoring text around and between them. */

export interface PemBlock {
  /** Type of the block, e.g. `CERTIFICATE`. */
  readonly label: string;
  /** The whole block with its first and last lines. */
  readonly pem: string;
}

const BEGIN_LINE = /^-----BEGIN ([^\r\n]{1,64})-----\s*$/;

/**
 * Parses the complete blocks. Reads line by line, because a regular expression over the whole text would combine every
 * begin line with every end line.
 */
export function parsePemBlocks(text: string): PemBlock[] {
  const pemBlocks: PemBlock[] = [];
  let openBlock: { readonly label: string; readonly lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const label = BEGIN_LINE.exec(line)?.[1];
    if (label !== undefined) openBlock = { label, lines: [] };
    openBlock?.lines.push(line.trimEnd());
    if (openBlock === undefined || line.trimEnd() !== `-----END ${openBlock.label}-----`) continue;
    pemBlocks.push({ label: openBlock.label, pem: `${openBlock.lines.join('\n')}\n` });
    openBlock = undefined;
  }
  return pemBlocks;
}

const PEM_LABEL_PATTERN = /^[A-Z0-9 ]+$/;
/** Characters that indicate that text was decoded from binary data. */
const BINARY_PATTERN = /[\0\ufffd]/;

/** Describes unexpected contents without quoting them, because they may be secret. */
export function describeContents(text: string): string {
  if (text.trim() === '') return 'nothing';
  if (BINARY_PATTERN.test(text)) return 'binary data (DER has to be converted to PEM)';
  const labels = [
    ...new Set(parsePemBlocks(text).map(({ label }) => (PEM_LABEL_PATTERN.test(label) ? label : 'an odd label'))),
  ];
  if (labels.length > 0) return `PEM of ${labels.slice(0, 3).join(', ')}`;
  return text.includes('-----BEGIN ') ? 'a PEM block that is cut off' : 'text without a PEM block';
}
