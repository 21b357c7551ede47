/** What a container has written, as a terminal may have it: it may colour its text, and do nothing else. */
import { printable } from '../pod/show/printable.ts';

const ESC = '\u001b';
/** What sets colours and the like, and a line break as terminals write it. */
const HARMLESS = new RegExp(`(${ESC}\\[[0-9;:]{0,64}m|\r\n)`);
/** What may become such with the text that follows. */
const BEGUN = new RegExp(`(?:${ESC}(?:\\[[0-9;:]{0,64})?|\r)$`);
const RESET = `${ESC}[0m`;

export class TerminalText {
  readonly #decoder = new TextDecoder();
  #held = '';
  #isColoured = false;

  /** Takes bytes that may end within a character or a sequence; gives what can be printed of them. */
  take(bytes: Uint8Array): string {
    const text = this.#held + this.#decoder.decode(bytes, { stream: true });
    const begun = BEGUN.exec(text)?.index ?? text.length;
    this.#held = text.slice(begun);
    return this.#shown(text.slice(0, begun));
  }

  /** The rest; the terminal has its own colours again. */
  end(): string {
    const text = printable(this.#held + this.#decoder.decode());
    this.#held = '';
    return this.#isColoured ? `${text}${RESET}` : text;
  }

  #shown(text: string): string {
    // Every second part is what stood between the others.
    const parts = text.split(HARMLESS).map((part, at) => ({ part, isHarmless: at % 2 === 1 }));
    this.#isColoured ||= parts.some(({ part, isHarmless }) => isHarmless && part.startsWith(ESC));
    return parts.map(({ part, isHarmless }) => (isHarmless ? part : printable(part))).join('');
  }
}
