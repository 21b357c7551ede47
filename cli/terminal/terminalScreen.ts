/** Something drawn on the whole of a terminal, with keys, until it is closed: whatever happens, the terminal is given back. */
import { systemClock } from '../../base/clock.ts';
import type { Output } from './liveView.ts';
import type { Key } from './table/controls.ts';
import { guardTerminal, type Input, isForeground, openKeyboard } from './table/keyboard.ts';
import type { Surface } from './table/render.ts';
import { openScreen } from './table/screen.ts';

/** Shortest and longest interval between a change and the picture of it, in milliseconds. */
const MIN_DRAW_MS = 100;
const MAX_DRAW_MS = 1_000;

/** What is drawn, again at each change, and what stays of it. */
interface Picture {
  /** The lines that fill the surface. */
  readonly frame: (surface: Surface) => readonly string[];
  /** The lines that stay on the terminal after it; `next` says whether it will be back. */
  readonly last: (surface: Surface, next: 'suspended' | 'closed') => readonly string[];
  readonly onKey: (key: Key) => void;
}

export interface ScreenOptions {
  readonly input?: Input | undefined;
  /** Whether the process is of the terminal's foreground job. */
  readonly isInFront?: () => boolean;
}

/** A terminal tells nothing of its size where it has none: 0 columns are as good as unknown. */
function surfaceOf(output: Output): Surface {
  return { width: output.columns || 80, height: output.rows || 24, colour: output.hasColors?.() ?? false };
}

/** The terminal while a picture is on it. */
export class TerminalScreen {
  readonly #output: Output;
  readonly #picture: Picture;
  readonly #isInFront: () => boolean;
  readonly #screen: ReturnType<typeof openScreen>;
  readonly #keyboard: ReturnType<typeof openKeyboard>;
  #pending: unknown;
  #state: 'waiting' | 'drawing' | 'suspended' | 'closed' = 'waiting';
  #end = () => {};

  constructor(output: Output, picture: Picture, { input, isInFront = isForeground }: ScreenOptions) {
    this.#output = output;
    this.#picture = picture;
    this.#isInFront = isInFront;
    this.#screen = openScreen(output);
    this.#keyboard = openKeyboard(input, (key) => {
      picture.onKey(key);
      this.#draw();
    });
  }

  get isDrawing(): boolean {
    return this.#state === 'drawing';
  }

  /** Whether the terminal is as it was found: what is written to it then stays. */
  get isPlain(): boolean {
    return this.#state === 'waiting' || this.#state === 'closed';
  }

  /** Takes the terminal, or as soon as the process is in its foreground. */
  open(): void {
    const unguard = guardTerminal({
      giveBack: () => this.#leave('suspended'),
      take: () => this.#take(),
      end: () => this.#leave('closed'),
    });
    const onResize = () => {
      this.#screen.clear();
      this.#draw();
    };
    this.#output.on?.('resize', onResize);
    this.#state = 'suspended';
    this.#take();
    this.#end = () => {
      this.#output.off?.('resize', onResize);
      systemClock.clearTimeout(this.#pending);
      this.#leave('closed');
      unguard();
      this.#keyboard.close();
    };
  }

  /** Draws what has changed, with what else changes shortly: the more parts a picture is computed from, the less often. */
  drawSoon(parts = 0): void {
    const waitMs = Math.min(MAX_DRAW_MS, Math.max(MIN_DRAW_MS, parts));
    this.#pending ??= systemClock.setTimeout(() => {
      this.#pending = undefined;
      this.#draw();
    }, waitMs);
  }

  close(): void {
    this.#end();
    this.#end = () => {};
    this.#state = 'closed';
  }

  #draw(): void {
    if (this.#state === 'suspended') this.#take();
    if (this.#state === 'drawing') this.#screen.draw(this.#picture.frame(surfaceOf(this.#output)));
  }

  #take(): void {
    // In the background it would be stopped for it: it takes the terminal when it is brought back.
    if (this.isPlain || !this.#isInFront()) return;
    this.#state = 'drawing';
    this.#keyboard.take();
    this.#screen.take();
    this.#draw();
  }

  #leave(next: 'suspended' | 'closed'): void {
    if (this.#state === 'drawing') {
      this.#screen.giveBack();
      this.#keyboard.giveBack();
      const last = this.#picture.last(surfaceOf(this.#output), next);
      if (last.length > 0) this.#output.write(`${last.join('\n')}\n`);
    }
    this.#state = next;
  }
}
