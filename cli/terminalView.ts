import { every, systemClock } from '../actors/clock.ts';
import type { AgentPort } from '../server/agent.ts';
import { announceReady, type LiveView, livePods, type Output } from './liveView.ts';
import { INITIAL_CONTROLS, pressed } from './table/controls.ts';
import { guardTerminal, type Input, isForeground, openKeyboard } from './table/keyboard.ts';
import { type Frame, renderFrame, renderLast, type Scene, type Surface } from './table/render.ts';
import { openScreen } from './table/screen.ts';

/** At most ten drawings a second; once a second even without a change, for the times shown. */
const DRAW_EVERY_MS = 100;
const TICK_MS = 1000;
/** So many of the last lines are kept for the log's page and for the end. */
const KEPT_LINES = 1000;

/** The lines that stay: told at once while the terminal is not taken, and again where the table has covered them. */
interface Scrollback {
  add(text: string): void;
  readonly lines: () => readonly string[];
}

function createScrollback(): Scrollback {
  const lines: string[] = [];
  return {
    add: (text) => {
      lines.push(...text.replace(/\n$/, '').split('\n'));
      lines.splice(0, lines.length - KEPT_LINES);
    },
    lines: () => lines,
  };
}

/** A terminal tells nothing of its size where it has none: 0 columns are as good as unknown. */
function surfaceOf(output: Output): Surface {
  return { width: output.columns || 80, height: output.rows || 24, colour: output.hasColors?.() ?? false };
}

interface TerminalOptions {
  readonly input?: Input | undefined;
  readonly isInFront?: () => boolean;
}

/** The table on the whole terminal, redrawn in place, with keys; what was printed stays on the terminal after it. */
export const terminalView = (output: Output, options: TerminalOptions): LiveView => new TerminalView(output, options);

class TerminalView implements LiveView {
  readonly #output: Output;
  readonly #isInFront: () => boolean;
  readonly #screen: ReturnType<typeof openScreen>;
  readonly #keyboard: ReturnType<typeof openKeyboard>;
  readonly #log = createScrollback();
  #controls = INITIAL_CONTROLS;
  #frame: Frame = { lines: [], room: 0, total: 0 };
  #agent: AgentPort | undefined;
  #pending: unknown;
  #state: 'printing' | 'drawing' | 'suspended' | 'closed' = 'printing';
  #end = () => {};

  constructor(output: Output, { input, isInFront = isForeground }: TerminalOptions) {
    this.#output = output;
    this.#isInFront = isInFront;
    this.#screen = openScreen(output);
    this.#keyboard = openKeyboard(input, (key) => {
      this.#controls = pressed(this.#controls, key, this.#frame);
      this.#draw();
    });
  }

  print(text: string): void {
    const isPlain = this.#state === 'printing' || this.#state === 'closed';
    if (isPlain) this.#output.write(text.endsWith('\n') ? text : `${text}\n`);
    else this.#log.add(text);
    if (this.#state === 'drawing') this.#drawSoon();
  }

  follow(agent: AgentPort): void {
    this.#agent = agent;
    const unguard = guardTerminal({
      giveBack: () => this.#leave('suspended'),
      take: () => this.#take(),
      end: () => this.#leave('closed'),
    });
    const stopDrawing = this.#drawWhenChanged(agent);
    this.#state = 'suspended';
    this.#take();
    this.#end = () => {
      stopDrawing();
      this.#leave('closed');
      unguard();
      this.#keyboard.close();
    };
  }

  close(): void {
    this.#end();
    this.#end = () => {};
    this.#state = 'closed';
  }

  /** Until the function that it gives is called. */
  #drawWhenChanged(agent: AgentPort): () => void {
    const soon = () => this.#drawSoon();
    const unsubscribe = agent.subscribe(soon);
    const stopTicking = every(systemClock, TICK_MS, soon);
    const stopAnnouncing = announceReady(agent, (line) => {
      this.#log.add(line);
      soon();
    });
    const onResize = () => {
      this.#screen.clear();
      this.#draw();
    };
    this.#output.on?.('resize', onResize);
    return () => {
      this.#output.off?.('resize', onResize);
      stopAnnouncing();
      unsubscribe();
      systemClock.clearTimeout(this.#pending);
      stopTicking();
    };
  }

  #drawSoon(): void {
    this.#pending ??= systemClock.setTimeout(() => {
      this.#pending = undefined;
      this.#draw();
    }, DRAW_EVERY_MS);
  }

  #draw(): void {
    if (this.#state === 'suspended') this.#take();
    if (this.#state !== 'drawing' || this.#agent === undefined) return;
    this.#frame = renderFrame(this.#sceneOf(this.#agent), surfaceOf(this.#output));
    this.#screen.draw(this.#frame.lines);
  }

  #take(): void {
    // In the background it would be stopped for it: it takes the terminal when it is brought back.
    if (this.#state === 'closed' || this.#agent === undefined || !this.#isInFront()) return;
    this.#state = 'drawing';
    this.#keyboard.take();
    this.#screen.take();
    this.#draw();
  }

  /** What was told meanwhile, and the table as it is: they stay. */
  #leave(next: 'suspended' | 'closed'): void {
    if (this.#state === 'drawing' && this.#agent !== undefined) {
      this.#screen.giveBack();
      this.#keyboard.giveBack();
      const table = renderLast(this.#sceneOf(this.#agent), surfaceOf(this.#output));
      const last = next === 'closed' ? [...this.#log.lines(), ...table] : [];
      if (last.length > 0) this.#output.write(`${last.join('\n')}\n`);
    }
    this.#state = next;
  }

  #sceneOf(agent: AgentPort): Scene {
    const [node, pods, log] = [agent.node(), livePods(agent), this.#log.lines()];
    return { node, pods, log, now: systemClock.now(), controls: this.#controls };
  }
}
