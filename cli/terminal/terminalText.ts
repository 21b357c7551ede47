/** Removes all escape sequences except colours from the output of containers. */
import { printableText } from '../../base/text/printable.ts';

const ESC = '\u001b';
/** A sequence that sets colours or text attributes, or a CR LF. */
const ALLOWED_SEQUENCE_PATTERN = new RegExp(`(${ESC}\\[[0-9;:]{0,64}m|\r\n)`);
/** A prefix of an allowed sequence at the end of a chunk. */
const INCOMPLETE_SEQUENCE_PATTERN = new RegExp(`(?:${ESC}(?:\\[[0-9;:]{0,64})?|\r)$`);
const RESET = `${ESC}[0m`;
/** Matches a sequence that starts by resetting all attributes. */
const RESET_PREFIX_PATTERN = /^.\[(?:0*(?:[;:]|m))/;
/** Maximum number of colour sequences that are remembered and repeated at the start of the next chunk. */
const MAX_SEQUENCES = 16;

export class TerminalText {
  readonly #decoder = new TextDecoder();
  #bufferedText = '';
  /** The sequences that set the current colours. */
  #colours: readonly string[] = [];

  /**
   * Returns the printable text of a chunk, which may end within a character or a sequence. The colours are reset at the
   * end and restored in the next chunk, because other text may be printed in between.
   */
  push(bytes: Uint8Array): string {
    const decodedText = this.#bufferedText + this.#decoder.decode(bytes, { stream: true });
    const incompleteIndex = INCOMPLETE_SEQUENCE_PATTERN.exec(decodedText)?.index ?? decodedText.length;
    this.#bufferedText = decodedText.slice(incompleteIndex);
    return this.#withColours(decodedText.slice(0, incompleteIndex));
  }

  /** Returns the text of an incomplete character or sequence at the end of the output. */
  flush(): string {
    const remainingText = this.#withColours(this.#bufferedText + this.#decoder.decode());
    this.#bufferedText = '';
    return remainingText;
  }

  #withColours(text: string): string {
    if (text === '') return '';
    const colours = this.#colours.join('');
    const sanitized = this.#sanitize(text);
    return `${colours}${sanitized}${this.#colours.length > 0 ? RESET : ''}`;
  }

  #sanitize(text: string): string {
    // Splitting by a pattern with a capture group puts the matches, i.e. the allowed sequences, at the odd indices.
    const segments = text.split(ALLOWED_SEQUENCE_PATTERN).map((part, index) => ({ part, isAllowed: index % 2 === 1 }));
    for (const { part, isAllowed } of segments) if (isAllowed && part.startsWith(ESC)) this.#applySequence(part);
    return segments.map(({ part, isAllowed }) => (isAllowed ? part : printableText(part))).join('');
  }

  #applySequence(sequence: string): void {
    const previousColours = RESET_PREFIX_PATTERN.test(sequence) ? [] : this.#colours;
    this.#colours = /^.\[[0;:]*m$/.test(sequence) ? [] : [...previousColours, sequence].slice(-MAX_SEQUENCES);
  }
}
