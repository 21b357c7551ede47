/** The blocks of a text in PEM, as `encoding/pem` of Go takes them: what stands around and between them is no matter. */

export interface PemBlock {
  /** `CERTIFICATE` */
  readonly label: string;
  /** All of it, with its first and its last line. */
  readonly text: string;
}

const BEGIN = /^-----BEGIN ([^\r\n]{1,64})-----\s*$/;

/** A block that does not end is none. Line by line: a pattern over all would try each begin with each end. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { readonly label: string; readonly lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const label = BEGIN.exec(line)?.[1];
    if (label !== undefined) open = { label, lines: [] };
    open?.lines.push(line.trimEnd());
    if (open === undefined || line.trimEnd() !== `-----END ${open.label}-----`) continue;
    blocks.push({ label: open.label, text: `${open.lines.join('\n')}\n` });
    open = undefined;
  }
  return blocks;
}

const LABEL = /^[A-Z0-9 ]+$/;
/** What a text has that was binary before it was read as one. */
const BINARY = /[\0\ufffd]/;

/** What a text is that is not what was expected: nothing that it says, for that may be a secret. */
export function kindOfText(text: string): string {
  if (text.trim() === '') return 'nothing';
  if (BINARY.test(text)) return 'binary data (DER has to be converted to PEM)';
  const labels = [...new Set(pemBlocks(text).map(({ label }) => (LABEL.test(label) ? label : 'an odd label')))];
  if (labels.length > 0) return `PEM of ${labels.slice(0, 3).join(', ')}`;
  return text.includes('-----BEGIN ') ? 'a PEM block that is cut off' : 'text without a PEM block';
}
