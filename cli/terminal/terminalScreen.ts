/**
 * Shows a full-screen view on a terminal and handles its keys. The terminal is restored regardless of how the process
 * exits.
 */
import { systemClock } from '../../base/time/clock.ts';
import type { Output } from './liveView.ts';
import type { Key } from './table/controls.ts';
import { guardTerminal, type Input, isForeground, openKeyboard } from './table/keyboard.ts';
import type { Surface } from './table/render.ts';
import { openScreen } from './table/screen.ts';

/** Minimum delay between a change and the redraw, in milliseconds. */
const MIN_DRAW_MS = 100;
/** Maximum delay between a change and the redraw, in milliseconds. */
const MAX_DRAW_MS = 1_000;

/** The content of the screen. */
interface Picture {
  /** Returns the lines that fill the surface. */
  readonly frame: (surface: Surface) => readonly string[];
  /** Returns the lines that remain on the terminal when the screen is suspended or closed. */
  readonly finalLines: (surface: Surface, next: 'suspended' | 'closed') => readonly string[];
  readonly onKey: (key: Key) => void;
}

export interface ScreenOptions {
  readonly input?: Input | undefined;
  /** Whether the process belongs to the terminal's foreground job. */
  readonly isInForeground?: () => boolean;
}

/**
 * Returns the size of the terminal and whether it supports colours. A terminal of unknown size reports 0 columns and
 * rows.
 */
function surfaceOf(output: Output): Surface {
  return { width: output.columns || 80, height: output.rows || 24, colour: output.hasColors?.() ?? false };
}

export class TerminalScreen {
  readonly #output: Output;
  readonly #picture: Picture;
  readonly #isInForeground: () => boolean;
  readonly #screen: ReturnType<typeof openScreen>;
  readonly #keyboard: ReturnType<typeof openKeyboard>;
  #pendingDraw: unknown;
  #state: 'waiting' | 'drawing' | 'suspended' | 'closed' = 'waiting';
  #cleanUp = () => {};

  constructor(output: Output, picture: Picture, { input, isInForeground = isForeground }: ScreenOptions) {
    this.#output = output;
    this.#picture = picture;
    this.#isInForeground = isInForeground;
    this.#screen = openScreen(output);
    this.#keyboard = openKeyboard(input, (key) => {
      picture.onKey(key);
      this.#draw();
    });
  }

  get isDrawing(): boolean {
    return this.#state === 'drawing';
  }

  /** Whether the terminal is in its original state, in which case output written to it remains visible. */
  get isUntouched(): boolean {
    return this.#state === 'waiting' || this.#state === 'closed';
  }

  /** Draws on the terminal as soon as the process is in the foreground. */
  open(): void {
    const removeGuard = guardTerminal({
      release: () => this.#release('suspended'),
      acquire: () => this.#acquire(),
      close: () => this.#release('closed'),
    });
    const onResize = () => {
      this.#screen.clear();
      this.#draw();
    };
    this.#output.on?.('resize', onResize);
    this.#state = 'suspended';
    this.#acquire();
    this.#cleanUp = () => {
      this.#output.off?.('resize', onResize);
      systemClock.clearTimeout(this.#pendingDraw);
      this.#release('closed');
      removeGuard();
      this.#keyboard.close();
    };
  }

  /**
   * Schedules a redraw, which shows all changes up to the time at which it runs. The delay grows with the number of
   * actors to draw.
   */
  drawSoon(actorCount = 0): void {
    const waitMs = Math.min(MAX_DRAW_MS, Math.max(MIN_DRAW_MS, actorCount));
    this.#pendingDraw ??= systemClock.setTimeout(() => {
      this.#pendingDraw = undefined;
      this.#draw();
    }, waitMs);
  }

  close(): void {
    this.#cleanUp();
    this.#cleanUp = () => {};
    this.#state = 'closed';
  }

  #draw(): void {
    if (this.#state === 'suspended') this.#acquire();
    if (this.#state === 'drawing') this.#screen.draw(this.#picture.frame(surfaceOf(this.#output)));
  }

  #acquire(): void {
    // Do not draw in the background, where the kernel would stop the process (SIGTTOU). The process acquires the
    // terminal when it is resumed.
    if (this.isUntouched || !this.#isInForeground()) return;
    this.#state = 'drawing';
    this.#keyboard.acquire();
    this.#screen.enter();
    this.#draw();
  }

  #release(next: 'suspended' | 'closed'): void {
    if (this.#state === 'drawing') {
      this.#screen.leave();
      this.#keyboard.release();
      const finalLines = this.#picture.finalLines(surfaceOf(this.#output), next);
      if (finalLines.length > 0) this.#output.write(`${finalLines.join('\n')}\n`);
    }
    this.#state = next;
  }
}
