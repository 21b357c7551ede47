/** What a container has written, as a terminal may have it: it may colour its text, and do nothing else. */
import { printable } from '../../base/printable.ts';

const ESC = '\u001b';
/** What sets colours and the like, and a line break as terminals write it. */
const HARMLESS = new RegExp(`(${ESC}\\[[0-9;:]{0,64}m|\r\n)`);
/** What may become such with the text that follows. */
const BEGUN = new RegExp(`(?:${ESC}(?:\\[[0-9;:]{0,64})?|\r)$`);
const RESET = `${ESC}[0m`;
/** What ends all colours before it sets any. */
const RESETS = /^.\[(?:0*(?:[;:]|m))/;
/** So many settings are known at most that hold at a time. */
const MOST_SETTINGS = 16;

export class TerminalText {
  readonly #decoder = new TextDecoder();
  #held = '';
  /** The colours that hold, as they were set. */
  #colours: readonly string[] = [];

  /**
   * Takes bytes that may end within a character or a sequence; gives what can be printed of them. Between two parts the
   * terminal has its own colours: nothing may follow, and other texts may come in between.
   */
  take(bytes: Uint8Array): string {
    const text = this.#held + this.#decoder.decode(bytes, { stream: true });
    const begun = BEGUN.exec(text)?.index ?? text.length;
    this.#held = text.slice(begun);
    return this.#coloured(text.slice(0, begun));
  }

  /** The rest. */
  end(): string {
    const text = this.#coloured(this.#held + this.#decoder.decode());
    this.#held = '';
    return text;
  }

  #coloured(text: string): string {
    if (text === '') return '';
    const before = this.#colours.join('');
    const shown = this.#shown(text);
    return `${before}${shown}${this.#colours.length > 0 ? RESET : ''}`;
  }

  #shown(text: string): string {
    // Every second part is what stood between the others.
    const parts = text.split(HARMLESS).map((part, at) => ({ part, isHarmless: at % 2 === 1 }));
    for (const { part, isHarmless } of parts) if (isHarmless && part.startsWith(ESC)) this.#set(part);
    return parts.map(({ part, isHarmless }) => (isHarmless ? part : printable(part))).join('');
  }

  #set(setting: string): void {
    const kept = RESETS.test(setting) ? [] : this.#colours;
    this.#colours = /^.\[[0;:]*m$/.test(setting) ? [] : [...kept, setting].slice(-MOST_SETTINGS);
  }
}
